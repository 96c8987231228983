import CSQLite

/// A connection to a database file, used by one thread at a time and closed with its last owner.
///
/// Its statements are owners, too.
package final class Database {
    /// What one is opened for.
    package enum Access: Sendable {
        /// Everything; the file has to be there.
        case change
        /// Reading. Whatever lies around the file is ignored, and nobody may change it meanwhile.
        case readImmutable
    }

    /// The file.
    package let path: String
    let library: UnsafePointer<csqlite>
    let handle: OpaquePointer
    /// Where SQLite writes how many pages the log has; freed with this object, when the connection is closed.
    private let logPages: UnsafeMutablePointer<Int32>

    /// Opens a file, distrusting what it says.
    ///
    /// Nothing is merged into it when it is closed, unless ``mergesAtEnd`` says so: a damaged file stays as it is.
    ///
    /// - Parameters:
    ///   - path: The file, without a symbolic link on the way.
    ///   - access: What for.
    /// - Throws: ``SQLiteError``, also when the library is missing.
    package init(path: String, access: Access) throws(SQLiteError) {
        var reason: UnsafePointer<CChar>?
        guard let library = csqlite_load(&reason) else {
            throw SQLiteError(
                extendedCode: SQLITE_MISUSE, operation: "load SQLite",
                message: Self.text(reason), path: path)
        }
        var name = path
        var flags = SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX
        switch access {
        case .change: flags |= SQLITE_OPEN_READWRITE
        case .readImmutable:
            name = "file:\(Self.escaped(path))?immutable=1"
            flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
        }
        var opened: OpaquePointer?
        let code = library.pointee.open_v2(name, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            let error = SQLiteError(
                extendedCode: opened.map { library.pointee.extended_errcode($0) } ?? code, operation: "open",
                message: Self.text(library.pointee.errstr(code)), path: path)
            if let opened { _ = library.pointee.close_v2(opened) }
            throw error
        }
        self.path = path
        self.library = library
        handle = opened
        logPages = .allocate(capacity: 1)
        logPages.initialize(to: 0)
        _ = library.pointee.extended_result_codes(handle, 1)
        csqlite_distrust(handle)
        csqlite_merge_at_end(handle, 0)
        csqlite_watch_log(handle, logPages)
        // What the store writes is shorter; what is longer comes from somebody else.
        _ = library.pointee.limit(handle, SQLITE_LIMIT_LENGTH, Int32(Self.longestValue))
    }

    deinit {
        close()
        logPages.deallocate()
    }

    /// How many pages the log had after the last commit; nobody else merges it when there are many.
    var logPageCount: Int { Int(logPages.pointee) }

    /// Whether it can be used.
    private(set) var isOpen = true

    /// Closes it, whoever still holds it: it can do nothing more.
    ///
    /// Its statements have to be gone, or else it stays locked until they are.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        _ = library.pointee.close_v2(handle)
    }

    /// Why the library cannot be loaded; `nil` when it is there, and loaded now.
    package static var libraryProblem: String? {
        var reason: UnsafePointer<CChar>?
        return csqlite_load(&reason) == nil ? text(reason) : nil
    }

    /// The longest value of a column, in bytes.
    package static let longestValue = 1 << 24

    /// Whether closing merges what was logged into the file and removes the log.
    package var mergesAtEnd = false {
        didSet { csqlite_merge_at_end(handle, mergesAtEnd ? 1 : 0) }
    }

    /// How long to wait for another process that has the file, in milliseconds.
    package func setBusyTimeout(milliseconds: Int32) {
        _ = library.pointee.busy_timeout(handle, milliseconds)
    }

    /// Runs a statement, and takes no notice of rows.
    package func execute(_ sql: String) throws(SQLiteError) {
        let statement = try Statement(sql, on: self)
        while try statement.step() {}
    }

    /// The first column of a statement's first row, when that is a whole number.
    package func integer(_ sql: String) throws(SQLiteError) -> Int64? {
        let statement = try Statement(sql, on: self)
        return try statement.step() ? statement.integer(0) : nil
    }

    /// The first column of a statement's first row, when that is a text.
    package func text(_ sql: String) throws(SQLiteError) -> String? {
        let statement = try Statement(sql, on: self)
        return try statement.step() ? statement.text(0) : nil
    }

    /// Does something as a whole or not at all.
    package func transaction<Result>(
        _ body: () throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result {
        try execute("BEGIN IMMEDIATE")
        do throws(SQLiteError) {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            // After some failures SQLite has gone back by itself.
            if isOpen, library.pointee.get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// Merges what was logged into the file, and brings both to the disk.
    ///
    /// - Parameter truncates: Whether the log is cut to nothing afterwards.
    /// - Throws: ``SQLiteError``.
    package func checkpoint(truncates: Bool = false) throws(SQLiteError) {
        try checkOpen()
        let mode = truncates ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
        try check(library.pointee.wal_checkpoint_v2(handle, nil, mode, nil, nil), "checkpoint")
        logPages.pointee = 0
    }

    /// How many rows the last statement changed.
    var changedCount: Int { Int(library.pointee.changes(handle)) }

    /// Refuses what is asked of a connection that was closed.
    func checkOpen() throws(SQLiteError) {
        guard isOpen else {
            throw SQLiteError(
                extendedCode: SQLITE_MISUSE, operation: "use the connection", message: "it is closed", path: path)
        }
    }

    func check(_ code: Int32, _ operation: @autoclosure () -> String) throws(SQLiteError) {
        guard code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE else {
            throw SQLiteError(
                extendedCode: code, operation: operation(), message: Self.text(library.pointee.errmsg(handle)),
                path: path)
        }
    }

    private static func text(_ message: UnsafePointer<CChar>?) -> String {
        message.map { String(cString: $0) } ?? "no reason is known"
    }

    /// The path as a part of a URI.
    private static func escaped(_ path: String) -> String {
        var result = ""
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default: result += (byte < 16 ? "%0" : "%") + String(byte, radix: 16)
            }
        }
        return result
    }
}

/// A statement of a connection, prepared once and run as often as one likes.
package final class Statement {
    /// What a parameter is given.
    package enum Value: Sendable {
        /// NULL.
        case null
        /// A whole number.
        case integer(Int64)
        /// A text.
        case text(String)

        /// A whole number, or NULL.
        package static func integer(optional value: Int64?) -> Value { value.map { .integer($0) } ?? .null }
        /// A text, or NULL.
        package static func text(optional value: String?) -> Value { value.map { .text($0) } ?? .null }
    }

    private let database: Database
    private let library: UnsafePointer<csqlite>
    private let handle: OpaquePointer
    private let sql: String

    /// Prepares a statement.
    ///
    /// - Parameters:
    ///   - sql: One statement.
    ///   - database: The connection, which lives at least as long.
    /// - Throws: ``SQLiteError``.
    package init(_ sql: String, on database: Database) throws(SQLiteError) {
        try database.checkOpen()
        var prepared: OpaquePointer?
        let code = database.library.pointee.prepare_v3(
            database.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        try database.check(code, sql)
        guard let prepared else {
            throw SQLiteError(
                extendedCode: SQLITE_MISUSE, operation: sql, message: "there is no statement", path: database.path)
        }
        self.database = database
        self.sql = sql
        library = database.library
        handle = prepared
    }

    deinit {
        _ = library.pointee.finalize(handle)
    }

    /// Gives the parameters their values, and begins anew.
    package func bind(_ values: Value...) throws(SQLiteError) {
        try bind(all: values)
    }

    private func bind(all values: [Value]) throws(SQLiteError) {
        reset()
        for (index, value) in values.enumerated() {
            let place = Int32(index + 1)
            let code =
                switch value {
                case .null: library.pointee.bind_null(handle, place)
                case .integer(let number): library.pointee.bind_int64(handle, place, number)
                case .text(var text):
                    text.withUTF8 { bytes in
                        // An empty text has no address, and a text without an address would be NULL.
                        guard let start = bytes.baseAddress else {
                            return library.pointee.bind_text(handle, place, "", 0, nil)
                        }
                        return start.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                            library.pointee.bind_text(handle, place, $0, Int32(bytes.count), csqlite_transient())
                        }
                    }
                }
            try database.check(code, sql)
        }
    }

    /// Goes to the next row.
    ///
    /// - Returns: Whether there is one.
    package func step() throws(SQLiteError) -> Bool {
        let code = library.pointee.step(handle)
        if code != SQLITE_ROW && code != SQLITE_DONE {
            defer { reset() }
            try database.check(code, sql)
        }
        return code == SQLITE_ROW
    }

    /// Runs a statement without rows.
    ///
    /// - Returns: How many rows it changed.
    @discardableResult
    package func run(_ values: Value...) throws(SQLiteError) -> Int {
        try bind(all: values)
        defer { reset() }
        while try step() {}
        return database.changedCount
    }

    /// Lets go of the rows: while a statement stands on one, the connection is reading.
    package func reset() {
        _ = library.pointee.reset(handle)
    }

    /// A column of the row, when it is a whole number.
    package func integer(_ column: Int32) -> Int64? {
        guard library.pointee.column_type(handle, column) == SQLITE_INTEGER else { return nil }
        return library.pointee.column_int64(handle, column)
    }

    /// A column of the row, when it is a text in UTF-8.
    package func text(_ column: Int32) -> String? {
        guard library.pointee.column_type(handle, column) == SQLITE_TEXT,
            let start = library.pointee.column_text(handle, column)
        else { return nil }
        // The text is SQLite's until the next step; here it is copied.
        let bytes = UnsafeBufferPointer(start: start, count: Int(library.pointee.column_bytes(handle, column)))
        return String(validating: bytes, as: UTF8.self)
    }
}

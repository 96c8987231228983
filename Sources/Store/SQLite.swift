import CSQLite

/// A connection to a database file, used by one thread at a time and closed with its last owner.
package final class Database {
    /// What a connection is opened for.
    package enum Access: Sendable {
        /// Everything; the file has to exist.
        case change
        /// Reading. The log beside the file is ignored, and nobody may change the file meanwhile.
        case readImmutable
    }

    /// A value for a parameter of a statement.
    package enum Value: Sendable {
        case null
        case integer(Int64)
        case text(String)

        /// A whole number, or NULL.
        static func integer(optional value: Int64?) -> Value { value.map { .integer($0) } ?? .null }
        /// A text, or NULL.
        static func text(optional value: String?) -> Value { value.map { .text($0) } ?? .null }
    }

    /// The row at which a statement stands.
    package struct Row {
        fileprivate let library: UnsafePointer<csqlite>
        fileprivate let handle: OpaquePointer

        /// A column, when it is a whole number.
        package func integer(_ column: Int32) -> Int64? {
            guard library.pointee.column_type(handle, column) == SQLITE_INTEGER else { return nil }
            return library.pointee.column_int64(handle, column)
        }

        /// A column, when it is a text in UTF-8.
        package func text(_ column: Int32) -> String? {
            guard library.pointee.column_type(handle, column) == SQLITE_TEXT,
                let start = library.pointee.column_text(handle, column)
            else { return nil }
            // SQLite owns the bytes until the next step, so they are copied.
            let bytes = UnsafeBufferPointer(start: start, count: Int(library.pointee.column_bytes(handle, column)))
            return String(validating: bytes, as: UTF8.self)
        }
    }

    /// The longest value of a column, in bytes: longer ones were not written by a store.
    package static let longestValue = 1 << 24

    /// The file.
    package let path: String
    private let library: UnsafePointer<csqlite>
    private let handle: OpaquePointer
    /// Prepared statements by their text; they are finalized with the connection.
    private var prepared: [String: OpaquePointer] = [:]
    /// Where SQLite writes how many pages the log has; freed with this object, when the connection is closed.
    private let logPages: UnsafeMutablePointer<Int32>
    private var isOpen = true

    /// Opens a file, distrusting what it says.
    ///
    /// Closing merges nothing into it, unless ``mergesAtEnd`` says so: a damaged file stays as it is.
    ///
    /// - Parameters:
    ///   - path: The file, without a symbolic link on the way.
    ///   - access: What for.
    /// - Throws: ``SQLiteError``, also when the library is missing.
    package init(path: String, access: Access) throws(SQLiteError) {
        var reason: UnsafePointer<CChar>?
        guard let library = csqlite_load(&reason) else {
            throw SQLiteError(
                extendedCode: SQLITE_MISUSE, operation: "load SQLite", message: Self.text(reason), path: path)
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
        _ = library.pointee.limit(handle, SQLITE_LIMIT_LENGTH, Int32(Self.longestValue))
    }

    deinit {
        close()
        logPages.deallocate()
    }

    /// Closes the connection, whoever still holds it: every later use fails.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        // A statement that is not finalized would keep the file locked.
        for statement in prepared.values { _ = library.pointee.finalize(statement) }
        prepared = [:]
        _ = library.pointee.close_v2(handle)
    }

    /// Why the library cannot be loaded; `nil` when it is there, and loaded now.
    package static var libraryProblem: String? {
        var reason: UnsafePointer<CChar>?
        return csqlite_load(&reason) == nil ? text(reason) : nil
    }

    /// Whether closing merges the log into the file and removes it.
    package var mergesAtEnd = false {
        didSet { csqlite_merge_at_end(handle, mergesAtEnd ? 1 : 0) }
    }

    /// The number of pages in the log after the last commit.
    var logPageCount: Int { Int(logPages.pointee) }

    /// How long to wait for another process that has the file, in milliseconds.
    package func setBusyTimeout(milliseconds: Int32) {
        _ = library.pointee.busy_timeout(handle, milliseconds)
    }

    // MARK: - Statements

    /// Runs a statement once, and ignores its rows.
    package func execute(_ sql: String) throws(SQLiteError) {
        let statement = try prepare(sql, flags: 0)
        defer { _ = library.pointee.finalize(statement) }
        while try step(statement, sql) {}
    }

    /// Runs a statement without rows; it stays prepared for the next time.
    ///
    /// - Returns: How many rows it changed.
    @discardableResult
    package func run(_ sql: String, _ values: Value...) throws(SQLiteError) -> Int {
        try each(sql, values) { _ in true }
        return Int(library.pointee.changes(handle))
    }

    /// Makes something of each row; the statement stays prepared for the next time.
    ///
    /// - Parameters:
    ///   - sql: The statement.
    ///   - values: Its parameters.
    ///   - element: Makes it; `nil` leaves a row out.
    /// - Returns: What was made.
    /// - Throws: ``SQLiteError``.
    package func rows<Element>(
        _ sql: String, _ values: Value..., element: (Row) throws(SQLiteError) -> Element?
    ) throws(SQLiteError) -> [Element] {
        var found: [Element] = []
        try each(sql, values) { row throws(SQLiteError) in
            if let element = try element(row) { found.append(element) }
            return true
        }
        return found
    }

    /// The first column of the first row, when that is a whole number.
    package func integer(_ sql: String, _ values: Value...) throws(SQLiteError) -> Int64? {
        try first(sql, values) { $0.integer(0) }
    }

    /// The first column of the first row, when that is a text.
    package func text(_ sql: String) throws(SQLiteError) -> String? { try first(sql, []) { $0.text(0) } }

    private func first<Element>(
        _ sql: String, _ values: [Value], _ column: (Row) -> Element?
    ) throws(SQLiteError) -> Element? {
        var found: Element?
        try each(sql, values) { row in
            found = column(row)
            return false
        }
        return found
    }

    /// Goes over the rows of a statement, as long as `body` returns `true`.
    func each(
        _ sql: String, _ values: [Value], _ body: (Row) throws(SQLiteError) -> Bool
    ) throws(SQLiteError) {
        let statement: OpaquePointer
        if let known = prepared[sql] {
            statement = known
        } else {
            statement = try prepare(sql, flags: UInt32(SQLITE_PREPARE_PERSISTENT))
            prepared[sql] = statement
        }
        // While a statement stands at a row, the connection is reading.
        defer { _ = library.pointee.reset(statement) }
        for (index, value) in values.enumerated() {
            try check(bind(value, to: Int32(index + 1), of: statement), sql)
        }
        let row = Row(library: library, handle: statement)
        while try step(statement, sql) {
            guard try body(row) else { return }
        }
    }

    private func prepare(_ sql: String, flags: UInt32) throws(SQLiteError) -> OpaquePointer {
        guard isOpen else {
            throw SQLiteError(
                extendedCode: SQLITE_MISUSE, operation: "use the connection", message: "it is closed", path: path)
        }
        var statement: OpaquePointer?
        try check(library.pointee.prepare_v3(handle, sql, -1, flags, &statement, nil), sql)
        guard let statement else {
            throw SQLiteError(
                extendedCode: SQLITE_MISUSE, operation: sql, message: "there is no statement", path: path)
        }
        return statement
    }

    private func bind(_ value: Value, to place: Int32, of statement: OpaquePointer) -> Int32 {
        switch value {
        case .null: library.pointee.bind_null(statement, place)
        case .integer(let number): library.pointee.bind_int64(statement, place, number)
        case .text(var text):
            text.withUTF8 { bytes in
                // An empty text has no address, and SQLite takes a text without an address for NULL.
                guard let start = bytes.baseAddress else {
                    return library.pointee.bind_text(statement, place, "", 0, nil)
                }
                return start.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                    library.pointee.bind_text(statement, place, $0, Int32(bytes.count), csqlite_transient())
                }
            }
        }
    }

    private func step(_ statement: OpaquePointer, _ sql: String) throws(SQLiteError) -> Bool {
        let code = library.pointee.step(statement)
        if code != SQLITE_ROW { try check(code, sql) }
        return code == SQLITE_ROW
    }

    private func check(_ code: Int32, _ operation: @autoclosure () -> String) throws(SQLiteError) {
        guard code == SQLITE_OK || code == SQLITE_DONE else {
            throw SQLiteError(
                extendedCode: code, operation: operation(), message: Self.text(library.pointee.errmsg(handle)),
                path: path)
        }
    }

    // MARK: - Transactions

    /// Does something as a whole or not at all.
    package func transaction<Result>(
        _ body: () throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result {
        try run("BEGIN IMMEDIATE")
        do throws(SQLiteError) {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            // After some failures SQLite has rolled back by itself.
            if isOpen, library.pointee.get_autocommit(handle) == 0 { _ = try? run("ROLLBACK") }
            throw error
        }
    }

    /// Merges the log into the file, and brings both to the disk.
    ///
    /// - Parameter truncates: Whether the log is cut to nothing afterwards.
    /// - Throws: ``SQLiteError``.
    package func checkpoint(truncates: Bool = false) throws(SQLiteError) {
        guard isOpen else { return }
        let mode = truncates ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
        try check(library.pointee.wal_checkpoint_v2(handle, nil, mode, nil, nil), "checkpoint")
        logPages.pointee = 0
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

/// What SQLite refused: the operation, the file, and why.
package struct SQLiteError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The extended result code.
    package let extendedCode: Int32
    /// What was to be done.
    package let operation: String
    /// What SQLite says about it.
    package let message: String
    /// The database file.
    package let path: String

    /// The code of a file that cannot be opened.
    static let cannotOpen = SQLITE_CANTOPEN

    /// A file with a number that no store has written.
    static func strangeNumber(_ number: String, _ operation: String, path: String) -> SQLiteError {
        SQLiteError(
            extendedCode: SQLITE_CORRUPT, operation: operation, message: "\(number) is no number of this store",
            path: path)
    }

    /// `path: operation: message`.
    package var description: String { "\(path): \(operation): \(reason)" }

    /// What SQLite says, with its number where that says more.
    package var reason: String { extendedCode > 0xFF ? "\(message) (\(extendedCode))" : message }

    private var code: Int32 { extendedCode & 0xFF }

    /// Whether the file holds what SQLite never wrote.
    package var isDamage: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_FORMAT }
    /// Whether another process has the file.
    package var isInUse: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }
    /// Whether the file or its folder may not be written to.
    package var isReadOnly: Bool { code == SQLITE_READONLY || code == SQLITE_CANTOPEN || code == SQLITE_PERM }
    /// Whether the disk, or what the account may use of it, is full.
    package var isFull: Bool { code == SQLITE_FULL }
}

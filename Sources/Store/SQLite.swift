import CSQLite
import PlainText

/// A connection to a database file, for one thread at a time.
package final class Database {
    /// The use of the file, which has to exist.
    package enum Access: Sendable {
        case change
        /// Reading without the log beside the file, which no process may change meanwhile.
        case readImmutable
    }

    package enum Value {
        case null
        case integer(Int64)
        case text(String)

        static func integer(optional value: Int64?) -> Value { value.map { .integer($0) } ?? .null }
        static func text(optional value: String?) -> Value { value.map { .text($0) } ?? .null }
    }

    /// The current row of a statement; a column of another type is `nil`.
    struct Row {
        fileprivate let library: UnsafePointer<csqlite>
        fileprivate let handle: OpaquePointer

        func integer(_ column: Int32) -> Int64? {
            guard library.pointee.column_type(handle, column) == SQLITE_INTEGER else { return nil }
            return library.pointee.column_int64(handle, column)
        }

        func text(_ column: Int32) -> String? {
            guard library.pointee.column_type(handle, column) == SQLITE_TEXT,
                let start = library.pointee.column_text(handle, column)
            else { return nil }
            // SQLite owns the bytes until the next step, so they are copied.
            let bytes = UnsafeBufferPointer(start: start, count: Int(library.pointee.column_bytes(handle, column)))
            return String(validating: bytes, as: UTF8.self)
        }
    }

    /// Maximum length of a value in bytes, also for writing.
    static let longestValue = 1 << 24

    let path: String
    private let library: UnsafePointer<csqlite>
    private let handle: OpaquePointer
    /// Prepared statements by their text, finalized with the connection.
    private var prepared: [String: OpaquePointer] = [:]
    private var isOpen = true

    /// Opens a file with untrusted contents; throws if a part of the path is a symbolic link, and without the library.
    package init(path: String, access: Access) throws(StoreFailure) {
        var reason: UnsafePointer<CChar>?
        guard let library = csqlite_load(&reason) else {
            throw StoreFailure(SQLiteError(SQLITE_MISUSE, "load SQLite", Self.text(reason), path: path))
        }
        var name = path
        var flags = SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        switch access {
        case .change: flags |= SQLITE_OPEN_READWRITE
        case .readImmutable:
            name = "file:\(Self.escaped(path))?immutable=1"
            flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
        }
        var opened: OpaquePointer?
        let code = library.pointee.open_v2(name, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            if let opened { _ = library.pointee.close_v2(opened) }
            throw StoreFailure(SQLiteError(code, "open", Self.text(library.pointee.errstr(code)), path: path))
        }
        self.path = path
        self.library = library
        handle = opened
        for (option, isOn) in [
            (SQLITE_DBCONFIG_DEFENSIVE, true), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (SQLITE_DBCONFIG_ENABLE_TRIGGER, false), (SQLITE_DBCONFIG_ENABLE_VIEW, false),
            // A damaged file stays unchanged.
            (SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true),
        ] { csqlite_configure(handle, option, isOn ? 1 : 0) }
        _ = library.pointee.limit(handle, SQLITE_LIMIT_LENGTH, Int32(Self.longestValue))
    }

    deinit { close() }

    /// Closes the connection; later uses fail.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        // A statement that is not finalized would keep the file locked.
        for statement in prepared.values { _ = library.pointee.finalize(statement) }
        prepared = [:]
        _ = library.pointee.close_v2(handle)
    }

    /// Makes ``close()`` merge the log into the file and remove it.
    func mergeLogOnClose() { csqlite_configure(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0) }

    /// Why SQLite cannot be loaded, and the remedy; `nil` if it can.
    ///
    /// The first use in the process loads the library and blocks meanwhile. After a failure the next use tries again.
    package static var libraryProblem: String? {
        var reason: UnsafePointer<CChar>?
        guard csqlite_load(&reason) == nil else { return nil }
        return "the event store needs SQLite: \(MissingLibrary.reason(text(reason), debian: "libsqlite3-0"))"
    }

    // MARK: - Statements

    /// Runs a statement once and ignores its rows.
    package func execute(_ sql: String) throws(StoreFailure) {
        let statement = try prepare(sql, flags: 0)
        defer { _ = library.pointee.finalize(statement) }
        while try step(statement, sql) {}
    }

    /// Runs a statement without rows, which stays prepared; returns the number of changed rows.
    @discardableResult
    func run(_ sql: String, _ values: Value...) throws(StoreFailure) -> Int {
        try run(sql, values)
    }

    func run(_ sql: String, _ values: [Value]) throws(StoreFailure) -> Int {
        try each(sql, values) { _ in true }
        return Int(library.pointee.changes(handle))
    }

    /// Maps each row, and omits those that `element` maps to `nil`; the statement stays prepared.
    func rows<Element>(
        _ sql: String, _ values: Value..., element: (Row) throws(StoreFailure) -> Element?
    ) throws(StoreFailure) -> [Element] {
        var found: [Element] = []
        try each(sql, values) { row throws(StoreFailure) in
            if let element = try element(row) { found.append(element) }
            return true
        }
        return found
    }

    /// The first column of the first row; `nil` if it is not an integer.
    package func integer(_ sql: String, _ values: Value...) throws(StoreFailure) -> Int64? {
        try first(sql, values) { $0.integer(0) }
    }

    func text(_ sql: String, _ values: Value...) throws(StoreFailure) -> String? {
        try first(sql, values) { $0.text(0) }
    }

    private func first<Element>(
        _ sql: String, _ values: [Value], _ column: (Row) -> Element?
    ) throws(StoreFailure) -> Element? {
        var found: Element?
        try each(sql, values) { row in
            found = column(row)
            return false
        }
        return found
    }

    /// Calls `body` with the rows of a statement until it returns `false`; the statement stays prepared.
    func each(
        _ sql: String, _ values: [Value], _ body: (Row) throws(StoreFailure) -> Bool
    ) throws(StoreFailure) {
        let statement: OpaquePointer
        if let known = prepared[sql] {
            statement = known
        } else {
            statement = try prepare(sql, flags: UInt32(SQLITE_PREPARE_PERSISTENT))
            prepared[sql] = statement
        }
        // A statement positioned at a row is an open read transaction.
        defer { _ = library.pointee.reset(statement) }
        for (index, value) in values.enumerated() {
            try check(bind(value, to: Int32(index + 1), of: statement), sql)
        }
        let row = Row(library: library, handle: statement)
        while try step(statement, sql) {
            guard try body(row) else { return }
        }
    }

    private func prepare(_ sql: String, flags: UInt32) throws(StoreFailure) -> OpaquePointer {
        guard isOpen else {
            throw StoreFailure(SQLiteError(SQLITE_MISUSE, "use the connection", "it is closed", path: path))
        }
        var statement: OpaquePointer?
        try check(library.pointee.prepare_v3(handle, sql, -1, flags, &statement, nil), sql)
        guard let statement else {
            throw StoreFailure(SQLiteError(SQLITE_MISUSE, "prepare", "there is no statement", path: path))
        }
        return statement
    }

    private func bind(_ value: Value, to place: Int32, of statement: OpaquePointer) -> Int32 {
        switch value {
        case .null: library.pointee.bind_null(statement, place)
        case .integer(let number): library.pointee.bind_int64(statement, place, number)
        case .text(var text):
            text.withUTF8 { bytes in
                // An empty text has no address, which SQLite interprets as NULL.
                guard let start = bytes.baseAddress else {
                    return library.pointee.bind_text(statement, place, "", 0, nil)
                }
                return start.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                    library.pointee.bind_text(statement, place, $0, Int32(bytes.count), csqlite_transient())
                }
            }
        }
    }

    private func step(_ statement: OpaquePointer, _ sql: String) throws(StoreFailure) -> Bool {
        let code = library.pointee.step(statement)
        if code != SQLITE_ROW { try check(code, sql) }
        return code == SQLITE_ROW
    }

    private func check(_ code: Int32, _ sql: String) throws(StoreFailure) {
        guard code == SQLITE_OK || code == SQLITE_DONE else {
            throw StoreFailure(
                SQLiteError(
                    code, sql.hasPrefix("SELECT") ? "read" : "write", Self.text(library.pointee.errmsg(handle)),
                    path: path))
        }
    }

    /// Runs a transaction: all of it is committed, or nothing.
    func transaction<Result>(
        _ body: () throws(StoreFailure) -> Result
    ) throws(StoreFailure) -> Result {
        try run("BEGIN IMMEDIATE")
        do throws(StoreFailure) {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            // After some failures SQLite has rolled back by itself.
            if isOpen, library.pointee.get_autocommit(handle) == 0 { _ = try? run("ROLLBACK") }
            throw error
        }
    }

    private static func text(_ message: UnsafePointer<CChar>?) -> String {
        message.map { String(cString: $0) } ?? "no reason is known"
    }

    private static func escaped(_ path: String) -> String {
        path.utf8.map { byte in
            switch UnicodeScalar(byte) {
            case "a"..."z", "A"..."Z", "0"..."9", "/", ".", "-", "_": String(UnicodeScalar(byte))
            default: (byte < 16 ? "%0" : "%") + String(byte, radix: 16)
            }
        }.joined()
    }
}

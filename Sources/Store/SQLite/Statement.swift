import CSQLite

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

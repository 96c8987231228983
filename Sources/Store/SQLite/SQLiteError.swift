import CSQLite

/// Something that SQLite would not do: what, on which file, and why.
package struct SQLiteError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The extended result code.
    package let extendedCode: Int32
    /// What was to be done.
    package let operation: String
    /// What SQLite says about it.
    package let message: String
    /// The database file.
    package let path: String

    /// The primary result code.
    package var code: Int32 { extendedCode & 0xFF }

    /// The code of a file that cannot be opened.
    package static let cannotOpen = SQLITE_CANTOPEN
    /// The code of a file that holds what SQLite never wrote.
    package static let damage = SQLITE_CORRUPT

    /// What is damaged when a number in a file is none that a store has written.
    static func strangeNumber(_ number: String, _ operation: String, path: String) -> SQLiteError {
        SQLiteError(
            extendedCode: damage, operation: operation, message: "\(number) is no number of this store", path: path)
    }

    /// `path: operation: message`.
    package var description: String { "\(path): \(operation): \(reason)" }

    /// What SQLite says, with its number where that says more.
    package var reason: String { extendedCode > 0xFF ? "\(message) (\(extendedCode))" : message }

    /// Whether the file holds what SQLite never wrote.
    package var isDamage: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_FORMAT }
    /// Whether another process has the file.
    package var isInUse: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }
    /// Whether the file or its folder may not be written to.
    package var isReadOnly: Bool { code == SQLITE_READONLY || code == SQLITE_CANTOPEN || code == SQLITE_PERM }
    /// Whether there was no room on the disk, or in what the account may use of it.
    package var isFull: Bool { code == SQLITE_FULL }
}

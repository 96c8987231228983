import CSQLite
import Glibc
package import LinuxSystem

/// Why a file cannot be used as a store.
package enum StoreFailure: Error {
    /// The file is a store but unreadable: it is set aside.
    case damaged(String)
    /// The file is not a store, or of a newer version: it is not touched.
    case foreign(path: String, reason: String, remedy: String)
    /// Another daemon has the file, and the lock on a file.
    case held(path: String, lock: String)
    case system(SystemError)
    case sqlite(SQLiteError)

    init(_ error: SQLiteError) {
        self = error.isDamage ? .damaged(error.reason) : .sqlite(error)
    }

    static func newer(_ version: Int64, path: String) -> StoreFailure {
        .foreign(
            path: path,
            reason: "version \(version) of the event store is newer than this program, which knows "
                + "\(StoreSchema.version)",
            remedy: "it is left alone; install the newer program again, or set another path")
    }

    static func missing(_ path: String) -> StoreFailure {
        .system(SystemError(code: ENOENT, call: "open", path: path))
    }

    /// A number in a file that no store has written.
    static func strangeNumber(_ number: Int64, _ operation: String, path: String) -> StoreFailure {
        StoreFailure(SQLiteError(SQLITE_CORRUPT, operation, "\(number) is no number of this store", path: path))
    }

    /// The failure and the remedy, for messages.
    func text(path: String) -> String {
        switch self {
        case .damaged(let reason): "\(path): the event store is damaged: \(reason)"
        case .foreign(let path, let reason, let remedy): "\(path): \(reason); \(remedy)"
        case .held(let path, let lock):
            "\(path): another daemon has this event store, by its lock on \(lock); give each daemon a path of its own, or end one"
        case .system(let error): "\(error); \(Self.remedy(error))"
        case .sqlite(let error): "\(error); \(error.remedy)"
        }
    }

    /// Whether only the user can remove the cause, so that an early retry is useless.
    var isForeign: Bool { if case .foreign = self { true } else { false } }
    var isHeld: Bool { if case .held = self { true } else { false } }
    var isFull: Bool { if case .sqlite(let error) = self { error.isFull } else { false } }
    /// Whether a row has a value larger than any that is written.
    var isTooLarge: Bool { if case .sqlite(let error) = self { error.isTooLarge } else { false } }

    private static func remedy(_ error: SystemError) -> String {
        if error.isPermission { return "let the account of this process write there, or set another path" }
        if error.isMissing { return "make the folder, or set another path" }
        return "set another path, or remove the cause that the system reports"
    }
}

/// An operation that SQLite refused, and the reason.
package struct SQLiteError: Error, CustomStringConvertible {
    private let extendedCode: Int32
    private let operation: String
    private let message: String
    private let path: String

    init(_ extendedCode: Int32, _ operation: String, _ message: String, path: String) {
        self.extendedCode = extendedCode
        self.operation = operation
        self.message = message
        self.path = path
    }

    package var description: String { "\(path): \(operation): \(reason)" }

    /// SQLite's message, with the extended code if there is one.
    var reason: String { extendedCode > 0xFF ? "\(message) (\(extendedCode))" : message }

    private var code: Int32 { extendedCode & 0xFF }
    /// Whether the file contains data that SQLite never writes.
    var isDamage: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_FORMAT }
    var isInUse: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }
    var isFull: Bool { code == SQLITE_FULL }
    var isTooLarge: Bool { code == SQLITE_TOOBIG }
    private var isReadOnly: Bool { code == SQLITE_READONLY || code == SQLITE_CANTOPEN || code == SQLITE_PERM }

    /// The remedy, for messages.
    var remedy: String {
        if isFull { return "make room on the disk; events go on and are not kept meanwhile" }
        if isInUse { return "another process has the file: give each daemon a path of its own" }
        if isTooLarge { return "no version writes such a value: move the file away, and a new one is begun" }
        if isReadOnly { return "let the account of this process write to the file and its folder" }
        return "see to the disk and the rights of the folder"
    }
}

import LinuxSystem

/// Why a file cannot be used as a store.
enum StoreFailure: Error {
    /// It holds what cannot be read, and is ours: it is set aside.
    case damaged(String)
    /// It is not ours, or of a newer version: it is left alone.
    case foreign(path: String, reason: String, remedy: String)
    /// The system refuses it.
    case system(SystemError)
    /// SQLite refuses it.
    case sqlite(SQLiteError)

    init(_ error: SQLiteError) {
        self = error.isDamage ? .damaged(error.reason) : .sqlite(error)
    }

    /// What is wrong and what can be done about it, for people.
    func text(path: String) -> String {
        switch self {
        case .damaged(let reason): "\(path): the event store is damaged: \(reason)"
        case .foreign(let path, let reason, let remedy): "\(path): \(reason); \(remedy)"
        case .system(let error): "\(error); \(Self.remedy(error))"
        case .sqlite(let error): "\(error); \(Self.remedy(error))"
        }
    }

    /// Whether trying again soon is of no use: somebody has to do something about it.
    var isForeign: Bool {
        guard case .foreign = self else { return false }
        return true
    }

    /// Whether there was no room on the disk.
    var isFull: Bool {
        guard case .sqlite(let error) = self else { return false }
        return error.isFull
    }

    private static func remedy(_ error: SystemError) -> String {
        if error.isPermission { return "let the account of this process write there, or set another path" }
        if error.isMissing { return "make the folder, or set another path" }
        return "set another path, or see to what the system says"
    }

    private static func remedy(_ error: SQLiteError) -> String {
        if error.isFull { return "make room on the disk; events go on and are not kept meanwhile" }
        if error.isInUse { return "another process has the file: give each daemon a path of its own" }
        if error.isReadOnly { return "let the account of this process write to the file and its folder" }
        return "see to the disk and the rights of the folder"
    }
}

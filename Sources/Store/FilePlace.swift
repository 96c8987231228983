import Binnacle
import Glibc
import LinuxSystem
import PlainText

/// The place of a store's file: what lies there is examined and renamed without SQLite, which might change a file that
/// is not a store.
struct FilePlace {
    /// What the system says of a file.
    struct Status {
        let device: UInt64
        let inode: UInt64
        let isRegular: Bool
        let isLink: Bool
        let size: Int64

        func isSameFile(as other: Status?) -> Bool { device == other?.device && inode == other?.inode }
    }

    /// The path, its folder without symbolic links.
    let path: String

    /// Finds the folder.
    ///
    /// Links to the folder are the administrator's choice (`/var/lib` may be on another disk, and systemd makes links
    /// of its own); a link in place of the file is refused.
    ///
    /// - Throws: ``SystemError`` when there is no such folder.
    init(_ path: String) throws(SystemError) {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let name = slash.map { String(path[path.utf8.index(after: $0)...]) } ?? path
        let resolved = try systemPointer("find the folder", path: path) { realpath(folder, nil) }
        defer { free(resolved) }
        let real = String(cString: resolved)
        self.path = (real == "/" ? "" : real) + "/" + name
    }

    /// The log that SQLite keeps beside the file.
    var log: String { path + "-wal" }

    /// What lies there; `nil` when nothing does.
    var status: Status? { get throws(SystemError) { try Self.status(path) } }

    /// What lies at a path; `nil` when nothing does.
    static func status(_ path: String) throws(SystemError) -> Status? {
        var found = stat()
        do throws(SystemError) {
            try systemCall("stat", path: path) { lstat(path, &found) }
        } catch {
            guard error.code == ENOENT else { throw error }
            return nil
        }
        return Status(
            device: UInt64(found.st_dev), inode: UInt64(found.st_ino),
            isRegular: found.st_mode & S_IFMT == S_IFREG, isLink: found.st_mode & S_IFMT == S_IFLNK,
            size: Int64(found.st_size))
    }

    /// Makes an empty file, for its owner to change and for its group to read; SQLite gives the log the same rights.
    func create() throws(SystemError) {
        _ = Descriptor(
            owning: try systemCall("create", path: path) {
                open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o640)
            })
    }

    /// Finds out whether this process may write to the file.
    func checkWriting() throws(SystemError) {
        try systemCall("open", path: path) { faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) }
    }

    // MARK: - Whose file it is

    /// How much of a file is examined: a page.
    private static let headerLength = 4096

    /// Examines what lies there.
    ///
    /// Must not be called while a connection to the file is open: closing any descriptor of a file gives up all locks
    /// that this process has on it.
    ///
    /// - Returns: Whether there is a file, which then is empty or looks like a store.
    /// - Throws: ``StoreFailure``.
    func examine() throws(StoreFailure) -> Bool {
        let (status, log) = try mapError(StoreFailure.system) { () throws(SystemError) in
            (try self.status, try Self.status(self.log))
        }
        if status?.size ?? 0 == 0, let log, log.isRegular, log.size > 0 {
            // SQLite would delete the log of an empty file.
            throw .damaged(
                status == nil ? "the file is gone and its log is not" : "the file is empty and its log is not")
        }
        guard let status else { return false }
        guard status.isRegular else {
            throw .foreign(
                path: path, reason: status.isLink ? "this is a symbolic link" : "this is no regular file",
                remedy: "it is left alone; set another path, or remove it")
        }
        if status.size > 0 {
            let header = try mapError(StoreFailure.system) { () throws(SystemError) in try self.header() }
            try examine(header, size: status.size)
        }
        return true
    }

    private func header() throws(SystemError) -> [UInt8] {
        let file = try Descriptor(path: path, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        var bytes = [UInt8](repeating: 0, count: Self.headerLength)
        let count = try systemCall("read", path: path) { pread(file.raw, &bytes, bytes.count, 0) }
        return Array(bytes.prefix(count))
    }

    /// Decides by the first bytes of a file whether it is a store's, a damaged store's, or somebody else's.
    private func examine(_ bytes: [UInt8], size: Int64) throws(StoreFailure) {
        func number(at offset: Int) -> Int64? {
            guard bytes.count >= offset + 4 else { return nil }
            return bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int64($1) }
        }
        let isDatabase = bytes.starts(with: Array("SQLite format 3\0".utf8))
        let isMarked = number(at: 68) == StoreSchema.applicationID
        if isDatabase && isMarked {
            guard let version = number(at: 60), version > StoreSchema.version else { return }
            throw .newer(version, path: path)
        }
        // A kill while a store is made may leave a database without tables; its contents are checked when it is opened.
        if isDatabase && size == Int64(Self.headerLength) && number(at: 68) == 0 { return }
        let mark = Array(StoreSchema.mark.utf8)
        let hasSchema = bytes.indices.dropLast(mark.count - 1).contains { bytes[$0...].starts(with: mark) }
        if isMarked || hasSchema { throw .damaged("its header is overwritten") }
        // What is left of a file that was cut off, or whose first page the disk has lost.
        if isDatabase && bytes.count < 100 { throw .damaged("its header is cut off") }
        let length = Int64(Self.headerLength)
        if size >= 2 * length, size % length == 0, let first = bytes.first, first == 0 || first == 0xFF,
            bytes.allSatisfy({ $0 == first })
        {
            throw .damaged("its first page is empty")
        }
        throw .foreign(
            path: path, reason: "this is no event store",
            remedy: "it is left alone; set another path, or move it away")
    }

    // MARK: - Setting a damaged file aside

    /// What lies beside a database, and its suffix when the database is set aside.
    ///
    /// The log keeps its place, because it is read with the file. A journal does not: it would be played back into the
    /// file, which is to stay as it is.
    private static let companions = [("-wal", "-wal"), ("-shm", ".shm"), ("-journal", ".journal")]

    /// Renames a damaged file and what belongs to it; nothing is deleted.
    ///
    /// - Parameter wallNanoseconds: The wall clock's time, which becomes a part of the name.
    /// - Returns: The new path.
    /// - Throws: ``SystemError`` when nothing was renamed.
    func setAside(at wallNanoseconds: Int64) throws(SystemError) -> String {
        func rename(_ old: String, _ new: String) throws(SystemError) {
            guard try Self.status(old) != nil else { return }
            try systemCall("rename", path: old) { Glibc.rename(old, new) }
        }
        let stamp = WallTime.text(wallNanoseconds).prefix { $0 != "." }.filter { $0 != "-" && $0 != ":" }
        var name = "\(path).damaged-\(stamp)Z"
        var number = 2
        while try isTaken(name) {
            name = "\(path).damaged-\(stamp)Z-\(number)"
            number += 1
        }
        // The log goes first: a file without its log is what it was at the last checkpoint, and with another file's
        // log it is unreadable.
        for (suffix, newSuffix) in Self.companions.reversed() { try rename(path + suffix, name + newSuffix) }
        try rename(path, name)
        return name
    }

    private func isTaken(_ name: String) throws(SystemError) -> Bool {
        for suffix in [""] + Self.companions.map(\.1) where try Self.status(name + suffix) != nil { return true }
        return false
    }

    /// The shell command that copies what can be read of a damaged file into `PATH.recovered`.
    ///
    /// `.dump` reads a table from its beginning up to the damage, and then from its end. `.recover` would read more, but
    /// needs an option of the library that Debian's does not have (SQLITE_ENABLE_DBPAGE_VTAB). A dump with errors ends
    /// with ROLLBACK, and has no application id.
    static func recoveryCommand(for path: String) -> String {
        func quoted(_ word: String) -> String {
            "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
        }
        return "sqlite3 -readonly \(quoted(path)) .dump | sed 's/^ROLLBACK;.*/COMMIT;/' | "
            + "sqlite3 -cmd 'PRAGMA application_id = \(StoreSchema.applicationID)' \(quoted(path + ".recovered"))"
    }
}

/// Why a file cannot be used as a store.
enum StoreFailure: Error {
    /// It is a store and cannot be read: it is set aside.
    case damaged(String)
    /// It is no store, or of a newer version: it is left alone.
    case foreign(path: String, reason: String, remedy: String)
    /// The system refuses it.
    case system(SystemError)
    /// SQLite refuses it.
    case sqlite(SQLiteError)

    /// A failure of SQLite.
    init(_ error: SQLiteError) {
        self = error.isDamage ? .damaged(error.reason) : .sqlite(error)
    }

    /// A store of a newer version.
    static func newer(_ version: Int64, path: String) -> StoreFailure {
        .foreign(
            path: path,
            reason: "version \(version) of the event store is newer than this program, which knows "
                + "\(StoreSchema.version)",
            remedy: "it is left alone; install the newer program again, or set another path")
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

    /// Whether only a person can mend it, so that trying again soon is of no use.
    var isForeign: Bool {
        guard case .foreign = self else { return false }
        return true
    }

    /// Whether the disk is full.
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

import Binnacle
import Glibc
import LinuxSystem
import PlainText

/// The path of a store's file: what lies there is examined and renamed without SQLite, which might change a file that is
/// not a store.
struct FilePlace {
    /// The path; its folder has no symbolic links.
    let path: String

    /// Resolves the folder.
    ///
    /// Links to the folder are the administrator's choice (`/var/lib` may be on another disk, and systemd makes links
    /// of its own); a link in place of the file is refused.
    init(_ path: String) throws(StoreFailure) {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let name = slash.map { String(path[path.utf8.index(after: $0)...]) } ?? path
        let resolved = try mapError(StoreFailure.system) { () throws(SystemError) in
            try systemPointer("find the folder", path: path) { realpath(folder, nil) }
        }
        defer { free(resolved) }
        let real = String(cString: resolved)
        self.path = (real == "/" ? "" : real) + "/" + name
    }

    /// The log that SQLite keeps beside the file.
    var log: String { path + "-wal" }

    /// The status of a path, whose last component may be a link; `nil` when there is no such file.
    static func status(_ path: String) throws(StoreFailure) -> stat? {
        var found = stat()
        do throws(SystemError) {
            try systemCall("stat", path: path) { lstat(path, &found) }
        } catch {
            guard error.code == ENOENT else { throw .system(error) }
            return nil
        }
        return found
    }

    /// The size of a file in bytes; 0 when there is none.
    static func size(_ path: String) throws(StoreFailure) -> Int64 { Int64(try status(path)?.st_size ?? 0) }

    /// Runs a system call.
    @discardableResult
    private static func call<Result: FixedWidthInteger>(
        _ name: StaticString, _ path: String, _ body: () -> Result
    ) throws(StoreFailure) -> Result {
        try mapError(StoreFailure.system) { () throws(SystemError) in try systemCall(name, path: path, body) }
    }

    /// Makes an empty file, for its owner to change and for its group to read; SQLite gives the log the same rights.
    func create() throws(StoreFailure) {
        _ = Descriptor(
            owning: try Self.call("create", path) {
                open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o640)
            })
    }

    /// Removes a file, when there is one.
    static func remove(_ path: String) throws(StoreFailure) {
        if try status(path) != nil { try call("remove", path) { unlink(path) } }
    }

    /// Fails when this process may not write to a file.
    static func checkWriting(_ path: String) throws(StoreFailure) {
        try call("open", path) { faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) }
    }

    // MARK: - Is it a store?

    /// How many bytes of a file are examined: a page.
    private static let headerLength = 4096

    /// Decides by its beginning whether a file is a store, a damaged store, or something else.
    ///
    /// Must not be called while a connection to the file is open: closing any descriptor of a file gives up all locks
    /// that this process has on it.
    ///
    /// - Returns: Whether there is a file, which then is empty or looks like a store.
    /// - Throws: ``StoreFailure``.
    func examine() throws(StoreFailure) -> Bool {
        let (status, log) = (try Self.status(path), try Self.status(self.log))
        if status?.st_size ?? 0 == 0, let log, log.isRegular, log.st_size > 0 {
            // SQLite would delete the log of an empty file.
            throw .damaged(
                status == nil ? "the file is gone and its log is not" : "the file is empty and its log is not")
        }
        guard let status else { return false }
        guard status.isRegular else {
            throw .foreign(
                path: path,
                reason: status.st_mode & S_IFMT == S_IFLNK ? "this is a symbolic link" : "this is no regular file",
                remedy: "it is left alone; set another path, or remove it")
        }
        if status.st_size > 0 { try examine(try header(), size: Int(status.st_size)) }
        return true
    }

    private func header() throws(StoreFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.headerLength)
        let file = Descriptor(
            owning: try Self.call("open", path) { open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) })
        let count = try Self.call("read", path) { pread(file.raw, &bytes, bytes.count, 0) }
        return Array(bytes.prefix(count))
    }

    private func examine(_ bytes: [UInt8], size: Int) throws(StoreFailure) {
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
        if isDatabase && size == Self.headerLength && number(at: 68) == 0 { return }
        let mark = Array(StoreSchema.mark.utf8)
        let hasSchema = bytes.indices.dropLast(mark.count - 1).contains { bytes[$0...].starts(with: mark) }
        if isMarked || hasSchema { throw .damaged("its header is overwritten") }
        // The rest of a file that was cut off, or whose first page the disk has lost.
        if isDatabase && bytes.count < 100 { throw .damaged("its header is cut off") }
        if size >= 2 * Self.headerLength, size % Self.headerLength == 0, let first = bytes.first,
            first == 0 || first == 0xFF, bytes.allSatisfy({ $0 == first })
        {
            throw .damaged("its first page is empty")
        }
        throw .foreign(
            path: path, reason: "this is no event store",
            remedy: "it is left alone; set another path, or move it away")
    }

    // MARK: - Setting a damaged file aside

    /// The suffixes of the files beside a database, before and after the database is set aside.
    ///
    /// The log keeps its place, because it is read with the file. A journal does not: it would be played back into the
    /// file, which is to stay as it is.
    private static let companions = [("-wal", "-wal"), ("-shm", ".shm"), ("-journal", ".journal")]

    /// Renames a damaged file and the files beside it; nothing is deleted.
    ///
    /// - Parameter wallNanoseconds: The wall clock's time, which becomes a part of the name.
    /// - Returns: The new path.
    /// - Throws: ``StoreFailure`` when nothing was renamed.
    func setAside(at wallNanoseconds: Int64) throws(StoreFailure) -> String {
        func rename(_ old: String, _ new: String) throws(StoreFailure) {
            guard try Self.status(old) != nil else { return }
            try Self.call("rename", old) { Glibc.rename(old, new) }
        }
        let stamp = WallTime.text(wallNanoseconds).prefix { $0 != "." }.filter { $0 != "-" && $0 != ":" }
        let first = "\(path).damaged-\(stamp)Z"
        var (name, number) = (first, 1)
        while try isTaken(name) {
            number += 1
            name = "\(first)-\(number)"
        }
        // The log goes first: a file without its log is what it was at the last checkpoint, and with another file's
        // log it is unreadable.
        for (suffix, newSuffix) in Self.companions.reversed() { try rename(path + suffix, name + newSuffix) }
        try rename(path, name)
        return name
    }

    private func isTaken(_ name: String) throws(StoreFailure) -> Bool {
        for suffix in [""] + Self.companions.map(\.1) where try Self.status(name + suffix) != nil { return true }
        return false
    }

    /// The shell command that copies what can be read of a damaged file into `PATH.recovered`.
    ///
    /// `.dump` reads a table from its beginning up to the damage, and then from its end. `.recover` would read more, but
    /// Debian 12 builds SQLite without SQLITE_ENABLE_DBPAGE_VTAB, which it needs. A dump with errors ends with ROLLBACK,
    /// and has no application id.
    static func recoveryCommand(for path: String) -> String {
        func quoted(_ word: String) -> String {
            "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
        }
        return "sqlite3 -readonly \(quoted(path)) .dump | sed 's/^ROLLBACK;.*/COMMIT;/' | "
            + "sqlite3 -cmd 'PRAGMA application_id = \(StoreSchema.applicationID)' \(quoted(path + ".recovered"))"
    }
}

extension stat {
    var isRegular: Bool { st_mode & S_IFMT == S_IFREG }

    func isSameFile(as other: stat?) -> Bool { st_dev == other?.st_dev && st_ino == other?.st_ino }
}

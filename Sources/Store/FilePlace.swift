import Glibc
import LinuxSystem
import PlainText

/// The path of a store's file; examines and renames files without SQLite, which might change a file that is not a store.
struct FilePlace {
    /// The path; its folder has no symbolic links.
    let path: String

    /// Resolves the folder.
    ///
    /// Links to the folder are the administrator's choice (`/var/lib` may be on another disk, and systemd makes links of its
    /// own); a link in place of the file is refused.
    init(_ path: String) throws(StoreFailure) {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let name = slash.map { String(path[path.utf8.index(after: $0)...]) } ?? path
        let resolved = try mapError(StoreFailure.system) { () throws(SystemError) in
            try systemPointer("find the folder", path: path) { realpath(path.folder, nil) }
        }
        defer { free(resolved) }
        let real = String(cString: resolved)
        self.path = (real == "/" ? "" : real) + "/" + name
    }

    /// The log that SQLite keeps beside the file.
    var log: String { path + "-wal" }
    /// A rollback journal, which no store has: SQLite would play it back, and delete the file that it names.
    var journal: String { path + "-journal" }

    /// The status of a path, whose last component may be a link; `nil` when it does not exist.
    static func status(_ path: String) throws(StoreFailure) -> stat? {
        do throws(SystemError) {
            return try fileStatus(path, followsLink: false)
        } catch {
            guard error.code == ENOENT else { throw .system(error) }
            return nil
        }
    }

    /// The size of a file in bytes; 0 when it does not exist.
    static func size(_ path: String) throws(StoreFailure) -> Int64 { Int64(try status(path)?.st_size ?? 0) }

    @discardableResult
    private static func call<Result: FixedWidthInteger>(
        _ name: StaticString, _ path: String, _ body: () -> Result
    ) throws(StoreFailure) -> Result {
        try mapError(StoreFailure.system) { () throws(SystemError) in try systemCall(name, path: path, body) }
    }

    /// Makes an empty file, writable for its owner and readable for its group; SQLite gives the log the same mode.
    func create() throws(StoreFailure) {
        _ = Descriptor(
            owning: try Self.call("create", path) {
                open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o640)
            })
    }

    static func remove(_ path: String) throws(StoreFailure) {
        if try status(path) != nil { try call("remove", path) { unlink(path) } }
    }

    static func checkWriting(_ path: String) throws(StoreFailure) {
        try call("open", path) { faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) }
    }

    // MARK: - Other accounts

    /// An account other than root and this process's that owns the folder, the file or its log, and may replace what is there.
    func otherOwner() throws(StoreFailure) -> uid_t? {
        for path in [path.folder, path, log] {
            if let owner = try Self.status(path)?.st_uid, owner != 0, owner != geteuid() { return owner }
        }
        return nil
    }

    /// Gives up root's rights for those of an account, until the end of the process.
    static func become(_ owner: uid_t, path: String) throws(StoreFailure) {
        let noGroup: gid_t = 65534
        let group = getpwuid(owner)?.pointee.pw_gid ?? noGroup
        try call("setgroups", path) { setgroups(0, nil) }
        // As root these set the real, the effective and the saved number.
        try call("setgid", path) { setgid(group) }
        try call("setuid", path) { setuid(owner) }
    }

    // MARK: - Other daemons

    /// A byte that neither SQLite nor another program locks; the file may be shorter.
    private static let lockedByte: Int64 = 1 << 40
    /// `F_OFD_GETLK` and `F_OFD_SETLK` of Linux: locks of the descriptor, released at the end of the process in any case.
    private static let (findLock, setLock): (Int32, Int32) = (36, 37)
    /// The number of attempts to lock the file of a daemon that is about to end.
    private static let lockAttempts = 20

    /// The file that daemons lock as well once a process that may only read the store has locked its byte.
    ///
    /// Only its owner can open it. It is never removed, because another daemon might have opened it.
    private var lockFile: String { path + Self.lockSuffix }
    static let lockSuffix = "-lock"

    /// Locks the file against other daemons while the descriptors are open; readers are not affected.
    ///
    /// It must be called before SQLite opens the file, and the descriptors closed after it: closing any descriptor of a file
    /// releases all locks that SQLite has on it. Returns none when there is no writable file, which later operations also detect;
    /// throws ``StoreFailure/held(path:lock:)`` when another daemon has the file.
    func lock() throws(StoreFailure) -> [Descriptor] {
        guard let status = try Self.status(path), status.isRegular,
            let file = try? Descriptor(path: path, flags: O_RDWR | O_NOFOLLOW)
        else { return [] }
        var held = path
        for attempt in 1...Self.lockAttempts {
            // A file system without locks.
            guard let hasByte = Self.lockByte(of: file) else { return [] }
            held = path
            if hasByte || !Self.isDaemons(file) {
                guard let second = try openLockFile(beside: file, creates: !hasByte) else { return [file] }
                held = lockFile
                // The daemon that got the byte may have looked for the second file before it was made.
                if Self.lockByte(of: second) != false, hasByte || !Self.isDaemons(file) { return [file, second] }
            }
            if attempt < Self.lockAttempts { usleep(50_000) }
        }
        throw .held(path: path, lock: held)
    }

    private static func byteLock(_ type: Int32) -> flock {
        var lock = flock()
        lock.l_type = Int16(type)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = off_t(lockedByte)
        lock.l_len = 1
        return lock
    }

    /// Locks the byte; `false` when another process has a lock there, and `nil` on a file system without locks.
    private static func lockByte(of file: Descriptor) -> Bool? {
        var lock = byteLock(F_WRLCK)
        do throws(SystemError) {
            try systemCall("fcntl") { fcntl(file.raw, setLock, &lock) }
            return true
        } catch {
            return error.code == EAGAIN || error.code == EACCES ? false : nil
        }
    }

    /// Whether another process has locked the byte for writing, as daemons do; without the right to write it cannot.
    private static func isDaemons(_ file: Descriptor) -> Bool {
        // Only a lock for writing is in the way of one for reading.
        var lock = byteLock(F_RDLCK)
        return fcntl(file.raw, findLock, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    }

    /// Opens the second file to lock; `nil` when there is none and it is not created.
    private func openLockFile(beside file: Descriptor, creates: Bool) throws(StoreFailure) -> Descriptor? {
        let path = lockFile
        if !creates, try Self.status(path) == nil { return nil }
        let flags = O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW
        let made = open(path, flags | O_EXCL, 0o600)
        guard made >= 0 else {
            return Descriptor(owning: try Self.call("open", path) { open(path, flags, 0o600) })
        }
        // A file of root's would keep the store's account out; SQLite does the same with the log.
        if geteuid() == 0, let status = try? fileStatus(of: file.raw) { _ = fchown(made, status.st_uid, status.st_gid) }
        return Descriptor(owning: made)
    }

    // MARK: - Is it a store?

    /// The number of bytes of a file that are examined: a page.
    private static let headerLength = 4096

    /// Decides from its first page whether a file is a store, a damaged store, or another file; `false` when there is none.
    ///
    /// Must not be called while a connection to the file is open: closing any descriptor of a file releases all locks that this
    /// process has on it.
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
        if status.st_size > 0 {
            try examine(try Self.bytes(of: path, at: 0, count: Self.headerLength), size: Int(status.st_size))
        }
        return true
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
        // A kill during the creation may leave a database without tables; the contents are checked at opening.
        if isDatabase && size == Self.headerLength && number(at: 68) == 0 { return }
        if isMarked || bytes.contains(Self.schemaMark) { throw .damaged("its header is overwritten") }
        // A truncated file, or one whose first page was lost by the disk.
        if isDatabase && bytes.count < 100 { throw .damaged("its header is cut off") }
        if size >= 2 * Self.headerLength, size % Self.headerLength == 0, let first = bytes.first,
            first == 0 || first == 0xFF, bytes.allSatisfy({ $0 == first })
        {
            throw .damaged("its first page is empty")
        }
        // No `||`, whose right operand throws untyped errors.
        if try hasPagesOfStore(size: size) ? true : hasLogOfStore() { throw .damaged("its first page is overwritten") }
        throw .foreign(
            path: path, reason: "this is no event store",
            remedy: "it is left alone; set another path, or move it away")
    }

    /// The beginning of an event's line in the pages of a store.
    private static let eventMark = Array("{\"seq\":".utf8)
    private static let schemaMark = Array(StoreSchema.mark.utf8)
    /// The number of pages of a file, and of bytes of a log, that are searched.
    private static let searchedPages = 256
    private static let searchedLog = 1 << 20

    /// Whether pages after the first are tables of a database with events.
    private func hasPagesOfStore(size: Int) throws(StoreFailure) -> Bool {
        let length = Self.headerLength
        guard size % length == 0 else { return false }
        for page in 1..<max(1, min(size / length, Self.searchedPages)) {
            let bytes = try Self.bytes(of: path, at: page * length, count: length)
            // The page type of a table's rows.
            if bytes.first == 13, bytes.contains(Self.eventMark) { return true }
        }
        return false
    }

    /// Whether the log beside the file is a store's.
    private func hasLogOfStore() throws(StoreFailure) -> Bool {
        guard let status = try Self.status(log), status.isRegular, status.st_size > 32 else { return false }
        let bytes = try Self.bytes(of: log, at: 0, count: Self.searchedLog)
        guard bytes.starts(with: [0x37, 0x7F, 0x06]) else { return false }
        return bytes.contains(Self.schemaMark) || bytes.contains(Self.eventMark)
    }

    private static func bytes(of path: String, at offset: Int, count: Int) throws(StoreFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let file = Descriptor(
            owning: try call("open", path) { open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) })
        let length = try call("read", path) { pread(file.raw, &bytes, count, off_t(offset)) }
        return Array(bytes.prefix(length))
    }

    /// The highest sequence number in the events' lines in a file and its log, even if the tables are unreadable.
    ///
    /// Numbers above a quarter of the maximum count as damage.
    static func highestSequence(inFileAt path: String) -> UInt64 {
        ["", "-wal"].map { highestSequence(in: path + $0) }.max() ?? 0
    }

    private static func highestSequence(in path: String) -> UInt64 {
        guard let file = try? Descriptor(path: path, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else { return 0 }
        var (piece, rest, highest) = ([UInt8](repeating: 0, count: 1 << 20), [UInt8](), UInt64(0))
        while let count = try? systemCall("read", { read(file.raw, &piece, piece.count) }), count > 0 {
            let bytes = rest + piece[..<count]
            var index = 0
            while let place = bytes[index...].firstIndex(of: UInt8(ascii: "{")) {
                index = place + 1
                guard bytes[place...].starts(with: eventMark) else { continue }
                let digits = bytes[(place + eventMark.count)...].prefix { (48...57).contains($0) }
                if let number = UInt64(String(decoding: digits, as: UTF8.self)), number <= StoreFile.highestSequence / 4
                {
                    highest = max(highest, number)
                }
            }
            // The chunk may end within the beginning of a line.
            rest = Array(bytes.suffix(32))
        }
        return highest
    }

    // MARK: - Setting a damaged file aside

    /// The suffixes of the files beside a database, before and after it is set aside.
    ///
    /// The log keeps its suffix, because it is read with the file. A journal does not: SQLite would play it back and change the
    /// file.
    static let companions = [("-wal", "-wal"), ("-shm", ".shm"), ("-journal", ".journal")]

    /// Renames a damaged file and the files beside it; nothing is deleted, and nothing is renamed on failure.
    ///
    /// The returned path contains the wall clock time.
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
        // The log is renamed first: a file without its log has the state of the last checkpoint, and with another file's log it
        // is unreadable.
        for (suffix, newSuffix) in Self.companions.reversed() { try rename(path + suffix, name + newSuffix) }
        try rename(path, name)
        return name
    }

    private func isTaken(_ name: String) throws(StoreFailure) -> Bool {
        for suffix in [""] + Self.companions.map(\.1) where try Self.status(name + suffix) != nil { return true }
        return false
    }

    /// The shell command that copies the readable part of a damaged file to `PATH.recovered`.
    ///
    /// `.dump` reads a table from its beginning up to the damage, and then from its end. `.recover` would read more, but requires
    /// SQLITE_ENABLE_DBPAGE_VTAB, without which Debian 12 builds SQLite. A dump with errors ends with ROLLBACK and has no
    /// application id. `-safe` refuses the commands of the shell that the text of a manipulated file may contain.
    static func recoveryCommand(for path: String) -> String {
        func quoted(_ word: String) -> String {
            "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
        }
        return "sqlite3 -readonly \(quoted(path)) .dump | sed 's/^ROLLBACK;.*/COMMIT;/' | "
            + "sqlite3 -safe -cmd 'PRAGMA application_id = \(StoreSchema.applicationID)' \(quoted(path + ".recovered"))"
    }
}

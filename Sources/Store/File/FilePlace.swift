import Glibc
import LinuxSystem

/// Where a file lies, and what lies there now.
struct FilePlace {
    /// Which file it is, whatever it is called.
    struct Identity: Equatable {
        let device: UInt64
        let inode: UInt64
    }

    /// What the system says of a file.
    struct Status {
        let identity: Identity
        let isRegular: Bool
        let isLink: Bool
        let size: Int64
    }

    /// The path, its folder without symbolic links.
    let path: String

    /// Finds the folder.
    ///
    /// Links on the way are the administrator's business (`/var/lib` may be on another disk, and systemd makes links of its
    /// own); a link in the file's own place is nobody's.
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

    /// Takes a path as it is.
    init(resolved path: String) {
        self.path = path
    }

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
            identity: Identity(device: UInt64(found.st_dev), inode: UInt64(found.st_ino)),
            isRegular: found.st_mode & S_IFMT == S_IFREG, isLink: found.st_mode & S_IFMT == S_IFLNK,
            size: Int64(found.st_size))
    }

    /// Makes an empty file, for its owner to change and for its group to read; the log gets the same rights from SQLite.
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

    /// The beginning of the file.
    ///
    /// To be asked while no connection to it is open: closing any descriptor of a file gives up all the locks that this
    /// process has on it.
    func beginning(_ count: Int) throws(SystemError) -> [UInt8] {
        let file = try Descriptor(path: path, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        var bytes = [UInt8](repeating: 0, count: count)
        let read = try systemCall("read", path: path) { pread(file.raw, &bytes, count, 0) }
        return Array(bytes.prefix(read))
    }
}

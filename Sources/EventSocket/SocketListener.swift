import Glibc
import LinuxSystem
import PlainText

/// A listening Unix socket and its file.
package final class SocketListener: Sendable {
    let descriptor: Descriptor
    private let path: String
    private let status: stat

    /// Creates the socket's file and listens.
    ///
    /// Clients cannot connect before the file has its mode and group. The file of a killed daemon is replaced; that of a running
    /// process is not, and a file that is not a socket is never touched. At the path of `old`, a socket of this process, the new
    /// one replaces it atomically as the last step. After a failure the previous file remains.
    package init(_ settings: SocketSettings, replacing old: SocketListener? = nil) throws(SocketServerError) {
        path = settings.path
        // The kernel binds only to free names, so a name in use is replaced by renaming.
        let takesPlace = old.map { $0.path == settings.path && $0.isThere } ?? false
        let place = takesPlace ? path.folder + "/.new" : path
        guard UnixAddress(path: path) != nil, let address = UnixAddress(path: place) else { throw .longPath(path) }
        guard path.hasPrefix("/") else { throw .relativePath(path) }
        var group: gid_t?
        if let name = settings.group {
            guard let number = AccountDatabase.group(name) else { throw .unknownGroup(name) }
            group = number
        }
        // With the lock, the second of two daemons that start together checks only after the first listens.
        let (descriptor, lock) = try mapError(SocketServerError.system) { () throws(SystemError) in
            (try UnixAddress.makeStream(), try Self.lockFolder(of: settings.path))
        }
        self.descriptor = descriptor
        defer { withExtendedLifetime(lock) {} }
        try Self.clear(place, address)
        status = try mapError(SocketServerError.system) { () throws(SystemError) in
            // The file gets the mode of the socket, less the umask.
            try systemCall("fchmod") { fchmod(descriptor.raw, 0o600) }
            try systemCall("bind", path: place) { address.withPointer { bind(descriptor.raw, $0, $1) } }
            return try fileStatus(place, followsLink: false)
        }
        do throws(SocketServerError) {
            try Self.open(place, settings, to: group)
            try mapError(SocketServerError.system) { () throws(SystemError) in
                try systemCall("listen", path: place) { listen(descriptor.raw, 128) }
                if takesPlace { try systemCall("rename", path: path) { rename(place, path) } }
            }
        } catch {
            unlink(place)
            throw error
        }
    }

    /// Removes the file if it is still ours.
    package func remove() {
        if isThere { unlink(path) }
    }

    /// Whether the file at the path is still that of this socket.
    var isThere: Bool {
        status.isSameFile(as: try? fileStatus(path, followsLink: false))
    }

    // MARK: - The file

    private static func open(_ path: String, _ settings: SocketSettings, to group: gid_t?) throws(SocketServerError) {
        if let group, let name = settings.group {
            try mapError({ SocketServerError.foreignGroup(name, $0) }) { () throws(SystemError) in
                try systemCall("chown", path: path) { lchown(path, uid_t.max, group) }
            }
        }
        try mapError(SocketServerError.system) { () throws(SystemError) in
            try systemCall("chmod", path: path) { chmod(path, mode_t(settings.mode & 0o777)) }
        }
    }

    private static func clear(_ path: String, _ address: UnixAddress) throws(SocketServerError) {
        guard let status = try? fileStatus(path, followsLink: false) else { return }
        guard status.kind == S_IFSOCK else { throw .noSocket(path) }
        let probe = try mapError(SocketServerError.system) { () throws(SystemError) in try UnixAddress.makeStream() }
        // Most other errors show that the socket is in use, such as a full queue or another type of socket.
        let (result, code) = withErrno { address.withPointer { connect(probe.raw, $0, $1) } }
        let cause = SystemError(code: code, call: "connect", path: path)
        if result == -1, cause.isPermission { throw .system(cause) }
        guard result == -1, code == ECONNREFUSED else { throw .inUse(path) }
        try mapError(SocketServerError.system) { () throws(SystemError) in
            try systemCall("unlink", path: path) { unlink(path) }
        }
    }

    /// Makes the folder if it is missing, and locks it.
    private static func lockFolder(of path: String) throws(SystemError) -> Descriptor {
        let folder = path.folder
        do throws(SystemError) {
            try systemCall("mkdir", path: folder) { mkdir(folder, 0o755) }
        } catch {
            guard error.code == EEXIST else { throw error }
        }
        let lock = try Descriptor(path: folder, flags: O_RDONLY | O_DIRECTORY)
        // The lock of another process must not prevent the start.
        for _ in 0..<100 {
            if flock(lock.raw, LOCK_EX | LOCK_NB) == 0 { break }
            usleep(10_000)
        }
        return lock
    }
}

import Glibc
import LinuxSystem

/// A listening Unix socket and its file.
package final class SocketListener: Sendable {
    /// The socket.
    let descriptor: Descriptor
    private let path: String
    private let device: dev_t
    private let inode: ino_t

    /// Creates the socket's file and listens.
    ///
    /// Clients cannot connect before the file has its mode and its group. The file of a killed daemon is replaced; one
    /// of a running process is not, and a file that is no socket is never touched.
    package init(_ settings: SocketSettings) throws(SocketServerError) {
        path = settings.path
        guard let address = UnixAddress(path: path), path.hasPrefix("/") else { throw .longPath(path) }
        var group: gid_t?
        if let name = settings.group {
            guard let number = AccountDatabase.group(name) else { throw .unknownGroup(name) }
            group = number
        }
        // Of two daemons that start together, the second looks only when the first listens.
        let (descriptor, lock) = try mapError(SocketServerError.system) { () throws(SystemError) in
            (try UnixAddress.makeStream(), try Self.lockFolder(of: settings.path))
        }
        self.descriptor = descriptor
        defer { withExtendedLifetime(lock) {} }
        try Self.clear(settings.path, address)
        let status = try mapError(SocketServerError.system) { () throws(SystemError) in
            // The file gets the mode of the socket, less the umask.
            try systemCall("fchmod") { fchmod(descriptor.raw, 0o600) }
            try systemCall("bind", path: settings.path) { address.withPointer { bind(descriptor.raw, $0, $1) } }
            var status = stat()
            try systemCall("lstat", path: settings.path) { lstat(settings.path, &status) }
            return status
        }
        device = status.st_dev
        inode = status.st_ino
        do throws(SocketServerError) {
            try Self.open(settings, to: group)
            try mapError(SocketServerError.system) { () throws(SystemError) in
                try systemCall("listen", path: settings.path) { listen(descriptor.raw, 128) }
            }
        } catch {
            remove()
            throw error
        }
    }

    /// Removes the file, if it is still ours.
    package func remove() {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_dev == device, status.st_ino == inode else { return }
        unlink(path)
    }

    // MARK: - The file

    /// Gives the file its group and its mode.
    private static func open(_ settings: SocketSettings, to group: gid_t?) throws(SocketServerError) {
        if let group, let name = settings.group {
            try mapError({ SocketServerError.foreignGroup(name, $0) }) { () throws(SystemError) in
                try systemCall("chown", path: settings.path) { lchown(settings.path, uid_t.max, group) }
            }
        }
        try mapError(SocketServerError.system) { () throws(SystemError) in
            try systemCall("chmod", path: settings.path) { chmod(settings.path, mode_t(settings.mode & 0o777)) }
        }
    }

    /// Removes the file of a killed daemon.
    private static func clear(_ path: String, _ address: UnixAddress) throws(SocketServerError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw .noSocket(path) }
        let probe = try mapError(SocketServerError.system) { () throws(SystemError) in try UnixAddress.makeStream() }
        // All other errors show that the socket is in use, such as a full queue or another type of socket.
        let code: Int32
        do throws(SystemError) {
            try systemCall("connect", path: path) { address.withPointer { connect(probe.raw, $0, $1) } }
            code = 0
        } catch {
            code = error.code
        }
        guard code == ECONNREFUSED else { throw .inUse(path) }
        try mapError(SocketServerError.system) { () throws(SystemError) in
            try systemCall("unlink", path: path) { unlink(path) }
        }
    }

    /// Creates the folder when it is missing, and locks it.
    private static func lockFolder(of path: String) throws(SystemError) -> Descriptor {
        let end = path.lastIndex(of: "/") ?? path.startIndex
        let folder = end == path.startIndex ? "/" : String(path[..<end])
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

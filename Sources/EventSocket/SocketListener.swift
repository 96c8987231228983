import CLinux
import Glibc
package import LinuxSystem

/// A listening socket with its file, which is removed with it.
package final class SocketListener: Sendable {
    private let descriptor: Descriptor
    private let path: String
    private let device: dev_t
    private let inode: ino_t

    /// Makes the socket's file and listens.
    ///
    /// Nobody can connect before the file has its mode and its group. The file of a daemon that was killed is replaced;
    /// one on which somebody answers is not, and what is no socket is never touched.
    ///
    /// - Parameter settings: The path, mode and group.
    /// - Throws: ``SocketServerError``.
    package init(_ settings: SocketSettings) throws(SocketServerError) {
        path = settings.path
        guard let address = UnixAddress(path: path), path.hasPrefix("/") else { throw .longPath(path) }
        var group: gid_t?
        if let name = settings.group {
            guard let number = AccountDatabase.group(name) else { throw .unknownGroup(name) }
            group = number
        }
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = try mapError(SocketServerError.system) { () throws(SystemError) in
            Descriptor(owning: try systemCall("socket") { socket(AF_UNIX, type, 0) })
        }
        self.descriptor = descriptor
        // Two daemons that start together: one looks, replaces and listens, and only then the other looks.
        let lock = try mapError(SocketServerError.system) { () throws(SystemError) in
            try Self.lockFolder(of: settings.path)
        }
        defer { withExtendedLifetime(lock) {} }
        try Self.clear(settings.path, address)
        let status = try mapError(SocketServerError.system) { () throws(SystemError) in
            // The file gets the mode of the socket, less what the umask takes.
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

    /// What is waited for.
    package var raw: Int32 { descriptor.raw }

    /// Removes the file, if it is still the one that was made.
    package func remove() {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_dev == device, status.st_ino == inode else { return }
        unlink(path)
    }

    /// Takes a connection.
    ///
    /// - Returns: The connection, which never blocks.
    /// - Throws: ``SystemError``; EAGAIN when there is none.
    package func accept() throws(SystemError) -> Descriptor {
        Descriptor(owning: try systemCall("accept4") { clinux_accept(descriptor.raw) })
    }

    // MARK: - The file

    /// Gives the file its group and its mode.
    private static func open(_ settings: SocketSettings, to group: gid_t?) throws(SocketServerError) {
        if let group, let name = settings.group {
            do throws(SystemError) {
                try systemCall("chown", path: settings.path) { lchown(settings.path, uid_t.max, group) }
            } catch {
                throw .foreignGroup(name, error)
            }
        }
        try mapError(SocketServerError.system) { () throws(SystemError) in
            try systemCall("chmod", path: settings.path) { chmod(settings.path, mode_t(settings.mode & 0o777)) }
        }
    }

    /// Removes what a daemon that was killed has left.
    private static func clear(_ path: String, _ address: UnixAddress) throws(SocketServerError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw .noSocket(path) }
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let probe = try mapError(SocketServerError.system) { () throws(SystemError) in
            Descriptor(owning: try systemCall("socket") { socket(AF_UNIX, type, 0) })
        }
        // Whatever is not a refusal is a sign of somebody: a full queue, or a socket of another kind.
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

    /// Makes the folder when only that is missing, and has it to ourselves for a moment.
    private static func lockFolder(of path: String) throws(SystemError) -> Descriptor {
        let end = path.lastIndex(of: "/") ?? path.startIndex
        let folder = end == path.startIndex ? "/" : String(path[..<end])
        do throws(SystemError) {
            try systemCall("mkdir", path: folder) { mkdir(folder, 0o755) }
        } catch {
            guard error.code == EEXIST else { throw error }
        }
        let lock = try Descriptor(path: folder, flags: O_RDONLY | O_DIRECTORY)
        // Whoever else holds it must not keep us from starting.
        for _ in 0..<100 {
            if flock(lock.raw, LOCK_EX | LOCK_NB) == 0 { break }
            usleep(10_000)
        }
        return lock
    }
}

import Glibc

/// Unix datagram sockets: how systemd is spoken to.
package enum DatagramSocket {
    /// Connects to somebody's socket.
    ///
    /// - Parameter path: Its path; one that begins with `@` is in the abstract namespace, which no folder shows.
    /// - Returns: The connected socket, closed on exec.
    /// - Throws: ``SystemError``; ENAMETOOLONG for a path that no socket can have.
    package static func connected(to path: String) throws(SystemError) -> Descriptor {
        guard let address = UnixAddress(path: path) else {
            throw SystemError(code: ENAMETOOLONG, call: "connect", path: path)
        }
        let type = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
        let socket = Descriptor(owning: try systemCall("socket") { Glibc.socket(AF_UNIX, type, 0) })
        try systemCall("connect", path: path) { address.withPointer { connect(socket.raw, $0, $1) } }
        return socket
    }
}

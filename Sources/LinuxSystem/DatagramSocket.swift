import Glibc

/// Unix datagram sockets: how systemd is spoken to.
package enum DatagramSocket {
    /// Connects to somebody's socket.
    ///
    /// - Parameter path: Its path; one that begins with `@` is in the abstract namespace, which no folder shows.
    /// - Returns: The connected socket, closed on exec.
    /// - Throws: ``SystemError``; ENAMETOOLONG for a path that no socket can have.
    package static func connected(to path: String) throws(SystemError) -> Descriptor {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        guard name.first != UInt8(ascii: "@") || name.count > 1, !name.isEmpty,
            name.count < MemoryLayout.size(ofValue: address.sun_path)
        else { throw SystemError(code: ENAMETOOLONG, call: "connect", path: path) }
        if name[0] == UInt8(ascii: "@") { name[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let type = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
        let socket = Descriptor(owning: try systemCall("socket") { Glibc.socket(AF_UNIX, type, 0) })
        // The length says where an abstract name ends; a path ends at its NUL, which is counted.
        let length = MemoryLayout<sa_family_t>.size + name.count + (name[0] == 0 ? 0 : 1)
        try systemCall("connect", path: path) {
            withUnsafePointer(to: &address) { pointer in
                // A socket address is looked at as its family says.
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(socket.raw, $0, socklen_t(length))
                }
            }
        }
        return socket
    }
}

package import Glibc

package struct UnixAddress {
    private var address = sockaddr_un()
    private let length: socklen_t

    /// The maximum length of a socket's path, in bytes.
    package static let longestPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// The address of a path, where `@` begins a name in the abstract namespace; `nil` for an invalid one.
    package init?(path: String) {
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        guard name.first != UInt8(ascii: "@") || name.count > 1, !name.isEmpty, !name.contains(0),
            name.count <= Self.longestPath
        else { return nil }
        if name[0] == UInt8(ascii: "@") { name[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        // The length determines the end of an abstract name; a path ends at its NUL, which is counted.
        length = socklen_t(MemoryLayout<sa_family_t>.size + name.count + (name[0] == 0 ? 0 : 1))
    }

    /// Makes a stream socket that never blocks and is closed on exec.
    package static func makeStream() throws(SystemError) -> Descriptor {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        return Descriptor(owning: try systemCall("socket") { socket(AF_UNIX, type, 0) })
    }

    /// Calls a function with the address as the socket calls expect it.
    package func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: address) { pointer in
            // Socket calls interpret the address by its family.
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}

/// Unix datagram sockets, for systemd's protocols.
package enum DatagramSocket {
    /// Connects to a path, where `@` begins a name in the abstract namespace; throws ENAMETOOLONG if it is too long.
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

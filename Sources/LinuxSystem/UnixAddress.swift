package import Glibc

/// The address of a Unix socket.
package struct UnixAddress {
    private var address = sockaddr_un()
    private let length: socklen_t

    /// The longest path that a socket can have, in bytes.
    package static let longestPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// Creates the address of a path; `nil` for one that no socket can have.
    ///
    /// - Parameter path: One that begins with `@` is in the abstract namespace, which no folder shows.
    package init?(path: String) {
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        guard name.first != UInt8(ascii: "@") || name.count > 1, !name.isEmpty, !name.contains(0),
            name.count <= Self.longestPath
        else { return nil }
        if name[0] == UInt8(ascii: "@") { name[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        // The length says where an abstract name ends; a path ends at its NUL, which is counted.
        length = socklen_t(MemoryLayout<sa_family_t>.size + name.count + (name[0] == 0 ? 0 : 1))
    }

    /// Calls a function with the address as the socket calls want it.
    package func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: address) { pointer in
            // A socket address is looked at as its family says.
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}

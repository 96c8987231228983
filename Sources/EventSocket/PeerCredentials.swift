import CLinux
import Glibc
package import LinuxSystem

/// Who is at the other end of a connection, as the kernel says: it was so when they connected.
package struct PeerCredentials: Sendable, Equatable {
    /// The account.
    package let user: UInt32
    /// The process.
    package let process: Int32
    /// The group and all further groups.
    package let groups: Set<UInt32>

    /// Creates credentials.
    package init(user: UInt32, process: Int32, groups: Set<UInt32>) {
        self.user = user
        self.process = process
        self.groups = groups
    }

    /// Asks the kernel.
    ///
    /// - Parameter socket: A connected Unix socket.
    /// - Throws: ``SystemError``.
    package init(of socket: Int32) throws(SystemError) {
        var user: uid_t = 0
        var group: gid_t = 0
        var process: pid_t = 0
        try systemCall("getsockopt") { clinux_peer(socket, &user, &group, &process) }
        var groups = [gid_t](repeating: 0, count: 64)
        var count = clinux_peer_groups(socket, &groups, Int32(groups.count))
        if count == -1, errno == ERANGE {
            // The most that the kernel lets a process have.
            groups = [gid_t](repeating: 0, count: 65_536)
            count = clinux_peer_groups(socket, &groups, Int32(groups.count))
        }
        // A kernel before 4.13 does not say; then the main group is what counts.
        self.init(user: user, process: process, groups: Set(groups.prefix(Int(max(0, count)))).union([group]))
    }
}

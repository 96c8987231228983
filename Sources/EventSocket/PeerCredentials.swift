import CLinux
import Glibc
package import LinuxSystem

/// The credentials of a client at the time of its connection, from the kernel.
package struct PeerCredentials: Sendable, Equatable {
    package let user: UInt32
    package let process: Int32
    /// The group and all further groups.
    package let groups: Set<UInt32>

    package init(user: UInt32, process: Int32, groups: Set<UInt32>) {
        self.user = user
        self.process = process
        self.groups = groups
    }

    /// Reads the credentials of a connected Unix socket's client.
    package init(of socket: Int32) throws(SystemError) {
        var user: uid_t = 0
        var group: gid_t = 0
        var process: pid_t = 0
        try systemCall("getsockopt") { clinux_peer(socket, &user, &group, &process) }
        var groups = [gid_t](repeating: 0, count: 64)
        var (count, code) = withErrno { clinux_peer_groups(socket, &groups, Int32(groups.count)) }
        if count == -1, code == ERANGE {
            // The kernel's maximum number of groups of a process.
            groups = [gid_t](repeating: 0, count: 65_536)
            (count, code) = withErrno { clinux_peer_groups(socket, &groups, Int32(groups.count)) }
        }
        // A kernel before 4.13 has no SO_PEERGROUPS; then only the main group counts.
        self.init(user: user, process: process, groups: Set(groups.prefix(Int(max(0, count)))).union([group]))
    }
}

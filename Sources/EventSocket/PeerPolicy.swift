import Glibc
import LinuxSystem

package struct PeerPolicy: Sendable {
    /// The accounts that may connect, with their names; `nil` without groups admits every account.
    private let users: [UInt32: String]?
    private let groups: Set<UInt32>?
    private let own: UInt32

    /// Creates the policy of a configuration, with the daemon's own account; throws for an unknown user or group.
    package init(_ settings: SocketSettings, own: UInt32 = geteuid()) throws(SocketServerError) {
        self.own = own
        guard settings.users != nil || settings.groups != nil else {
            users = nil
            groups = nil
            return
        }
        var users: [UInt32: String] = [:]
        for name in settings.users ?? [] {
            guard let user = AccountDatabase.user(name) else { throw .unknownUser(name) }
            users[user] = name
        }
        var groups: Set<UInt32> = []
        for name in settings.groups ?? [] {
            guard let group = AccountDatabase.group(name) else { throw .unknownGroup(name) }
            groups.insert(group)
        }
        self.users = users
        self.groups = groups
    }

    /// Whether a client admitted by the socket's file mode may connect; root and the daemon's own account always may.
    package func allows(_ peer: PeerCredentials) -> Bool {
        guard let users, let groups else { return true }
        return isTrusted(peer) || users[peer.user] != nil || !groups.isDisjoint(with: peer.groups)
    }

    /// Whether a client has full control over the daemon in any case.
    func isTrusted(_ peer: PeerCredentials) -> Bool {
        peer.user == 0 || peer.user == own
    }

    /// A client's name in messages; only configured names, because looking up others may take long.
    package func name(_ peer: PeerCredentials) -> String {
        let name = peer.user == 0 ? "root" : users?[peer.user]
        // The kernel's ID for accounts without a mapping into a user namespace, such as that of a service.
        let isUnseen = peer.user == 65_534 && name == nil
        return (name.map { "\($0), " } ?? "") + "uid \(peer.user)"
            + (isUnseen ? ", an account that this process cannot see," : "") + " pid \(peer.process)"
    }
}

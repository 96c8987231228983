import Glibc
import LinuxSystem

/// Who may connect.
package struct PeerPolicy: Sendable {
    /// The accounts that may, with their names; `nil` with no groups either is everybody.
    private let users: [UInt32: String]?
    private let groups: Set<UInt32>?
    private let own: UInt32

    /// Creates the policy of a configuration.
    ///
    /// - Parameters:
    ///   - settings: The configuration.
    ///   - own: The daemon's own account.
    /// - Throws: ``SocketServerError/unknownUser(_:)`` or ``SocketServerError/unknownGroup(_:)``.
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

    /// Whether somebody may connect: everybody whom the socket's file lets in, or else root, the daemon's own account, and
    /// those of the configuration.
    package func allows(_ peer: PeerCredentials) -> Bool {
        guard let users, let groups else { return true }
        return isTrusted(peer) || users[peer.user] != nil || !groups.isDisjoint(with: peer.groups)
    }

    /// Whether somebody may do with the daemon what they like anyway.
    package func isTrusted(_ peer: PeerCredentials) -> Bool {
        peer.user == 0 || peer.user == own
    }

    /// How messages call somebody; names are of the configuration, because looking others up could take long.
    package func name(_ peer: PeerCredentials) -> String {
        let name = peer.user == 0 ? "root" : users?[peer.user]
        // What the kernel says of accounts that this process cannot see, in a user namespace of a service for instance.
        let isUnseen = peer.user == 65_534 && name == nil
        return (name.map { "\($0), " } ?? "") + "uid \(peer.user)"
            + (isUnseen ? ", an account that this process cannot see," : "") + " pid \(peer.process)"
    }
}

/// The section `[socket]`: the socket for clients, and the clients that may connect.
package struct SocketSettings: Sendable, Equatable {
    package var path: String
    /// The permission bits of the socket's file; connecting requires write permission.
    package var mode: UInt32 = 0o660
    /// The group of the socket's file; `nil` for the daemon's.
    package var group: String?
    /// The accounts that may connect, by name; `nil` without groups admits every account that the file's mode admits.
    package var users: [String]?
    /// The groups whose members may connect, by name.
    package var groups: [String]?
    package var connectionLimit = 100
    /// The maximum number of connections of one account, except for root and the daemon's own.
    package var accountConnectionLimit = 25
    /// The number of further connections reserved for root and the daemon's own account.
    package var reservedPlaces = 8

    /// The maximum number of connections of one account, limited by the total.
    var accountLimit: Int { min(accountConnectionLimit, connectionLimit) }

    package init(path: String) {
        self.path = path
    }
}

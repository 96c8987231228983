/// `[socket]`: where others ask for events, and who may.
package struct SocketSettings: Sendable, Equatable {
    /// The socket's path.
    package var path: String
    /// The permission bits of the socket; who may write to it may connect.
    package var mode: UInt32 = 0o660
    /// The group that the socket is given to; `nil` leaves it with the daemon's.
    package var group: String?
    /// The accounts that may connect, by name; `nil` with no groups either is everybody whom the file's mode lets in.
    package var users: [String]?
    /// The groups whose members may connect, by name.
    package var groups: [String]?
    /// The most connections at a time.
    package var connectionLimit = 100
    /// The places beyond that, for root and the daemon's own account alone.
    package var reservedPlaces = 8

    /// Settings with the defaults.
    package init(path: String) {
        self.path = path
    }
}

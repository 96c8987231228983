/// How the socket server is, for `binnacle status`.
package struct SocketStatistics: Sendable, Equatable {
    /// One subscriber.
    package struct Subscriber: Sendable, Equatable {
        /// The account.
        package let user: UInt32
        /// The process that connected.
        package let process: Int32
        /// How many events it has still to be looked at for.
        package let behind: UInt64
        /// How many events it did not get, as far as that is known.
        package let missed: UInt64
    }

    /// The number of connections.
    package var connectionCount = 0
    /// Those among them that have subscribed.
    package var subscribers: [Subscriber] = []
    /// How many connections there were in all.
    package var acceptedCount: UInt64 = 0
    /// How many were refused, for want of a right or of room.
    package var refusedCount: UInt64 = 0
}

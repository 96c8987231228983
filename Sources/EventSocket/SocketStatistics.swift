/// The state of the socket server, for `binnacle status`.
package struct SocketStatistics: Sendable {
    package struct Subscriber: Sendable {
        package let peer: PeerCredentials
        /// The number of the last event considered for it.
        var sequence: UInt64
        /// The number of published events not yet considered for it, in ``SocketStatistics/subscribers``.
        package var behind: UInt64 = 0
        /// The number of missed events, as far as known.
        package var missed: UInt64 = 0
        /// The number of samples that it did not read in time.
        package var lostSamples: UInt64 = 0
    }

    /// The number of the newest event.
    var newest: UInt64 = 0
    package var connectionCount = 0
    /// The number of all connections so far.
    package var acceptedCount: UInt64 = 0
    /// The number of refused connections and requests.
    package var refusedCount: UInt64 = 0
    /// The subscribed connections, by their numbers.
    var subscribed: [UInt64: Subscriber] = [:]

    /// The subscribed connections, in the order of their numbers.
    package var subscribers: [Subscriber] {
        subscribed.sorted { $0.key < $1.key }.map { _, subscriber in
            var subscriber = subscriber
            subscriber.behind = newest > subscriber.sequence ? newest - subscriber.sequence : 0
            return subscriber
        }
    }
}

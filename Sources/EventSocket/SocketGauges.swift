/// The state of the server, for other threads.
struct SocketGauges: Sendable {
    /// The number of the newest event.
    var newest: UInt64 = 0
    var connectionCount = 0
    var acceptedCount: UInt64 = 0
    var refusedCount: UInt64 = 0
    var subscribers: [UInt64: Subscriber] = [:]

    struct Subscriber {
        let peer: PeerCredentials
        /// The number of the last event considered for it.
        var sequence: UInt64
        var missed: UInt64 = 0
        /// The number of samples that it did not read in time.
        var lostSamples: UInt64 = 0
    }

    var statistics: SocketStatistics {
        let subscribers = subscribers.sorted { $0.key < $1.key }.map { _, subscriber in
            SocketStatistics.Subscriber(
                user: subscriber.peer.user, process: subscriber.peer.process,
                behind: newest > subscriber.sequence ? newest - subscriber.sequence : 0, missed: subscriber.missed,
                lostSamples: subscriber.lostSamples)
        }
        return SocketStatistics(
            connectionCount: connectionCount, subscribers: subscribers, acceptedCount: acceptedCount,
            refusedCount: refusedCount)
    }
}

/// The state of the socket server, for `binnacle status`.
package struct SocketStatistics: Sendable, Equatable {
    package struct Subscriber: Sendable, Equatable {
        /// The account.
        package let user: UInt32
        /// The process that connected.
        package let process: Int32
        /// The number of published events not yet considered for it.
        package let behind: UInt64
        /// The number of missed events, as far as known.
        package let missed: UInt64
        /// The number of samples that it did not read in time.
        package let lostSamples: UInt64
    }

    /// The number of connections.
    package var connectionCount = 0
    /// The subscribed connections.
    package var subscribers: [Subscriber] = []
    /// The number of all connections so far.
    package var acceptedCount: UInt64 = 0
    /// The number of refused connections and requests.
    package var refusedCount: UInt64 = 0
}

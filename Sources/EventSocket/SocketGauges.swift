import Synchronization

/// The state of the server, for other threads.
final class SocketGauges: Sendable {
    struct State {
        var connectionCount = 0
        var acceptedCount: UInt64 = 0
        var refusedCount: UInt64 = 0
        var subscribers: [UInt64: SubscriberGauge] = [:]
    }

    /// The number of the newest event.
    let newest = Atomic<UInt64>(0)
    let state = Mutex(State())

    var statistics: SocketStatistics {
        let newest = newest.load(ordering: .relaxed)
        return state.withLock { state in
            let subscribers = state.subscribers.sorted { $0.key < $1.key }.map { _, gauge in
                let sequence = gauge.sequence.load(ordering: .relaxed)
                return SocketStatistics.Subscriber(
                    user: gauge.peer.user, process: gauge.peer.process,
                    behind: newest > sequence ? newest - sequence : 0, missed: gauge.missed.load(ordering: .relaxed))
            }
            return SocketStatistics(
                connectionCount: state.connectionCount, subscribers: subscribers, acceptedCount: state.acceptedCount,
                refusedCount: state.refusedCount)
        }
    }
}

/// The position of a subscriber, for other threads.
final class SubscriberGauge: Sendable {
    let peer: PeerCredentials
    /// The number of the last event that was considered for it.
    let sequence = Atomic<UInt64>(0)
    /// The number of missed events.
    let missed = Atomic<UInt64>(0)

    init(peer: PeerCredentials) {
        self.peer = peer
    }
}

/// The state of the socket server, for `binnacle status`.
package struct SocketStatistics: Sendable, Equatable {
    /// One subscriber.
    package struct Subscriber: Sendable, Equatable {
        /// The account.
        package let user: UInt32
        /// The process that connected.
        package let process: Int32
        /// The number of published events that were not considered for it yet.
        package let behind: UInt64
        /// The number of missed events, as far as it is known.
        package let missed: UInt64
    }

    /// The number of connections.
    package var connectionCount = 0
    /// The connections that have subscribed.
    package var subscribers: [Subscriber] = []
    /// The number of all connections so far.
    package var acceptedCount: UInt64 = 0
    /// The number of refused connections and requests.
    package var refusedCount: UInt64 = 0
}

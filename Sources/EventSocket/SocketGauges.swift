import Synchronization

/// How the server is, for whoever asks on another thread.
final class SocketGauges: Sendable {
    /// What the server's thread writes down.
    struct State {
        var connectionCount = 0
        var acceptedCount: UInt64 = 0
        var refusedCount: UInt64 = 0
        var subscribers: [UInt64: SubscriberGauge] = [:]
    }

    /// The number of the newest event.
    let newest = Atomic<UInt64>(0)
    /// What changes with connections.
    let state = Mutex(State())

    /// Creates gauges of a server without connections.
    init() {}

    /// How it is now.
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

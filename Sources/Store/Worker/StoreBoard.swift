import Synchronization

/// What the store's thread lets others know.
final class StoreBoard: Sendable {
    private struct State {
        var identity: String
        var statistics: EventStoreStatistics
        var hasStarted = false
    }

    private let state: Mutex<State>

    init(path: String) {
        // Until there is a file, the numbers belong to this process.
        state = Mutex(
            State(identity: StoreFile.randomIdentity(), statistics: EventStoreStatistics(path: path)))
    }

    /// What the numbers of the events belong to.
    var identity: String {
        get { state.withLock { $0.identity } }
        set { state.withLock { $0.identity = newValue } }
    }

    /// Whether it is known what the file holds, or why that cannot be known.
    var hasStarted: Bool {
        get { state.withLock { $0.hasStarted } }
        set { state.withLock { $0.hasStarted = newValue } }
    }

    /// How the store is.
    var statistics: EventStoreStatistics {
        get { state.withLock { $0.statistics } }
        set { state.withLock { $0.statistics = newValue } }
    }
}

import Binnacle
import Store

/// Gathers what the chains of a turn have for the store, so that an event and its deliveries are stored together.
final class StoreInlet {
    /// Keeps them.
    let store: EventStore
    private var group = EventGroup()

    /// Creates an inlet in which nothing is gathered.
    init(_ store: EventStore) {
        self.store = store
    }

    /// What an event goes to that is to be kept.
    var log: any EventHandler {
        ClosureHandler { [unowned self] in group.append($0) }
    }

    /// What an event goes to that a handler is to get.
    func lane(_ handler: String) -> any EventHandler {
        ClosureHandler { [unowned self] in group.submit($0, for: handler) }
    }

    /// Has the store take what was gathered; called at the end of each turn.
    func flush() {
        guard !group.isEmpty else { return }
        store.store(group)
        group = EventGroup()
    }
}

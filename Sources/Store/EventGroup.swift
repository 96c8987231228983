package import Binnacle

/// Events, and what handlers are to get for them: stored together, all of it or nothing.
///
/// An event that is in the file without what its handlers were to get would never reach them after a kill.
package struct EventGroup: Sendable {
    enum Entry: Sendable {
        case event(Event)
        case delivery(Event, handler: String)

        var event: Event {
            switch self {
            case .event(let event), .delivery(let event, _): event
            }
        }
    }

    private(set) var entries: [Entry] = []

    /// Creates a group of nothing.
    package init() {}

    /// Whether it holds nothing.
    package var isEmpty: Bool { entries.isEmpty }

    /// Adds an event for the log.
    package mutating func append(_ event: Event) {
        entries.append(.event(event))
    }

    /// Adds an event that a handler is to get.
    package mutating func submit(_ event: Event, for handler: String) {
        entries.append(.delivery(event, handler: handler))
    }
}

/// Gathers what the chains of a turn have for the store, so that an event and its deliveries are stored together.
package final class StoreInlet {
    /// Keeps them.
    package let store: EventStore
    private var group = EventGroup()

    /// Creates an inlet in which nothing is gathered.
    package init(_ store: EventStore) {
        self.store = store
    }

    /// What an event goes to that is to be kept.
    package var log: any EventHandler {
        ClosureHandler { [unowned self] in group.append($0) }
    }

    /// What an event goes to that a handler is to get.
    package func lane(_ handler: String) -> any EventHandler {
        ClosureHandler { [unowned self] in group.submit($0, for: handler) }
    }

    /// Has the store take what was gathered; called at the end of each turn.
    package func flush() {
        guard !group.isEmpty else { return }
        store.store(group)
        group = EventGroup()
    }
}

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

/// An event that one handler is to get: from the chain, through the store where there is one, to the worker.
package struct Delivery: Sendable {
    package let event: Event
    /// The handler; `nil` for the log of all events, and where it is known.
    package let handler: String?
    /// The number by which the store knows it, from 1, or 0 while no store keeps it; the tickets of one handler rise.
    package var ticket: Int64
    /// The event that its handler acknowledged last, in the first delivery to a handler; `nil` when no store knows one.
    package var previous: EventNumber?
    /// How often its handler had been disarmed when the worker took the event.
    package var disarmCount = 0
    /// Whether the event happened in an earlier run, so that it says nothing of the present state.
    package var isOfEarlierRun = false

    package init(event: Event, for handler: String? = nil, ticket: Int64 = 0) {
        self.event = event
        self.handler = handler
        self.ticket = ticket
    }

    /// Whether a store keeps it until it is acknowledged.
    package var isKept: Bool { ticket > 0 }
}

/// The number of an event, and the identity to which the number belongs.
package struct EventNumber: Sendable, Equatable {
    package let sequence: UInt64
    package let identity: String?

    package init(_ sequence: UInt64, of identity: String?) {
        self.sequence = sequence
        self.identity = identity
    }

    package init(_ event: Event) {
        self.init(event.sequence, of: event.identity)
    }
}

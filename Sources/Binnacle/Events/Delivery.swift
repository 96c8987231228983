/// An event that is kept until its handler says that it is done with it.
package struct Delivery: Sendable {
    /// The event.
    package let event: Event
    /// What it is known by; tickets of one handler rise.
    package let ticket: Int64
    /// The event that its handler acknowledged last, in the first delivery to a handler; `nil` when no store knows one.
    package var previous: EventNumber?

    /// Creates a delivery.
    package init(event: Event, ticket: Int64) {
        self.event = event
        self.ticket = ticket
    }
}

/// The number of an event, and the identity to which the number belongs.
package struct EventNumber: Sendable, Equatable {
    package let sequence: UInt64
    package let identity: String?

    /// Creates a number.
    package init(_ sequence: UInt64, of identity: String?) {
        self.sequence = sequence
        self.identity = identity
    }

    /// That of an event.
    package init(_ event: Event) {
        self.init(event.sequence, of: event.identity)
    }
}

/// An event that is kept until its handler says that it is done with it.
package struct Delivery: Sendable {
    /// The event.
    package let event: Event
    /// What it is known by; tickets of one handler rise.
    package let ticket: Int64

    /// Creates a delivery.
    package init(event: Event, ticket: Int64) {
        self.event = event
        self.ticket = ticket
    }
}

/// An event with the line that ``Event/json`` writes, which is written once for all who want it.
package struct PublishedEvent: Sendable {
    /// The event.
    package let event: Event
    /// Its line, without the line's end.
    package let json: String

    /// Writes the line of an event.
    package init(_ event: Event) {
        self.event = event
        json = event.json
    }
}

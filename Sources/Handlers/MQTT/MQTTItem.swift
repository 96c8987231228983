import Binnacle

/// An event that is to be published.
struct MQTTItem: Sendable {
    /// The event.
    let event: Event
    /// What the store knows it by; `nil` when no store keeps it.
    let ticket: Int64?
}

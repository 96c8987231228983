import Binnacle

/// What the store's thread is asked to do, in the order in which it is asked.
enum StoreRequest: Sendable {
    /// Store an event.
    case append(Event)
    /// Store a delivery.
    case submit(Event, handler: String)
    /// Give a handler its deliveries from now on.
    case attach(handler: String, limit: Int, deliver: @Sendable ([Delivery]) -> Void)
    /// Give a handler nothing more.
    case detach(handler: String)
    /// Forget what a handler is done with.
    case acknowledge(handler: String, ticket: Int64)
    /// Read events.
    case read(EventQuery, reply: @Sendable (EventPage) -> Void)
    /// Go by other settings.
    case change(EventStoreSettings)

    /// Whether it is one of those whose number is bounded.
    var isBounded: Bool {
        switch self {
        case .append, .submit: true
        case .attach, .detach, .acknowledge, .read, .change: false
        }
    }
}

import Binnacle

/// What the store's thread is asked to do, in the order in which it is asked.
enum StoreRequest: Sendable {
    /// Store events and deliveries, all of them or none.
    case store(EventGroup)
    /// Give a handler its deliveries from now on.
    case attach(handler: String, limit: Int, deliver: @Sendable ([Delivery]) -> Void)
    /// Give a handler nothing more.
    case detach(handler: String)
    /// Keep what waits for these handlers, whether they are there or not.
    case expect(Set<String>)
    /// Forget what a handler is done with.
    case acknowledge(handler: String, ticket: Int64)
    /// Read events.
    case read(EventQuery, reply: @Sendable (EventPage) -> Void)
    /// Go by other settings.
    case change(EventStoreSettings)

    /// How many events and deliveries it brings, whose number is bounded.
    var boundedCount: Int {
        switch self {
        case .store(let group): group.entries.count
        case .attach, .detach, .expect, .acknowledge, .read, .change: 0
        }
    }
}

import Binnacle

/// What the event thread has for the thread of the bus.
///
/// Of the readings only the last ones count. Each event counts: there is a limit, and what is beyond it is counted.
struct BusInbox: Sendable {
    private(set) var events: [Event] = []
    /// The number of events for which there was no room.
    private(set) var droppedCount = 0
    /// The readings, when they have changed.
    var readings: DesktopValues?
    /// Other settings.
    var settings: DBusSettings?
    /// The answer to a request for the status.
    var status: String?
    /// Whether the sensors of the machine have become known, and clients may ask for them.
    var isReady = false

    static let capacity = 1024

    mutating func publish(_ event: Event) {
        if events.count < Self.capacity { events.append(event) } else { droppedCount += 1 }
    }
}

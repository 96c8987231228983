import Binnacle

/// The messages of the event thread to the thread of the bus.
///
/// Of the readings only the last ones matter. Every event matters: there is a limit, beyond which they are dropped and counted.
struct BusInbox: Sendable {
    private(set) var events: [Event] = []
    private(set) var droppedCount = 0
    /// The readings, if changed.
    var readings: DesktopValues?
    /// The settings, if changed.
    var settings: DBusSettings?
    var status: String?
    /// Whether the machine's sensors are known, so that clients may ask for them.
    var isReady = false

    static let capacity = 1024

    mutating func publish(_ event: Event) {
        if events.count < Self.capacity { events.append(event) } else { droppedCount += 1 }
    }
}

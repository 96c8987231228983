import Binnacle

/// Counts events by kind, for the summary.
final class EventCounter: EventHandler {
    private(set) var counts: [EventKind: Int] = [:]

    func handle(_ event: Event) {
        counts[event.kind, default: 0] += 1
    }
}

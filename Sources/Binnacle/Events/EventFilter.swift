/// Which events a subscriber wants.
package struct EventFilter: Sendable, Equatable {
    /// The kinds; `nil` is all but those that repeat an ongoing state.
    package var kinds: Set<EventKind>?
    /// The names of the sensors; `nil` is all of them, and events that are about none.
    package var sensors: Set<String>?

    package init(kinds: Set<EventKind>? = nil, sensors: Set<String>? = nil) {
        self.kinds = kinds
        self.sensors = sensors
    }

    /// Whether it accepts every event, so that each missing number is a missed event.
    package var isOfAll: Bool { kinds == nil && sensors == nil }

    /// Whether an event is wanted.
    package func accepts(_ event: Event) -> Bool {
        guard event.kind.isAmong(kinds) else { return false }
        guard let sensors else { return true }
        return event.sensor.map(sensors.contains) ?? false
    }
}

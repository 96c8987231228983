/// Drops events between two local times of day, by their own wall time, and counts them.
package final class QuietHoursDecorator: EventDecorator {
    private let startMinute: Int
    private let endMinute: Int
    private let clock: (Event) -> Int?

    /// Creates a decorator.
    ///
    /// - Parameters:
    ///   - startMinute: The first quiet minute of the day, from 0 to 1439.
    ///   - endMinute: The first minute that is no longer quiet; before the start it lies on the next day.
    ///   - clock: The local minute of the day at an event; an event without one passes.
    package init(startMinute: Int, endMinute: Int, clock: @escaping (Event) -> Int?) {
        self.startMinute = startMinute
        self.endMinute = endMinute
        self.clock = clock
    }

    /// Forwards the event outside the quiet hours.
    package override func handle(_ event: Event) {
        guard let minute = clock(event) else { return super.handle(event) }
        let isQuiet =
            startMinute <= endMinute
            ? minute >= startMinute && minute < endMinute
            : minute >= startMinute || minute < endMinute
        guard !isQuiet else {
            droppedCount += 1
            return
        }
        super.handle(event)
    }
}

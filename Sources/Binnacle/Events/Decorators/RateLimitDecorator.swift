/// Passes at most a number of events in any minute of sample time, and drops the others, also the last of a series.
///
/// All kinds and detectors share the limit, because it protects the handler.
package final class RateLimitDecorator: EventDecorator {
    /// The stamps of the last events passed, in nanoseconds: at first it grows to `perMinute` stamps, then it is a ring that
    /// begins at `oldest`.
    private var passed: [Int64] = []
    private var oldest = 0
    private let perMinute: Int
    private static let minuteNanoseconds: Int64 = 60_000_000_000

    package init(perMinute: Int) {
        precondition(perMinute > 0, "a rate limit of \(perMinute) would pass nothing")
        self.perMinute = perMinute
    }

    /// Forwards the event when fewer than the limit were passed in the minute before it.
    ///
    /// An event exactly a minute earlier does not count.
    package override func handle(_ event: Event) {
        if passed.count < perMinute {
            passed.append(event.timeNanoseconds)
        } else {
            guard event.timeNanoseconds >= Units.later(passed[oldest], by: Self.minuteNanoseconds) else {
                droppedCount += 1
                return
            }
            passed[oldest] = event.timeNanoseconds
            oldest = (oldest + 1) % perMinute
        }
        super.handle(event)
    }
}

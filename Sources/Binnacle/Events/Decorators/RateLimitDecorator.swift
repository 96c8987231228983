/// Passes at most a number of events in any minute; what is above the limit is dropped and counted.
package final class RateLimitDecorator: EventDecorator {
    /// The number of events dropped so far.
    package private(set) var droppedCount = 0

    /// The times of the events passed last, oldest first from `oldest` on; a ring of `perMinute` places.
    private var passed: [Int64] = []
    private var oldest = 0
    private let perMinute: Int
    private static let minuteNanoseconds: Int64 = 60_000_000_000

    /// Creates a decorator for the most events in any minute of their own time, at least 1.
    package init(perMinute: Int) {
        precondition(perMinute > 0, "a rate limit of \(perMinute) would pass nothing")
        self.perMinute = perMinute
    }

    /// Forwards the event when fewer than the limit were passed in the minute before it.
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

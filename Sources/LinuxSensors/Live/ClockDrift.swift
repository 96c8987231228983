/// Finds how a device's own clock runs away from CLOCK_MONOTONIC, by the times at which its samples arrive.
///
/// A quartz is off by 10 to 100 millionths, up to 9 s a day. A sample may be read late but never early, so the least lateness of
/// many is that of one that nothing delayed, and it stays the same unless the clock runs differently.
struct ClockDrift {
    /// The result of a window.
    enum Step {
        /// What to add to later stamps.
        case nanoseconds(Int64)
        /// The stamps do not advance as time does: they are of no clock, or in another unit.
        case implausible
    }

    private var endNanoseconds: Int64?
    private var leastNanoseconds = Int64.max
    /// The least lateness of the first window, which is kept, and the end of that window.
    private var usual: (latenessNanoseconds: Int64, endNanoseconds: Int64)?

    private static let windowNanoseconds: Int64 = 1_000_000_000
    /// The most for one window, 100 millionths: little beside the distance of two samples.
    private static let mostNanoseconds: Int64 = 100_000
    /// A clock is judged once this has passed since the first window: a machine that is busy reads a whole window late.
    private static let judgedNanoseconds: Int64 = 5_000_000_000

    /// What follows from a sample with a stamp that has arrived; `nil` within a window.
    mutating func step(_ time: Int64, _ arrival: Int64) -> Step? {
        leastNanoseconds = min(leastNanoseconds, arrival - time)
        guard let end = endNanoseconds, arrival < end else {
            let isFirst = endNanoseconds == nil
            endNanoseconds = arrival + Self.windowNanoseconds
            return isFirst ? nil : endWindow(at: arrival)
        }
        return nil
    }

    private mutating func endWindow(at arrival: Int64) -> Step? {
        defer { leastNanoseconds = .max }
        guard let usual else {
            usual = (max(0, leastNanoseconds), arrival)
            return nil
        }
        let change = leastNanoseconds - usual.latenessNanoseconds
        let elapsed = arrival - usual.endNanoseconds
        // Microseconds taken for nanoseconds fall behind by all of the time that passes.
        if elapsed > Self.judgedNanoseconds, abs(change) > elapsed / 2 { return .implausible }
        return .nanoseconds(max(-Self.mostNanoseconds, min(change, Self.mostNanoseconds)))
    }
}

/// Finds how a device's own clock runs away from CLOCK_MONOTONIC, by the times at which its samples arrive.
///
/// A quartz is off by 10 to 100 millionths, up to 9 s a day. A sample may be read late but never early, so the least lateness of
/// many is that of one that nothing delayed, and it stays the same unless the clock runs differently.
struct ClockDrift {
    private var endNanoseconds: Int64?
    private var leastNanoseconds = Int64.max
    /// The least lateness of the first window, which is kept.
    private var usualNanoseconds: Int64?

    private static let windowNanoseconds: Int64 = 1_000_000_000
    /// The most for one window, 100 millionths: little beside the distance of two samples.
    private static let mostNanoseconds: Int64 = 100_000

    /// What to add to later stamps, when a sample with a stamp has arrived; `nil` within a window.
    mutating func step(_ time: Int64, _ arrival: Int64) -> Int64? {
        leastNanoseconds = min(leastNanoseconds, arrival - time)
        guard let end = endNanoseconds, arrival < end else {
            let isFirst = endNanoseconds == nil
            endNanoseconds = arrival + Self.windowNanoseconds
            return isFirst ? nil : endWindow()
        }
        return nil
    }

    private mutating func endWindow() -> Int64? {
        defer { leastNanoseconds = .max }
        guard let usual = usualNanoseconds else {
            usualNanoseconds = max(0, leastNanoseconds)
            return nil
        }
        return max(-Self.mostNanoseconds, min(leastNanoseconds - usual, Self.mostNanoseconds))
    }
}

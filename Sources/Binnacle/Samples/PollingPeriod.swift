/// How long samples collect before they are read, so that one wake-up serves many samples and all sensors.
///
/// A period is 50 ms times a power of two and ends at multiples of itself on CLOCK_MONOTONIC, so the end of a long one is also
/// the end of each shorter one, and sensors with different latencies are read at the same wake-up.
package struct PollingPeriod: Equatable, Sendable {
    package let nanoseconds: Int64
    /// The number of samples in a period, at least 2.
    package let sampleCount: Int

    private static let unit: Int64 = 50_000_000
    /// Below a millisecond there is no gain, and epoll cannot wait.
    private static let shortest: Int64 = 1_000_000
    /// The limit for samples without stamps: the time of their reading becomes their stamp.
    private static let longestUnstamped: Int64 = 10_000_000

    /// The longest period that a latency allows; `nil` when samples are read singly, because a period would have less than two.
    package init?(latency: Duration, rateHz: Double, isStamped: Bool) {
        var allowed = Units.nanoseconds(latency)
        if !isStamped { allowed = min(allowed, Self.longestUnstamped) }
        guard allowed >= Self.shortest else { return nil }
        var period = Self.unit
        while period > allowed { period /= 2 }
        while period <= allowed / 2 { period *= 2 }
        let count = rateHz * Double(period) * 1e-9
        guard period >= Self.shortest, count > 1 else { return nil }
        nanoseconds = period
        sampleCount = max(2, Int(min(count, 1e6)))
    }

    /// The end of the period that contains a time, both on CLOCK_MONOTONIC.
    package func end(after timeNanoseconds: Int64) -> Int64 { (timeNanoseconds / nanoseconds + 1) * nanoseconds }
}

import Binnacle

/// When what is left of a handler's work ends: times on the monotonic clock, in nanoseconds.
struct MQTTStop: Sendable {
    /// Until then events are published.
    let drainTime: Int64
    /// Until then the broker may acknowledge what was published, and that the handler is offline.
    let endTime: Int64

    /// Creates a stop.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - duration: How long it may take in all.
    init(now: Int64, within duration: Duration) {
        let total = max(0, Units.nanoseconds(duration))
        drainTime = Units.later(now, by: total / 4 * 3)
        endTime = Units.later(now, by: total)
    }
}

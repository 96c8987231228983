import Binnacle

/// When what is left of a supervisor's work ends: times on the monotonic clock.
struct CommandStop: Sendable {
    /// Why it stops, as a part of a sentence.
    let reason: String
    /// Until then work goes on; then programs are asked to end, and no other is started.
    let askTime: Int64
    /// When programs that are still there are killed.
    let killTime: Int64
    /// When nobody waits any longer, because a program is out of a signal's reach.
    let endTime: Int64

    /// Creates a stop.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - nanoseconds: How long it may take in all: half of it for work to end by itself, most of the rest for programs
    ///     that were asked to end. Without any, programs are killed at once, and a second is left for them to be gone.
    ///   - reason: Why, as a part of a sentence.
    init(now: Int64, within nanoseconds: Int64, reason: String) {
        self.reason = reason
        let total = max(0, nanoseconds)
        askTime = Units.later(now, by: total / 2)
        killTime = Units.later(now, by: total / 10 * 9)
        endTime = Units.later(now, by: total == 0 ? 1_000_000_000 : total)
    }

    /// The next of its times; `nil` when all have come.
    func nextTime(after now: Int64) -> Int64? {
        [askTime, killTime, endTime].first { $0 > now }
    }
}

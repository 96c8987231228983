import Binnacle
import LinuxSystem

extension CommandHandler: ThreadedHandler {
    /// Takes no more events; for half of the time programs go on and are started, then they are asked to end.
    package func end(within duration: Duration) {
        requestStop(within: duration)
    }

    /// Waits until no program is left, after ``end(within:)``.
    ///
    /// - Parameter deadlineNanoseconds: The longest wait, on CLOCK_MONOTONIC.
    /// - Returns: The number of events that no program was run for.
    package func waitForEnd(until deadlineNanoseconds: Int64) -> Int {
        while !hasEnded {
            let left = deadlineNanoseconds - SystemClock.monotonic()
            guard left > 0 else { break }
            waitForChange(atMostMilliseconds: Int32(min((left + 999_999) / 1_000_000, 1000)))
        }
        return unrunCount
    }
}

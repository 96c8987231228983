import Glibc

/// The kernel's clocks, in nanoseconds.
package enum SystemClock {
    /// CLOCK_MONOTONIC: the clock of every stamp; it stands still while the machine is suspended.
    package static func monotonic() -> Int64 { read(CLOCK_MONOTONIC) }

    /// CLOCK_REALTIME.
    package static func realtime() -> Int64 { read(CLOCK_REALTIME) }

    /// The processor time that the calling thread has had: it stands still while something else runs.
    package static func threadTime() -> Int64 { read(CLOCK_THREAD_CPUTIME_ID) }

    /// How long the machine has been suspended since it was started.
    package static func suspended() -> Int64 { read(CLOCK_BOOTTIME) - read(CLOCK_MONOTONIC) }

    /// How long to wait for a time, in the milliseconds that poll(2) takes.
    ///
    /// Rounded up, or the last millisecond would be spent asking again and again.
    ///
    /// - Parameters:
    ///   - deadlineNanoseconds: The time, on CLOCK_MONOTONIC.
    ///   - nowNanoseconds: What time it is.
    ///   - most: The longest wait; who is woken too early asks and waits again.
    /// - Returns: 0 for a time that has come.
    package static func milliseconds(
        until deadlineNanoseconds: Int64, from nowNanoseconds: Int64 = monotonic(), atMost most: Int32 = 3_600_000
    ) -> Int32 {
        guard deadlineNanoseconds > nowNanoseconds else { return 0 }
        let left = min(deadlineNanoseconds - nowNanoseconds, Int64(most) * 1_000_000)
        return Int32((left + 999_999) / 1_000_000)
    }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

import Glibc

/// The kernel's clocks, in nanoseconds.
package enum SystemClock {
    /// CLOCK_MONOTONIC, the clock of every stamp; it stops while the machine is suspended.
    package static func monotonic() -> Int64 { read(CLOCK_MONOTONIC) }

    package static func realtime() -> Int64 { read(CLOCK_REALTIME) }

    /// The processor time of the calling thread.
    package static func threadTime() -> Int64 { read(CLOCK_THREAD_CPUTIME_ID) }

    /// The total time for which the machine was suspended since its start.
    package static func suspended() -> Int64 { read(CLOCK_BOOTTIME) - read(CLOCK_MONOTONIC) }

    /// The time until a deadline for poll(2), rounded up, so that the last millisecond is not spent polling; 0 if it has passed.
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
        // A time after the year 2262 is clamped to the last nanosecond of 64 bits.
        let (seconds, isTooLate) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        let (nanoseconds, isBeyond) = seconds.addingReportingOverflow(Int64(time.tv_nsec))
        return isTooLate || isBeyond ? .max : nanoseconds
    }
}

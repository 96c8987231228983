import Glibc

/// The kernel's clocks, in nanoseconds.
package enum SystemClock {
    /// CLOCK_MONOTONIC: the clock of every stamp; it stands still while the machine is suspended.
    package static func monotonic() -> Int64 { read(CLOCK_MONOTONIC) }

    /// CLOCK_REALTIME.
    package static func realtime() -> Int64 { read(CLOCK_REALTIME) }

    /// How long the machine has been suspended since it was started.
    package static func suspended() -> Int64 { read(CLOCK_BOOTTIME) - read(CLOCK_MONOTONIC) }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

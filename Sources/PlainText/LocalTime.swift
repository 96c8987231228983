package import Glibc
import Synchronization

/// The wall clock time in the machine's time zone, from `TZ` or /etc/localtime.
package enum LocalTime {
    private static let second: Int64 = 1_000_000_000
    /// The second on CLOCK_MONOTONIC in which the time zone was last read.
    private static let readSecond = Atomic<Int>(-1)

    /// The fields of a time in seconds since 1970.
    ///
    /// The zone of a machine that travels changes while a daemon runs, and `localtime_r` reads it only once: `tzset` looks whether
    /// the file is another, which takes a system call, so it does this once a second.
    package static func fields(_ seconds: time_t) -> tm {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &now)
        if readSecond.exchange(now.tv_sec, ordering: .relaxed) != now.tv_sec { tzset() }
        var (seconds, local) = (seconds, tm())
        localtime_r(&seconds, &local)
        return local
    }

    /// Minutes since midnight at a time in nanoseconds since 1970.
    package static func minuteOfDay(at nanoseconds: Int64) -> Int {
        let local = fields(time_t(nanoseconds / second))
        return Int(local.tm_hour) * 60 + Int(local.tm_min)
    }

    /// Formats a time in nanoseconds since 1970, without leap seconds, to the millisecond: `2026-11-21 13:45:44.000` (23
    /// characters).
    package static func text(_ nanoseconds: Int64) -> String {
        let local = fields(time_t(nanoseconds.flooredDivision(by: second).quotient))
        let shifted = Int64(clamping: Int128(nanoseconds) + Int128(local.tm_gmtoff) * Int128(second))
        return String(WallTime.text(shifted).prefix(23).map { $0 == "T" ? " " : $0 })
    }

    /// Parses the formats of ``WallTime/nanoseconds(_:)`` as local time; `nil` for other texts.
    ///
    /// When clocks are set back, an hour is there twice: the earlier time is meant unless `isLater` is set. A time that is
    /// skipped when they are set forward gives the moment of that.
    package static func nanoseconds(_ text: String, isLater: Bool = false) -> Int64? {
        guard let asUTC = WallTime.nanoseconds(text) else { return nil }
        let (whole, remainder) = asUTC.flooredDivision(by: second)
        func offset(_ seconds: Int64) -> Int64 { Int64(fields(time_t(seconds)).tm_gmtoff) }
        // No offset from UTC is a day long. `mktime` would find both times only where one of them is summer time.
        var (before, after) = (whole - 86_400, whole + 86_400)
        let offsets = [offset(before), offset(after)]
        let times = offsets.filter { offset(whole - $0) == $0 }.map { whole - $0 }
        if let time = isLater ? times.max() : times.min() {
            return Int64(clamping: Int128(time) * Int128(second) + Int128(remainder))
        }
        while after - before > 1 {
            let middle = (before + after) / 2
            if offset(middle) == offsets[0] { before = middle } else { after = middle }
        }
        return Int64(clamping: Int128(after) * Int128(second))
    }
}

import Glibc

/// The wall clock time in the machine's time zone, from `TZ` or /etc/localtime.
package enum LocalTime {
    private static let second: Int64 = 1_000_000_000

    /// Formats a time in nanoseconds since 1970, without leap seconds, to the millisecond: `2026-11-21 13:45:44.000` (23
    /// characters).
    package static func text(_ nanoseconds: Int64) -> String {
        var seconds = time_t(nanoseconds.flooredDivision(by: second).quotient)
        var local = tm()
        localtime_r(&seconds, &local)
        let shifted = Int64(clamping: Int128(nanoseconds) + Int128(local.tm_gmtoff) * Int128(second))
        return String(WallTime.text(shifted).prefix(23).map { $0 == "T" ? " " : $0 })
    }

    /// Parses the formats of ``WallTime/nanoseconds(_:)`` as local time; `nil` when the time does not exist.
    package static func nanoseconds(_ text: String) -> Int64? {
        guard let asUTC = WallTime.nanoseconds(text) else { return nil }
        let (whole, remainder) = asUTC.flooredDivision(by: second)
        var seconds = time_t(whole)
        var fields = tm()
        gmtime_r(&seconds, &fields)
        // The zone's rules decide whether it is summer time.
        fields.tm_isdst = -1
        return Int64(clamping: Int128(mktime(&fields)) * Int128(second) + Int128(remainder))
    }
}

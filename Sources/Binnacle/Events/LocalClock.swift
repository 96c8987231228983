import Glibc
import PlainText

/// The local time of day.
enum LocalClock {
    /// The time in nanoseconds since 1970, to the second.
    static func now() -> Int64 { Int64(time(nil)) * 1_000_000_000 }

    /// Minutes since local midnight at a time in nanoseconds since 1970.
    static func minuteOfDay(at nanoseconds: Int64) -> Int {
        let local = LocalTime.fields(time_t(nanoseconds / 1_000_000_000))
        return Int(local.tm_hour) * 60 + Int(local.tm_min)
    }
}

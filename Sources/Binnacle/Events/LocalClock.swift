import Glibc

/// The local time of day.
enum LocalClock {
    /// Minutes since local midnight.
    static func minuteOfDay() -> Int {
        var now = time(nil)
        var local = tm()
        localtime_r(&now, &local)
        return Int(local.tm_hour) * 60 + Int(local.tm_min)
    }
}

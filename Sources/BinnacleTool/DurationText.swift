import PlainText

/// Durations as a number and a unit.
enum DurationText {
    /// Parses `500ms`, `10s`, `1.5m` or `1h`; `nil` for other texts and for more than a century.
    static func parse(_ text: String) -> Duration? {
        let nanoseconds = nanoseconds(text, ["ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9])?.rounded()
        return nanoseconds.flatMap { $0 < 3.2e18 ? .nanoseconds(Int64($0)) : nil }
    }

    /// Parses a start time, in nanoseconds since 1970: a duration before now, as in `10m`, `2h` or `3d`, or a day with
    /// an optional time, as in `2026-11-21` or `2026-11-21T12:45`.
    ///
    /// The time is local unless `isUTC` is set or the text ends with `Z` or an offset such as `+02:00`; of two local times, as when
    /// clocks are set back, `isLater` takes the later. `nil` for other texts.
    static func start(_ text: String, now: Int64, isUTC: Bool, isLater: Bool) -> Int64? {
        if let distance = nanoseconds(text, ["s": 1e9, "m": 60e9, "h": 3600e9, "d": 86_400e9]) {
            return distance < 9e18 ? now - Int64(distance) : nil
        }
        let time = String(text.map { $0 == " " ? "T" : $0 })
        if let (place, seconds) = offset(time) {
            return WallTime.nanoseconds(String(time[..<place])).map { $0 - seconds * 1_000_000_000 }
        }
        return isUTC || time.hasSuffix("Z") ? WallTime.nanoseconds(time) : LocalTime.nanoseconds(time, isLater: isLater)
    }

    /// The offset from UTC behind a time of day, in seconds: `+02:00` or `-0330`, and where it begins.
    private static func offset(_ time: String) -> (place: String.Index, seconds: Int64)? {
        guard let start = time.firstIndex(of: "T"), let place = time[start...].lastIndex(where: { "+-".contains($0) })
        else { return nil }
        let digits = time[place...].dropFirst().filter { $0 != ":" }
        guard digits.utf8.count == 4, let number = Int64(digits), number % 100 < 60, number < 2400 else { return nil }
        let seconds = number / 100 * 3600 + number % 100 * 60
        return (place, time[place] == "-" ? -seconds : seconds)
    }

    /// Parses a number followed by a unit, in nanoseconds.
    private static func nanoseconds(_ text: String, _ units: KeyValuePairs<String, Double>) -> Double? {
        for (suffix, nanoseconds) in units where text.hasSuffix(suffix) {
            let digits = text.dropLast(suffix.count)
            guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }), let number = Double(digits)
            else { continue }
            return number * nanoseconds
        }
        return nil
    }

    /// Formats a duration: `0.3 s`, `45 s`, `12 min`, `5.2 h`, `3.1 days`.
    static func text(_ seconds: Double) -> String {
        switch seconds {
        case ..<10: return seconds.text(1) + " s"
        case ..<120: return seconds.text(0) + " s"
        case ..<7200: return (seconds / 60).text(0) + " min"
        case ..<172_800: return (seconds / 3600).text(1) + " h"
        default: return (seconds / 86_400).text(1) + " days"
        }
    }
}

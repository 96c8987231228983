import Binnacle
import PlainText

/// The start of a selection of events, as text.
enum SinceText {
    private static let seconds: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]

    /// Parses `10m`, `2h` or `3d` as a time before now, and `2026-11-21` or `2026-11-21T12:45` as local time.
    ///
    /// - Parameters:
    ///   - text: The text; day and time may be separated by a blank. A `Z` at its end stands for UTC.
    ///   - now: The time, in nanoseconds since 1970.
    ///   - isUTC: Whether it is UTC also without the `Z`.
    /// - Returns: Nanoseconds since 1970; `nil` for other texts.
    static func nanoseconds(_ text: String, now: Int64, isUTC: Bool) -> Int64? {
        if let unit = text.last, let factor = seconds[unit] {
            let digits = text.dropLast()
            guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }), let number = Double(digits)
            else { return nil }
            let distance = number * factor * 1e9
            return distance < 9e18 ? now - Int64(distance) : nil
        }
        let time = String(text.map { $0 == " " ? "T" : $0 })
        return isUTC || time.hasSuffix("Z") ? WallTime.nanoseconds(time) : LocalTime.nanoseconds(time)
    }
}

import Binnacle
import Geomagnetism
import LinuxSystem
import PlainText

/// A day of the calendar in UTC, as people write it: `2026-11-21`.
package struct Day: Sendable, Equatable, CustomStringConvertible {
    /// The day as text.
    package let description: String
    /// The day's beginning as the decimal year in which models of the field count.
    package let decimalYear: Double

    private static let count = 10
    private static let nanoseconds: Int64 = 86_400_000_000_000

    /// Reads a day; fails when there is no such day.
    package init?(_ text: String) {
        guard text.utf8.count == Self.count, let day = WallTime.nanoseconds(text), let year = Int(text.prefix(4)),
            let newYear = WallTime.nanoseconds("\(text.prefix(4))-01-01")
        else { return nil }
        description = text
        decimalYear = DecimalYear.of(year: year, dayOfYear: Int((day - newYear) / Self.nanoseconds) + 1)
    }

    /// The day that it is; `nil` when the clock is beyond all calendars.
    package static var today: Day? {
        Day(String(WallTime.text(SystemClock.realtime()).prefix(count)))
    }
}

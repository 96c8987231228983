import Geomagnetism
import LinuxSystem
import PlainText

/// A calendar day in UTC, written as `2026-11-21`.
package struct Day: Sendable, Equatable, CustomStringConvertible {
    package let description: String
    /// As a year with a fraction.
    package let decimalYear: Double

    private static let count = 10
    private static let nanoseconds: Int64 = 86_400_000_000_000

    /// Parses a day; `nil` when it does not exist.
    package init?(_ text: String) {
        guard text.utf8.count == Self.count, let day = WallTime.nanoseconds(text), let year = Int(text.prefix(4)),
            let newYear = WallTime.nanoseconds("\(text.prefix(4))-01-01")
        else { return nil }
        description = text
        decimalYear = DecimalYear.of(year: year, dayOfYear: Int((day - newYear) / Self.nanoseconds) + 1)
    }

    /// The current day; `nil` when the clock's year does not have four digits.
    package static var today: Day? {
        Day(String(WallTime.text(SystemClock.realtime()).prefix(count)))
    }
}

/// The wall clock's time as text, without Foundation.
public enum WallTime {
    /// Writes a time in UTC as ISO 8601 has it, to the microsecond: `2026-11-21T12:45:44.000123Z`.
    ///
    /// The date is found with Howard Hinnant's `civil_from_days`, which is exact for every day that 64 bits can name
    /// (https://howardhinnant.github.io/date_algorithms.html).
    ///
    /// - Parameter nanoseconds: Since the beginning of 1970, without leap seconds.
    /// - Returns: The text; 27 characters for the years 0 to 9999.
    public static func text(_ nanoseconds: Int64) -> String {
        let (days, ofDay) = nanoseconds.flooredDivision(by: 86_400_000_000_000)
        // Days are counted from 1 March of the year 0, so that the leap day is a year's last.
        let (era, dayOfEra) = (days + 719_468).flooredDivision(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let seconds = ofDay / 1_000_000_000
        let date = "\(year.padded(4))-\(month.padded(2))-\(day.padded(2))"
        let time = "\((seconds / 3600).padded(2)):\((seconds / 60 % 60).padded(2)):\((seconds % 60).padded(2))"
        return "\(date)T\(time).\((ofDay / 1000 % 1_000_000).padded(6))Z"
    }
}

extension Int64 {
    fileprivate func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    fileprivate func padded(_ width: Int) -> String {
        let digits = String(self)
        return String(repeating: "0", count: Swift.max(0, width - digits.count)) + digits
    }
}

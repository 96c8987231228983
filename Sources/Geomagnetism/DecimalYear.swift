/// Days as the decimal years in which models count.
package enum DecimalYear {
    /// A day's beginning as a decimal year: the year, and the share of its days that have passed.
    ///
    /// - Parameters:
    ///   - year: The year, in the Gregorian calendar.
    ///   - dayOfYear: The day, 1 for the first of January.
    /// - Returns: Such as 2026.5.
    package static func of(year: Int, dayOfYear: Int) -> Double {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return Double(year) + Double(dayOfYear - 1) / (isLeap ? 366 : 365)
    }
}

/// Days as the decimal years in which models count.
package enum DecimalYear {
    /// A day's beginning as a decimal year, such as 2026.5: the year in the Gregorian calendar, and the share of its days, the
    /// first of which is 1, that have passed.
    package static func of(year: Int, dayOfYear: Int) -> Double {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return Double(year) + Double(dayOfYear - 1) / (isLeap ? 366 : 365)
    }
}

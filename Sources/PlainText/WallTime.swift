/// The wall clock time as text, without Foundation.
package enum WallTime {
    /// Formats a time in nanoseconds since 1970, without leap seconds, as ISO 8601 in UTC to the microsecond:
    /// `2026-11-21T12:45:44.000123Z` (27 characters).
    ///
    /// The date is computed with Howard Hinnant's `civil_from_days`, which is exact for every day that 64 bits can express
    /// (https://howardhinnant.github.io/date_algorithms.html).
    package static func text(_ nanoseconds: Int64) -> String {
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
        // 64 bits of nanoseconds cover only years of four digits.
        var text = Array("0000-00-00T00:00:00.000000Z".utf8)
        let numbers = [
            (year, 0..<4), (month, 5..<7), (day, 8..<10), (seconds / 3600, 11..<13), (seconds / 60 % 60, 14..<16),
            (seconds % 60, 17..<19), (ofDay / 1000 % 1_000_000, 20..<26),
        ]
        for (number, places) in numbers {
            var rest = number
            for place in places.reversed() {
                text[place] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The days from 1970 to a date of the Gregorian calendar, with Howard Hinnant's `days_from_civil`.
    package static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let yearFromMarch = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = yearFromMarch.flooredDivision(by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Parses the format of ``text(_:)`` or a prefix of it (`2026-11-21`, `2026-11-21T12:45Z`), with one to nine decimals of the
    /// second, always UTC: whatever it writes is read.
    package static func nanoseconds(_ text: String) -> Int64? {
        var rest = text.utf8[...]
        if rest.last == UInt8(ascii: "Z") { rest.removeLast() }
        guard let year = rest.consumeNumber(digits: 4), (1677...2262).contains(year),
            let month = rest.consumeNumber(digits: 2, after: "-"), (1...12).contains(month),
            let day = rest.consumeNumber(digits: 2, after: "-"), (1...31).contains(day)
        else { return nil }
        var ofDay: Int64 = 0
        if !rest.isEmpty {
            guard let hour = rest.consumeNumber(digits: 2, after: "T"), hour < 24,
                let minute = rest.consumeNumber(digits: 2, after: ":"), minute < 60
            else { return nil }
            ofDay = (hour * 60 + minute) * 60_000_000_000
        }
        if !rest.isEmpty {
            guard let second = rest.consumeNumber(digits: 2, after: ":"), second < 60 else { return nil }
            ofDay += second * 1_000_000_000
        }
        if !rest.isEmpty {
            let digits = rest.count - 1
            guard (1...9).contains(digits), let fraction = rest.consumeNumber(digits: digits, after: ".") else {
                return nil
            }
            ofDay += (digits..<9).reduce(fraction) { value, _ in value * 10 }
        }
        guard rest.isEmpty else { return nil }
        // The first and the last day are not whole.
        let time = Int64(clamping: Int128(days(year, month, day)) * 86_400_000_000_000 + Int128(ofDay))
        // A date that does not exist, such as 31 February or the last one of 2262, results in another one.
        return Self.text(time).utf8.prefix(10).elementsEqual(text.utf8.prefix(10)) ? time : nil
    }
}

extension Substring.UTF8View {
    /// Parses a number with this number of digits, and the separator before it.
    fileprivate mutating func consumeNumber(digits: Int, after separator: Unicode.Scalar? = nil) -> Int64? {
        if let separator {
            guard first == UInt8(ascii: separator) else { return nil }
            removeFirst()
        }
        var number: Int64 = 0
        for _ in 0..<digits {
            guard let byte = first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            number = number * 10 + Int64(byte - UInt8(ascii: "0"))
            removeFirst()
        }
        return number
    }
}

extension Int64 {
    func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

import PlainText

/// Parses times of a clock as text, such as `2018-08-06 15:01:06:525`, `13.05.2019 08:45:17,5` or
/// `2024-10-17T19:22:22.123+02:00`, without allocating; also durations, as pandas and Python write them.
///
/// A date may begin or end with the year, or be missing, or be the field before; months may have English names. The fraction
/// follows a point, a comma or a colon. A zone is applied when it is a number; UTC and GMT are none.
struct ClockTime {
    /// Nanoseconds since 1970, or since midnight when there is no date.
    let nanoseconds: Int64
    let hasDate: Bool
    /// Whether it states its zone.
    var hasZone = false
    /// The unit of a fraction behind a colon or an underscore, in nanoseconds; 0 without one.
    var fractionUnit: Int64 = 0
}

extension ClockTime {
    /// Parses the whole text; `nil` when it is not a time, or has a date in another order.
    ///
    /// Without an order, the month is taken to be first before a slash, and the day before other signs, unless that is
    /// impossible.
    init?(_ text: UnsafeBufferPointer<UInt8>, order: DateOrder? = nil) {
        var reader = Reader(text, order: order)
        guard let result = reader.read() else { return nil }
        self = result
    }

    /// Whether a text begins with a year, as in `2300-01-01`, whose nanoseconds since 1970 no 64 bits hold.
    static func isBeyond(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let digits = text.drop { $0 == 0x20 || $0 == UInt8(ascii: "\"") }.prefix { $0 &- 0x30 < 10 }
        guard digits.count == 4, digits.endIndex < text.endIndex, [0x2D, 0x2F, 0x2E].contains(text[digits.endIndex]),
            let year = Int(String(decoding: digits, as: UTF8.self))
        else { return false }
        return !(1678...2261).contains(year)
    }

    static func isBeyond(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { isBeyond($0) }
    }

    init?(_ text: String, order: DateOrder? = nil) {
        var text = text
        guard let result = text.withUTF8({ ClockTime($0, order: order) }) else { return nil }
        self = result
    }

    private struct Reader {
        private let text: UnsafeBufferPointer<UInt8>
        private let order: DateOrder?
        private var place = 0
        private var hasZone = false
        private var fractionUnit: Int64 = 0

        init(_ text: UnsafeBufferPointer<UInt8>, order: DateOrder?) {
            self.text = text
            self.order = order
        }

        private var next: UInt8 { place < text.count ? text[place] : 0 }

        private mutating func consume(_ byte: UInt8) -> Bool {
            guard next == byte else { return false }
            place += 1
            return true
        }

        /// Skips blanks, also the narrow ones that many programs write before AM and PM.
        private mutating func skipBlanks() {
            let narrow: (UInt8, UInt8, UInt8) = (0xE2, 0x80, 0xAF)
            while true {
                if next == 0x20 {
                    place += 1
                } else if place + 2 < text.count, (text[place], text[place + 1], text[place + 2]) == narrow {
                    place += 3
                } else {
                    return
                }
            }
        }

        private mutating func number(most: Int = 9) -> (value: Int64, digits: Int)? {
            var value: Int64 = 0
            var digits = 0
            while digits < most, next &- 0x30 < 10 {
                value = value * 10 + Int64(next - 0x30)
                digits += 1
                place += 1
            }
            return digits > 0 ? (value, digits) : nil
        }

        mutating func read() -> ClockTime? {
            let days = elapsedDays() ?? date()
            if days != nil {
                let start = place
                while Self.isSeparator(next) { place += 1 }
                // A date alone means its midnight.
                guard (place > start) != (place == text.count) else { return nil }
            } else {
                place = 0
            }
            let isDateAlone = days != nil && place == text.count
            guard let time = isDateAlone ? 0 : timeOfDay(), let zone = zone(), place == text.count else { return nil }
            let seconds = (days ?? 0) * 86_400 - zone
            return ClockTime(
                nanoseconds: seconds * 1_000_000_000 + time, hasDate: days != nil, hasZone: hasZone,
                fractionUnit: fractionUnit)
        }

        /// Whether a byte may stand between a date and a time: a blank, T, t, _ or -, and those between fields: , ; tab | and ".
        private static func isSeparator(_ byte: UInt8) -> Bool {
            switch byte {
            case 0x20, 0x54, 0x74, 0x5F, 0x2D, 0x2C, 0x3B, 0x09, 0x7C, 0x22: true
            default: false
            }
        }

        /// The days of a duration, as in `0 days 00:00:01.5` and `1 day, 0:00:01`; `nil` without them, and nothing is read then.
        private mutating func elapsedDays() -> Int64? {
            let start = place
            if let days = number(most: 5), consume(0x20), consume(0x64), consume(0x61), consume(0x79) {
                _ = consume(0x73)
                if next == 0x20 || next == 0x2C { return days.value }
            }
            place = start
            return nil
        }

        /// Days since 1970.
        private mutating func date() -> Int64? {
            guard let first = number() else { return nil }
            if first.digits == 8 {
                return Self.days(first.value / 10_000, first.value / 100 % 100, first.value % 100)
            }
            let separator = next
            guard separator == 0x2D || separator == 0x2E || separator == 0x2F || separator == 0x20 else { return nil }
            place += 1
            let second: Int64
            var isNamed = false
            if let value = number() {
                second = value.value
            } else if let month = month() {
                second = month
                isNamed = true
            } else {
                return nil
            }
            guard consume(separator), let third = number(most: 4) else { return nil }
            if first.digits == 4 { return Self.days(first.value, second, third.value) }
            guard third.digits == 4 || third.digits == 2 else { return nil }
            let year = third.digits == 2 ? 2000 + third.value : third.value
            guard !isNamed else { return Self.days(year, second, first.value) }
            // Numbers with points or hyphens, of which no year has four digits, may be a time of the day.
            let isMonthFirst =
                separator == 0x2F ? first.value <= 12 : second > 12 && first.value <= 12 && third.digits == 4
            switch order ?? (isMonthFirst ? .monthFirst : .dayFirst) {
            case .monthFirst: return Self.days(year, first.value, second)
            case .dayFirst: return Self.days(year, second, first.value)
            case .yearFirst:
                guard first.digits == 2, third.digits == 2 else { return nil }
                return Self.days(2000 + first.value, second, third.value)
            }
        }

        private mutating func month() -> Int64? {
            guard place + 3 <= text.count else { return nil }
            let word = (text[place] | 0x20, text[place + 1] | 0x20, text[place + 2] | 0x20)
            let names: StaticString = "janfebmaraprmayjunjulaugsepoctnovdec"
            for month in 0..<12 {
                let name = names.utf8Start + 3 * month
                guard name[0] == word.0, name[1] == word.1, name[2] == word.2 else { continue }
                while next | 0x20 >= 0x61, next | 0x20 <= 0x7A { place += 1 }
                return Int64(month + 1)
            }
            return nil
        }

        /// Nanoseconds since midnight.
        private mutating func timeOfDay() -> Int64? {
            guard let first = number() else { return nil }
            var hours: Int64 = 0
            var minutes: Int64 = 0
            var seconds: Int64 = 0
            var nanoseconds: Int64 = 0
            let separator = next
            if first.digits == 6, separator != 0x3A {
                (hours, minutes, seconds) = (first.value / 10_000, first.value / 100 % 100, first.value % 100)
                if next == 0x2E || next == 0x2C || next == 0x5F { nanoseconds = fraction() ?? -1 }
            } else {
                guard separator == 0x3A || separator == 0x2D || separator == 0x2E else { return nil }
                place += 1
                guard let second = number() else { return nil }
                (hours, minutes) = (first.value, second.value)
                if next == separator {
                    place += 1
                    guard let third = number() else { return nil }
                    seconds = third.value
                    if next == 0x2E || next == 0x2C || next == 0x3A { nanoseconds = fraction() ?? -1 }
                } else if separator == 0x3A, next == 0x2E || next == 0x2C {
                    // Spreadsheets write minutes, seconds and a fraction.
                    (hours, minutes, seconds) = (0, first.value, second.value)
                    nanoseconds = fraction() ?? -1
                } else if separator != 0x3A {
                    return nil
                }
            }
            guard nanoseconds >= 0, minutes < 60, seconds < 61 else { return nil }
            skipBlanks()
            if next | 0x20 == 0x61 || next | 0x20 == 0x70, place + 1 < text.count, text[place + 1] | 0x20 == 0x6D {
                let isAfternoon = next | 0x20 == 0x70
                place += 2
                guard hours >= 1, hours <= 12 else { return nil }
                hours = hours % 12 + (isAfternoon ? 12 : 0)
            }
            guard hours < 10_000 else { return nil }
            return ((hours * 60 + minutes) * 60 + seconds) * 1_000_000_000 + nanoseconds
        }

        /// The nanoseconds after a separator; after a colon or an underscore up to three digits are milliseconds, six microseconds and
        /// nine nanoseconds, and other numbers of digits have no unit.
        private mutating func fraction() -> Int64? {
            let separator = next
            place += 1
            guard let number = number() else { return nil }
            while next &- 0x30 < 10 { place += 1 }
            guard separator == 0x3A || separator == 0x5F else {
                return number.value * Int64(DecimalPowers.integer[9 - number.digits])
            }
            switch number.digits {
            case 1...3: fractionUnit = 1_000_000
            case 6: fractionUnit = 1_000
            case 9: fractionUnit = 1
            default: return nil
            }
            return number.value * fractionUnit
        }

        /// ISO 8601 has zones from −12 to +14 hours; POSIX accepts up to 24.
        private static let mostZoneHours: Int64 = 24

        /// Whether UTC or GMT follows, which some write before the offset of a zone.
        private var isUniversal: Bool {
            guard place + 3 <= text.count else { return false }
            let word = (text[place] | 0x20, text[place + 1] | 0x20, text[place + 2] | 0x20)
            return word == (0x75, 0x74, 0x63) || word == (0x67, 0x6D, 0x74)
        }

        /// The offset of a zone from UTC in seconds; 0 for a name, `nil` for what is no zone.
        private mutating func zone() -> Int64? {
            hasZone = next | 0x20 == 0x7A
            if hasZone { place += 1 }
            if isUniversal {
                hasZone = true
                place += 3
                skipBlanks()
            } else if next == 0x20 {
                while next == 0x20 { place += 1 }
                while next | 0x20 >= 0x61, next | 0x20 <= 0x7A { place += 1 }
            }
            guard next == 0x2B || next == 0x2D else { return 0 }
            hasZone = true
            let sign: Int64 = next == 0x2D ? -1 : 1
            place += 1
            guard let first = number() else { return nil }
            var (hours, minutes) = first.digits == 4 ? (first.value / 100, first.value % 100) : (first.value, 0)
            if first.digits < 4, consume(0x3A) {
                guard let second = number() else { return nil }
                minutes = second.value
            }
            guard hours <= Self.mostZoneHours, minutes < 60 else { return nil }
            return sign * (hours * 3600 + minutes * 60)
        }

        /// The days from 1970 to a date; `nil` for an impossible date.
        private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64? {
            guard (1900...2200).contains(year), (1...12).contains(month) else { return nil }
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            // Up to July the odd months have 31 days, and then the even ones.
            let length = month == 2 ? (isLeap ? 29 : 28) : 30 + (month + month / 8) % 2
            guard (1...length).contains(day) else { return nil }
            return WallTime.days(year, month, day)
        }
    }
}

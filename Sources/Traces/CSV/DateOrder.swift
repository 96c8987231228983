/// The order of year, month and day in dates that do not begin with a year of four digits, such as `13/05/2019`; the
/// raw value is its unit in `--map`.
enum DateOrder: String, CaseIterable {
    case monthFirst = "mdy"
    case dayFirst = "dmy"
    /// With two digits for the year, as in `24/03/04`.
    case yearFirst = "ymd"

    var words: String {
        switch self {
        case .monthFirst: "month/day/year"
        case .dayFirst: "day/month/year"
        case .yearFirst: "year/month/day"
        }
    }

    /// The order in which a column's dates are read.
    struct Choice: Equatable {
        /// `nil` for dates that have one order alone, or none.
        var order: DateOrder?
        /// Whether neither the user nor the dates show the order, so that a later date may contradict it.
        var isAssumed = true
    }

    /// What the texts of a column say about the order of their dates.
    struct Evidence {
        /// The orders in which all dates are possible, the usual one first; empty without dates of that form.
        private(set) var possible: [DateOrder] = []

        var taken: DateOrder? { possible.first }

        init(_ texts: [String]) {
            var (firsts, lasts) = (Set<[UInt8]>(), Set<[UInt8]>())
            for text in texts {
                // A time of the day such as 12.30.45 is no date.
                guard let numbers = Self.numbers(text.utf8), ClockTime(text)?.hasDate ?? false else { continue }
                let usual: [DateOrder] =
                    numbers.hasSlash ? [.monthFirst, .dayFirst, .yearFirst] : [.dayFirst, .monthFirst, .yearFirst]
                let found = (possible.isEmpty ? usual : possible).filter {
                    ClockTime(text, order: $0)?.hasDate ?? false
                }
                // A date that contradicts those before it is a damaged one.
                guard !found.isEmpty else { continue }
                possible = found
                firsts.insert(numbers.first)
                lasts.insert(numbers.last)
                if possible.count == 1 { return }
            }
            // The day changes more often than the year.
            guard possible.contains(.yearFirst), firsts.count == 1 || lasts.count == 1, firsts.count != lasts.count
            else { return }
            possible.removeAll { ($0 == .yearFirst) == (lasts.count == 1) }
        }

        /// The outer numbers of a date that begins with two numbers of at most two digits each; `nil` for another text.
        private static func numbers(_ text: String.UTF8View) -> (hasSlash: Bool, first: [UInt8], last: [UInt8])? {
            guard let sign = text.first(where: { $0 &- 0x30 >= 10 }), "/-.".utf8.contains(sign) else { return nil }
            let parts = text.split(separator: sign, maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3,
                parts.prefix(2).allSatisfy({ (1...2).contains($0.count) && $0.allSatisfy { $0 &- 0x30 < 10 } })
            else { return nil }
            return (sign == UInt8(ascii: "/"), Array(parts[0]), Array(parts[2].prefix { $0 &- 0x30 < 10 }))
        }
    }
}

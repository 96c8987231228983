/// The order of day and month in dates with slashes and the year last, such as `13/05/2019`; the raw value is its unit in `--map`.
enum DateOrder: String {
    case monthFirst = "mdy"
    case dayFirst = "dmy"

    var other: DateOrder { self == .monthFirst ? .dayFirst : .monthFirst }
    var words: String { self == .monthFirst ? "month/day/year" : "day/month/year" }

    /// What the texts of a column say about the order of their dates.
    enum Evidence: Equatable {
        /// There are no dates of that form.
        case none
        /// All dates are possible in both orders.
        case either
        /// The first date that is possible in one order alone says which.
        case order(DateOrder)

        /// The order, where a date shows it.
        var shown: DateOrder? { if case .order(let order) = self { order } else { nil } }

        init(_ texts: [String]) {
            self = .none
            for text in texts where Self.hasYearLast(text.utf8) {
                switch (ClockTime(text, order: .monthFirst), ClockTime(text, order: .dayFirst)) {
                case (_?, _?): self = .either
                case (nil, _?):
                    self = .order(.dayFirst)
                    return
                case (_?, nil):
                    self = .order(.monthFirst)
                    return
                case (nil, nil): break
                }
            }
        }

        /// Whether a text begins with two numbers of at most two digits, each before a slash.
        private static func hasYearLast(_ text: String.UTF8View) -> Bool {
            let parts = text.split(separator: UInt8(ascii: "/"), maxSplits: 2, omittingEmptySubsequences: false)
            return parts.count == 3
                && parts.prefix(2).allSatisfy { (1...2).contains($0.count) && $0.allSatisfy { $0 &- 0x30 < 10 } }
        }
    }
}

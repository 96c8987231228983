/// The order of day and month in dates with slashes and the year last, such as `13/05/2019`; the raw value is its unit in `--map`.
enum DateOrder: String {
    case monthFirst = "mdy"
    case dayFirst = "dmy"

    var other: DateOrder { self == .monthFirst ? .dayFirst : .monthFirst }
    var words: String { self == .monthFirst ? "month/day/year" : "day/month/year" }

    /// What the texts of a column say about the order of their dates.
    enum Evidence: Equatable {
        /// There are no dates of that form, or day and month are the same.
        case none
        /// All dates are possible in both orders, and differ.
        case either
        /// The first date that is possible in one order alone says which.
        case order(DateOrder)

        init(_ texts: [String]) {
            self = .none
            for text in texts where text.utf8.contains(UInt8(ascii: "/")) {
                switch (ClockTime(text, order: .monthFirst), ClockTime(text, order: .dayFirst)) {
                case (let month?, let day?) where month.nanoseconds != day.nanoseconds: self = .either
                case (nil, _?):
                    self = .order(.dayFirst)
                    return
                case (_?, nil):
                    self = .order(.monthFirst)
                    return
                default: break
                }
            }
        }
    }
}

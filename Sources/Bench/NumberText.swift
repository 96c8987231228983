import Binnacle
import PlainText

/// Numbers for people, and for JSON.
enum NumberText {
    /// A number with a fixed count of decimals.
    static func text(_ value: Double, decimals: Int) -> String {
        Figure.Value.number(value, decimals: decimals).description
    }

    /// A time that may be a fraction of a nanosecond or many: three digits that count.
    static func nanoseconds(_ value: Double) -> String {
        text(value, decimals: value < 1 ? 3 : value < 10 ? 2 : value < 100 ? 1 : 0)
    }

    /// A share in percent.
    static func percent(_ share: Double) -> String { text(share * 100, decimals: 0) }
}

extension JSONObject {
    /// Adds a number, rounded to a millionth; null for `nil`.
    mutating func add(_ key: String, number value: Double?) {
        add(key, raw: value.map { NumberText.text($0, decimals: 6) } ?? "null")
    }

    /// Adds a whole number; null for `nil`.
    mutating func add(_ key: String, count value: Int?) {
        add(key, raw: value.map { String($0) } ?? "null")
    }

    /// Adds how the values of a quantity lie, as three numbers.
    mutating func add(_ key: String, _ spread: Spread) {
        add(key, number: spread.median)
        add(key + "_min", number: spread.minimum)
        add(key + "_max", number: spread.maximum)
    }
}

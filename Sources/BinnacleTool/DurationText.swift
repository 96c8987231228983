import Binnacle

/// Durations as text: a number and its unit.
enum DurationText {
    private static let units: [(suffix: String, nanoseconds: Double)] = [
        ("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3600e9),
    ]

    /// Parses `500ms`, `10s`, `1.5m` or `1h`; `nil` for other texts, and for more than a century.
    static func parse(_ text: String) -> Duration? {
        for unit in units where text.hasSuffix(unit.suffix) {
            let digits = text.dropLast(unit.suffix.count)
            guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }), let number = Double(digits)
            else {
                continue
            }
            let nanoseconds = (number * unit.nanoseconds).rounded()
            return nanoseconds < 3.2e18 ? .nanoseconds(Int64(nanoseconds)) : nil
        }
        return nil
    }

    /// Formats a duration: `0.3 s`, `45 s`, `12 min`, `5.2 h`, `3.1 days`.
    static func text(_ seconds: Double) -> String {
        func number(_ value: Double, _ decimals: Int) -> String {
            Figure.Value.number(value, decimals: decimals).description
        }
        switch seconds {
        case ..<10: return number(seconds, 1) + " s"
        case ..<120: return number(seconds, 0) + " s"
        case ..<7200: return number(seconds / 60, 0) + " min"
        case ..<172_800: return number(seconds / 3600, 1) + " h"
        default: return number(seconds / 86_400, 1) + " days"
        }
    }
}

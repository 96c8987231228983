/// Times as people write them: a number and its unit.
enum DurationText {
    private static let units: [(suffix: String, nanoseconds: Double)] = [
        ("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3600e9),
    ]

    /// Reads `500ms`, `10s`, `1.5m` or `1h`; `nil` when it is none of these, or longer than a century.
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
}

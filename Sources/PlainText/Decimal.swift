/// Numbers as text, without Foundation and the same on every machine.
package enum Decimal {
    /// Writes a number with a fixed count of decimals.
    ///
    /// - Parameters:
    ///   - value: The number.
    ///   - decimals: From 0 to 9.
    /// - Returns: Rounded half away from zero; `nil` when the number is not finite, or too large.
    package static func text(_ value: Double, decimals: Int) -> String? {
        let scales: [Double] = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]
        let scaled = (value.magnitude * scales[decimals]).rounded(.toNearestOrAwayFromZero)
        guard scaled < 9e18 else { return nil }
        let whole = UInt64(scaled)
        let sign = value < 0 && whole > 0 ? "-" : ""
        guard decimals > 0 else { return sign + String(whole) }
        let digits = String(whole)
        let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
        return "\(sign)\(padded.dropLast(decimals)).\(padded.suffix(decimals))"
    }
}

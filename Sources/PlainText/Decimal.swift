/// Formats numbers without Foundation, the same on every machine.
package enum Decimal {
    /// Formats a number with 0 to 9 decimals, rounded half away from zero; `nil` when it is not finite or too large.
    package static func text(_ value: Double, decimals: Int) -> String? {
        var text: [UInt8] = []
        return append(value, decimals: decimals, to: &text) ? String(decoding: text, as: UTF8.self) : nil
    }

    /// Appends a number as ``text(_:decimals:)`` formats it; returns `false`, and appends nothing, where that is `nil`.
    package static func append(_ value: Double, decimals: Int, to text: inout [UInt8]) -> Bool {
        let scales: [Double] = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]
        let scaled = (value.magnitude * scales[decimals]).rounded(.toNearestOrAwayFromZero)
        guard scaled < 9e18 else { return false }
        append(UInt64(scaled), decimals: decimals, isNegative: value < 0 && scaled > 0, to: &text)
        return true
    }

    /// Appends a whole number.
    package static func append(_ value: Int64, to text: inout [UInt8]) {
        append(value.magnitude, decimals: 0, isNegative: value < 0, to: &text)
    }

    private static func append(_ value: UInt64, decimals: Int, isNegative: Bool, to text: inout [UInt8]) {
        // 20 digits, the point and the sign, written from the last digit to the first.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 24) { bytes in
            var rest = value
            var start = bytes.count
            var place = 0
            // At least one digit precedes the point.
            while place <= decimals || rest > 0 {
                if place == decimals && place > 0 {
                    start -= 1
                    bytes[start] = UInt8(ascii: ".")
                }
                start -= 1
                bytes[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
                place += 1
            }
            if isNegative {
                start -= 1
                bytes[start] = UInt8(ascii: "-")
            }
            text.append(contentsOf: UnsafeMutableBufferPointer(rebasing: bytes[start...]))
        }
    }
}

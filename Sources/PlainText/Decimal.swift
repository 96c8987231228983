/// Formats numbers without Foundation, the same on every machine.
package enum Decimal {
    /// The sign, 20 digits and the point.
    static let mostBytes = 22

    /// Formats a number with 0 to 9 decimals, rounded half away from zero; `nil` when it is not finite or too large.
    package static func text(_ value: Double, decimals: Int) -> String? {
        var text: [UInt8] = []
        return append(value, decimals: decimals, to: &text) ? String(decoding: text, as: UTF8.self) : nil
    }

    /// Appends a number as ``text(_:decimals:)`` formats it; returns `false`, and appends nothing, where that is `nil`.
    package static func append(_ value: Double, decimals: Int, to text: inout [UInt8]) -> Bool {
        var isWritten = false
        text.write(atMost: mostBytes) { isWritten = $0.write(value, decimals: decimals) }
        return isWritten
    }

    package static func append(_ value: Int64, to text: inout [UInt8]) {
        text.write(atMost: mostBytes) { $0.write(value.magnitude, decimals: 0, isNegative: value < 0) }
    }
}

extension Double {
    /// The number as ``Decimal/text(_:decimals:)`` formats it, and `null` where that is `nil`.
    package func text(_ decimals: Int) -> String { Decimal.text(self, decimals: decimals) ?? "null" }
}

extension ByteCursor {
    /// Writes a number as ``Decimal/text(_:decimals:)`` formats it; returns `false`, and writes nothing, where that is `nil`.
    mutating func write(_ value: Double, decimals: Int) -> Bool {
        precondition((0...9).contains(decimals), "from 0 to 9 decimals can be written")
        var scale = 1.0
        for _ in 0..<decimals { scale *= 10 }
        let scaled = value.magnitude * scale
        guard scaled < 9e18 else { return false }
        // `rounded` would be a call.
        let whole = UInt64(scaled)
        let rounded = scaled - Double(whole) < 0.5 ? whole : whole + 1
        write(rounded, decimals: decimals, isNegative: value < 0 && rounded > 0)
        return true
    }

    /// Writes a whole number whose last digits stand behind a point.
    mutating func write(_ value: UInt64, decimals: Int, isNegative: Bool) {
        // From the last digit to the first at the end of the room, and then moved to its begin.
        let end = next + Decimal.mostBytes
        var (rest, start) = (value, end)
        func put(_ byte: UInt8) {
            start -= 1
            start.pointee = byte
        }
        func putDigit() {
            put(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        }
        if decimals > 0 {
            for _ in 0..<decimals { putDigit() }
            put(UInt8(ascii: "."))
        }
        // At least one digit precedes the point.
        repeat { putDigit() } while rest > 0
        if isNegative { put(UInt8(ascii: "-")) }
        next.update(from: start, count: end - start)
        next += end - start
    }
}

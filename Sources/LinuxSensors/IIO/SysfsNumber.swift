import PlainText

/// Numbers in sysfs: decimal, with a point, independent of the locale.
package enum SysfsNumber {
    /// Parses a finite number, with optional surrounding blanks.
    package static func parse(_ text: String) -> Double? {
        let trimmed = text.trimmingBlanks()
        // Double would also accept "nan", "inf" and hexadecimal.
        guard trimmed.utf8.allSatisfy(isDecimal), let number = Double(trimmed), number.isFinite else { return nil }
        return number
    }

    /// Formats a number, without a point if it is whole.
    package static func text(_ number: Double) -> String {
        number == number.rounded() && abs(number) < 1e15 ? String(Int64(number)) : String(number)
    }

    private static func isDecimal(_ byte: UInt8) -> Bool { byte.isDigit || ".-+eE".utf8.contains(byte) }
}

/// Numbers as sysfs writes them: decimal, with a point, whatever the locale.
package enum SysfsNumber {
    /// Reads a finite number, with blanks around it.
    package static func parse(_ text: String) -> Double? {
        let trimmed = text.trimmingBlanks()
        // Double would also take "nan", "inf" and hexadecimal.
        guard trimmed.utf8.allSatisfy(isDecimal), let number = Double(trimmed), number.isFinite else { return nil }
        return number
    }

    /// Reads a whole number.
    static func integer(_ text: String) -> Int? {
        Int(text.trimmingBlanks())
    }

    /// Writes a number without a point when it is whole.
    package static func text(_ number: Double) -> String {
        number == number.rounded() && abs(number) < 1e15 ? String(Int64(number)) : String(number)
    }

    private static func isDecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "+"),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }
}

extension String {
    /// The text without blanks and line ends around it.
    func trimmingBlanks() -> String {
        var rest = self[...].utf8
        while let first = rest.first, first == 0x20 || (0x09...0x0D).contains(first) { rest.removeFirst() }
        while let last = rest.last, last == 0x20 || (0x09...0x0D).contains(last) { rest.removeLast() }
        return String(Substring(rest))
    }
}

/// Splits a line in evemu's format into its fields, separated by blanks, with an optional comment at the end.
struct EvemuScanner {
    private let start: UnsafePointer<UInt8>
    private let end: UnsafePointer<UInt8>
    private var p: UnsafePointer<UInt8>

    private static let decimals = DecimalScanner(delimiter: UInt8(ascii: " "))

    /// The line outlives this value, and the padding bytes that ``DecimalScanner`` reads follow it.
    init?(_ line: UnsafeBufferPointer<UInt8>) {
        guard let start = line.baseAddress else { return nil }
        self.start = start
        p = start
        end = start + line.count
        skipBlanks()
    }

    /// The position of the next field, from 1.
    var column: Int { p - start + 1 }

    /// Whether only a comment is left.
    var isAtEnd: Bool { p >= end || p.pointee == UInt8(ascii: "#") }

    /// Parses the letter that identifies the kind of line, and the colon after it.
    mutating func consumeTag() -> UInt8? {
        guard end - p >= 2, p[1] == UInt8(ascii: ":") else { return nil }
        let letter = p[0]
        p += 2
        skipBlanks()
        return letter
    }

    /// Parses a stamp in seconds to whole nanoseconds.
    mutating func consumeSeconds() -> Int64? {
        var q = p
        guard let decimal = Self.decimals.scanPlain(&q, end),
            let nanoseconds = decimal.nanoseconds(in: DecimalScanner.text(of: p, before: q), unitExponent: 9)
        else { return nil }
        // A blank after the number is already consumed.
        p = min(q, end)
        skipBlanks()
        return nanoseconds
    }

    /// Parses a hexadecimal number of at most four digits.
    mutating func consumeHexadecimal() -> Int? {
        var number = 0
        let first = p
        while p < end, p - first <= 4, let digit = Self.digit(p.pointee) {
            number = number << 4 | digit
            p += 1
        }
        guard (1...4).contains(p - first), endsField() else { return nil }
        return number
    }

    mutating func consumeInteger() -> Int32? {
        let isNegative = p < end && p.pointee == UInt8(ascii: "-")
        if isNegative { p += 1 }
        let first = p
        var number: Int64 = 0
        while p < end, p.pointee &- UInt8(ascii: "0") < 10 {
            number = number * 10 + Int64(p.pointee &- UInt8(ascii: "0"))
            guard number <= 1 << 31 else { return nil }
            p += 1
        }
        guard p > first, endsField() else { return nil }
        return Int32(exactly: isNegative ? -number : number)
    }

    /// Returns the rest of the line, including a comment.
    mutating func consumeRest() -> String {
        defer { p = end }
        return String(decoding: UnsafeBufferPointer(start: p, count: end - p), as: UTF8.self)
    }

    /// Skips the blanks that end a field; `false` without any, so that the field is invalid.
    private mutating func endsField() -> Bool {
        guard p == end || isBlank(p.pointee) || p.pointee == UInt8(ascii: "#") else { return false }
        skipBlanks()
        return true
    }

    private mutating func skipBlanks() {
        while p < end, isBlank(p.pointee) { p += 1 }
    }

    private func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    private static func digit(_ byte: UInt8) -> Int? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(byte - UInt8(ascii: "a")) + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): Int(byte - UInt8(ascii: "A")) + 10
        default: nil
        }
    }
}

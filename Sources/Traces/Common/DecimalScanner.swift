import Glibc

/// Parses decimal numbers in a line: values to the nearest Double, stamps to the nanosecond.
///
/// Digits are read eight at a time. Therefore ``padding`` bytes after a line have to be readable, and the first of them
/// must not be a digit, which ``LineReader`` guarantees.
struct DecimalScanner {
    /// The number of bytes read after a line.
    static let padding = 8

    enum Field {
        case number(Decimal, text: UnsafeBufferPointer<UInt8>)
        case empty
        /// `nan` or `inf` in one of their spellings.
        case notFinite
        case notANumber
    }

    /// A number as written: mantissa times ten to the power of the exponent; small enough for registers.
    struct Decimal {
        let mantissa: UInt64
        let exponent: Int32
        let isNegative: Bool
        /// Whether digits did not fit the mantissa, so that the text has to be parsed again.
        let isLong: Bool
    }

    private let delimiter: UInt8
    /// The decimal separators: a point, a comma, or both.
    private let (mark, otherMark): (UInt8, UInt8)
    /// The second decimal separator in quotes, where a comma may also be one that separates fields elsewhere.
    private let quotedMark: UInt8

    private static let quote = UInt8(ascii: "\"")
    private static let zero = UInt8(ascii: "0")

    init(_ dialect: CSVDialect) {
        delimiter = dialect.delimiter
        (mark, otherMark) = (dialect.mark, dialect.otherMark)
        quotedMark = dialect.hasQuotedCommas ? CSVDialect.comma : dialect.otherMark
    }

    init(delimiter: UInt8) {
        self.delimiter = delimiter
        (mark, otherMark) = (CSVDialect.point, CSVDialect.point)
        quotedMark = CSVDialect.point
    }

    /// Skips the field at a position and its delimiter; a doubled quote within quotes does not end them (RFC 4180).
    @inline(__always)
    func skipField(_ p: inout UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) {
        if p < end, p.pointee == Self.quote {
            // The second of two quotes opens them again.
            var isQuoted = false
            while p < end, isQuoted || p.pointee != delimiter {
                if p.pointee == Self.quote { isQuoted.toggle() }
                p += 1
            }
        }
        while p < end, p.pointee != delimiter { p += 1 }
        p += 1
    }

    /// Parses a number that fills its field, and skips it and the delimiter; `nil`, without moving, for anything else.
    @inline(__always)
    func scanPlain(_ p: inout UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Decimal? {
        var q = p
        guard let decimal = scanDecimal(&q, end, otherMark), q == end || q.pointee == delimiter else { return nil }
        p = q + 1
        return decimal
    }

    /// Parses the field at a position, whatever it contains, and skips it and its delimiter.
    func scanField(_ p: inout UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Field {
        let field = p
        guard let decimal = scanPlain(&p, end) else { return scanUnusual(&p, end) }
        return .number(decimal, text: Self.text(of: field, before: p))
    }

    /// The bytes of a field from its start to the position after its delimiter.
    @inline(__always)
    static func text(of field: UnsafePointer<UInt8>, before next: UnsafePointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: field, count: next - field - 1)
    }

    /// Parses digits with an optional sign, decimal separator and exponent.
    @inline(__always)
    private func scanDecimal(
        _ p: inout UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, _ otherMark: UInt8
    ) -> Decimal? {
        guard p < end else { return nil }
        // The sign of a measured value is unpredictable: add instead of branching.
        let isNegative = p.pointee == UInt8(ascii: "-")
        p += (isNegative ? 1 : 0) + (p.pointee == UInt8(ascii: "+") ? 1 : 0)
        var mantissa: UInt64 = 0
        let whole = p
        // Usually one or two digits precede the separator, for which a loop is faster.
        while p - whole < 3, p.pointee &- Self.zero < 10 {
            mantissa = mantissa &* 10 &+ UInt64(p.pointee &- Self.zero)
            p += 1
        }
        if p - whole == 3 { DigitRun.appendDigits(&p, into: &mantissa) }
        var digits = p - whole
        var exponent = 0
        if p < end, p.pointee == mark || p.pointee == otherMark {
            p += 1
            let fraction = p
            DigitRun.appendDigits(&p, into: &mantissa)
            exponent = fraction - p
            digits -= exponent
        }
        guard digits > 0 else { return nil }
        if p < end, p.pointee | 0x20 == UInt8(ascii: "e") {
            p += 1
            let isDown = p < end && p.pointee == UInt8(ascii: "-")
            if isDown || (p < end && p.pointee == UInt8(ascii: "+")) { p += 1 }
            let first = p
            var written = 0
            while p < end, p.pointee &- Self.zero < 10 {
                // Beyond this exponent the value is 0 or infinite.
                written = min(written * 10 + Int(p.pointee &- Self.zero), 100_000)
                p += 1
            }
            guard p > first else { return nil }
            exponent += isDown ? -written : written
        }
        // 19 digits always fit; leading zeros may make a number appear too long, which only costs time.
        return Decimal(
            mantissa: mantissa, exponent: Int32(truncatingIfNeeded: exponent), isNegative: isNegative,
            isLong: digits > 19)
    }

    /// Parses a field with blanks or quotes, an empty one, or one that is not a number.
    private func scanUnusual(_ p: inout UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Field {
        var first = p
        skipField(&p, end)
        var last = min(p - 1, end)
        func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        while first < last, isBlank(first.pointee) { first += 1 }
        while first < last, isBlank(last[-1]) { last -= 1 }
        var otherMark = otherMark
        if last - first >= 2, first.pointee == Self.quote, last[-1] == Self.quote {
            otherMark = quotedMark
            first += 1
            last -= 1
            while first < last, isBlank(first.pointee) { first += 1 }
            while first < last, isBlank(last[-1]) { last -= 1 }
        }
        guard first < last else { return .empty }
        var q = first
        if let decimal = scanDecimal(&q, last, otherMark), q == last {
            return .number(decimal, text: UnsafeBufferPointer(start: first, count: last - first))
        }
        let word = String(decoding: UnsafeBufferPointer(start: first, count: last - first), as: UTF8.self).lowercased()
        let unsigned = word.hasPrefix("-") || word.hasPrefix("+") ? String(word.dropFirst()) : word
        return ["nan", "inf", "infinity"].contains(unsigned) ? .notFinite : .notANumber
    }
}

extension DecimalScanner.Decimal {
    /// The Double nearest to the number, as from strtod; `text` is its source text.
    @inline(__always)
    func value(in text: UnsafeBufferPointer<UInt8>) -> Double {
        // A mantissa below 2⁵³ and a power of ten up to 10²² are exact, so that a single multiplication or division is
        // correctly rounded (Clinger 1990).
        guard !isLong, mantissa < 1 << 53, exponent >= -22, exponent <= 22 else { return Self.slowValue(text) }
        let power = DecimalPowers.exact[Int(exponent.magnitude)]
        let magnitude = exponent < 0 ? Double(mantissa) / power : Double(mantissa) * power
        return magnitude * (isNegative ? -1 : 1)
    }

    @inline(never)
    private static func slowValue(_ text: UnsafeBufferPointer<UInt8>) -> Double {
        // strtod expects a decimal point, because the process keeps the C locale.
        let comma = UInt8(ascii: ",")
        let point = UInt8(ascii: ".")
        var copy = text.map { CChar(bitPattern: $0 == comma ? point : $0) }
        copy.append(0)
        return strtod(copy, nil)
    }

    /// The number as whole nanoseconds, rounded half away from zero; `nil` on overflow.
    @inline(__always)
    func nanoseconds(in text: UnsafeBufferPointer<UInt8>, unitExponent: Int) -> Int64? {
        guard !isLong else { return slowNanoseconds(text, unitExponent: unitExponent) }
        return Self.scaled(mantissa, Int(exponent) + unitExponent, isNegative: isNegative)
    }

    /// The mantissa times ten to the power of the exponent, rounded half away from zero.
    @inline(__always)
    static func scaled(_ mantissa: UInt64, _ exponent: Int, isNegative: Bool) -> Int64? {
        var magnitude = mantissa
        if exponent > 0, mantissa > 0 {
            guard exponent <= 18 else { return nil }
            let (product, overflow) = mantissa.multipliedReportingOverflow(by: DecimalPowers.integer[exponent])
            guard !overflow else { return nil }
            magnitude = product
        } else if exponent < 0 {
            guard exponent >= -19 else { return 0 }
            let divisor = DecimalPowers.integer[-exponent]
            let (quotient, remainder) = mantissa.quotientAndRemainder(dividingBy: divisor)
            magnitude = quotient + (remainder >= divisor - remainder ? 1 : 0)
        }
        guard magnitude <= UInt64(Int64.max) else { return nil }
        return isNegative ? -Int64(magnitude) : Int64(magnitude)
    }

    /// Uses the first 19 significant digits: the others are far below a nanosecond, or the number is too large.
    @inline(never)
    private func slowNanoseconds(_ text: UnsafeBufferPointer<UInt8>, unitExponent: Int) -> Int64? {
        var kept: UInt64 = 0
        var keptDigits = 0
        var dropped = 0
        for byte in text {
            guard byte | 0x20 != UInt8(ascii: "e") else { break }
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { continue }
            if keptDigits < 19 {
                kept = kept * 10 + UInt64(digit)
                if kept > 0 { keptDigits += 1 }
            } else {
                dropped += 1
            }
        }
        return Self.scaled(kept, Int(exponent) + dropped + unitExponent, isNegative: isNegative)
    }
}

/// A decimal number with known separators: one to eight digits, a decimal separator, one to eight digits.
///
/// Eight bytes are read from the first digit on, and eight after the separator; the only branches depend on the lengths, which
/// rarely change from row to row.
struct MarkedNumber {
    /// All digits, without the separator.
    let mantissa: UInt64
    /// The number of digits after the separator.
    let decimals: Int
    let isNegative: Bool

    /// Parses a number between `field` and `end` whose first separator is at `mark`; seven bytes after it are readable.
    @inline(__always)
    init?(_ field: UnsafePointer<UInt8>, mark: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>) {
        // The sign of a measured value is unpredictable: add instead of branching.
        let sign = field.pointee
        isNegative = sign == UInt8(ascii: "-")
        // Minus "+", the two signs are 0 and 2, and no other byte is.
        let first = field + ((sign &- UInt8(ascii: "+")) & ~2 == 0 ? 1 : 0)
        let whole = mark - first
        decimals = end - mark &- 1
        // Both are from 0 to 7 when no bit but the lowest three is set in either; a negative number has the highest bit set.
        guard UInt(bitPattern: (whole &- 1) | (decimals &- 1)) < 8 else { return nil }
        let high = DigitRun.load(first, count: whole)
        let low = DigitRun.load(mark + 1, count: decimals)
        if whole &+ decimals <= 8 {
            let digits = high &>> UInt64(truncatingIfNeeded: 8 &* decimals) | low
            guard DigitRun.isAllDigits(digits) else { return nil }
            mantissa = DigitRun.value(digits)
        } else {
            guard DigitRun.isAllDigits(high), DigitRun.isAllDigits(low) else { return nil }
            mantissa = DigitRun.value(high) &* DecimalPowers.integer[decimals] &+ DigitRun.value(low)
        }
    }

    /// The Double nearest to the absolute value if the mantissa is below 2⁵³: both operands are exact then.
    @inline(__always)
    var magnitude: Double { Double(Int64(bitPattern: mantissa)) / DecimalPowers.exact[decimals] }
}

/// Parses decimal digits eight bytes at a time, with arithmetic in a 64-bit word instead of a branch for each digit.
enum DigitRun {
    /// Skips the digits at a position and appends them to a number, which wraps on overflow.
    @inline(__always)
    static func appendDigits(_ p: inout UnsafePointer<UInt8>, into number: inout UInt64) {
        while true {
            let bytes = UInt64(littleEndian: UnsafeRawPointer(p).loadUnaligned(as: UInt64.self))
            // Digits become 0 … 9; in every other byte the top bit is set by one of the two terms.
            let values = bytes ^ 0x3030_3030_3030_3030
            let others = (values &+ 0x7676_7676_7676_7676 | values) & 0x8080_8080_8080_8080
            let count = others.trailingZeroBitCount / 8
            guard count < 8 else {
                number = number &* 100_000_000 &+ value(values)
                p += 8
                continue
            }
            // The first digit is in the lowest byte; the shift turns missing digits into leading zeros. Shifting by 64 gives 0.
            number = number &* powers[count] &+ value(values << UInt64(64 - 8 * count))
            p += count
            return
        }
    }

    /// One to eight digits as byte values, right-aligned towards the highest byte and padded with zeros.
    @inline(__always)
    static func load(_ p: UnsafePointer<UInt8>, count: Int) -> UInt64 {
        let bytes = UInt64(littleEndian: UnsafeRawPointer(p).loadUnaligned(as: UInt64.self))
        return (bytes ^ 0x3030_3030_3030_3030) &<< UInt64(truncatingIfNeeded: 64 &- 8 &* count)
    }

    /// Whether all eight bytes are 0 to 9.
    @inline(__always)
    static func isAllDigits(_ values: UInt64) -> Bool {
        (values &+ 0x7676_7676_7676_7676 | values) & 0x8080_8080_8080_8080 == 0
    }

    /// The number of eight digits, the first in the lowest byte; combines pairs, then fours, then all.
    @inline(__always)
    static func value(_ digits: UInt64) -> UInt64 {
        let pairs = (digits &* 10 &+ digits >> 8) & 0x00FF_00FF_00FF_00FF
        let fours = (pairs &* 100 &+ pairs >> 16) & 0x0000_FFFF_0000_FFFF
        return (fours &* 10_000 &+ fours >> 32) & 0xFFFF_FFFF
    }

    private static let powers: [UInt64] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000]
}

enum DecimalPowers {
    /// 10⁰ … 10²², each exact as a Double.
    static let exact: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]
    /// 10⁰ … 10¹⁹.
    static let integer: [UInt64] = [
        1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000,
        100_000_000_000, 1_000_000_000_000, 10_000_000_000_000, 100_000_000_000_000, 1_000_000_000_000_000,
        10_000_000_000_000_000, 100_000_000_000_000_000, 1_000_000_000_000_000_000, 10_000_000_000_000_000_000,
    ]
}

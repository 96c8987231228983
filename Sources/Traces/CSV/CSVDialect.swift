import PlainText

/// The delimiter and the decimal separators of a CSV file.
struct CSVDialect: Equatable {
    let delimiter: UInt8
    /// Whether a comma is a decimal separator, too.
    private(set) var hasDecimalComma: Bool
    /// Whether a comma is the only decimal separator, so that a point is none.
    private(set) var hasCommasAlone = false
    /// Whether a comma in quotes is a decimal separator, although one without separates fields.
    private(set) var hasQuotedCommas = false
    /// Whether several delimiters count as one, for blanks.
    let collapses: Bool
    /// A byte before each line end; 0 for none.
    let trailer: UInt8

    /// The second decimal separator: a comma, or again the point.
    var otherMark: UInt8 { hasDecimalComma ? Self.comma : Self.point }
    /// The first decimal separator: a point, unless only commas are.
    var mark: UInt8 { hasCommasAlone ? Self.comma : Self.point }

    static let point = UInt8(ascii: ".")
    static let newline = UInt8(ascii: "\n")
    static let tab = UInt8(ascii: "\t")
    static let blank = UInt8(ascii: " ")
    static let comma = UInt8(ascii: ",")
    static let semicolon = UInt8(ascii: ";")
    private static let quote = UInt8(ascii: "\"")

    /// The possible dialects, the likelier first.
    static let all = [tab, semicolon, comma, UInt8(ascii: "|"), blank].map { CSVDialect(delimiter: $0) }

    /// A comma that is not the delimiter can only be a decimal separator; a blank as the delimiter may be repeated.
    init(delimiter: UInt8, trailer: UInt8 = 0) {
        self.delimiter = delimiter
        hasDecimalComma = delimiter != Self.comma
        collapses = delimiter == Self.blank
        self.trailer = trailer
    }

    /// Derives the dialect from a header without rows.
    init(header: [UInt8]) {
        let unquoted = Self.withoutQuoted(header)
        self.init(delimiter: [Self.tab, Self.semicolon].first(where: unquoted.contains) ?? Self.comma)
    }

    /// Decides by the fields of the first rows whether points or commas may separate thousands, so that they are no decimal
    /// separators.
    mutating func settleMarks(_ rows: [[String]]) {
        guard hasDecimalComma else { return }
        var (hasPoint, hasComma, isPointDecimal, isCommaDecimal) = (false, false, false, false)
        for field in rows.joined() where number(field) != nil {
            let isDecimal = !Self.hasThousands(field)
            if field.utf8.contains(Self.comma) {
                (hasComma, isCommaDecimal) = (true, isCommaDecimal || isDecimal)
            } else if field.utf8.contains(Self.point) {
                (hasPoint, isPointDecimal) = (true, isPointDecimal || isDecimal)
            }
        }
        if isPointDecimal || hasPoint && !hasComma {
            // Some programs write the time with points, and the values as in the user's country.
            hasDecimalComma = isCommaDecimal
        } else {
            hasCommasAlone = hasComma
        }
    }

    /// Decides by the fields of some rows between commas whether numbers in quotes have decimal commas: where no number
    /// has a point, and the comma of some cannot separate thousands.
    mutating func settleQuotedCommas(_ rows: [[String]]) {
        guard delimiter == Self.comma else { return }
        var hasComma = false
        for field in rows.joined() {
            if field.utf8.contains(Self.point) {
                guard number(field) == nil else { return }
            } else if Self.isDecimalWithComma(field), !Self.hasThousands(field) {
                hasComma = true
            }
        }
        hasQuotedCommas = hasComma
    }

    /// Whether a text is digits, a comma and digits, with or without a sign.
    private static func isDecimalWithComma(_ text: String) -> Bool {
        let unsigned = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        let parts = unsigned.split(separator: comma, omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { part in !part.isEmpty && part.allSatisfy { $0 &- 0x30 < 10 } }
    }

    /// Whether a text is a number with groups of three digits, as in `1.402` or `12 000,5`.
    static func hasThousands(_ text: String) -> Bool {
        let unsigned = text.drop { $0 == "-" || $0 == "+" }
        guard unsigned.first != "0" else { return false }
        var groups = unsigned.split(omittingEmptySubsequences: false) { "., '\u{A0}\u{202F}".contains($0) }
        // What stands behind the last sign may be a fraction.
        if groups.count > 2, groups.last?.count != 3 { groups.removeLast() }
        return groups.count > 1 && (1...3).contains(groups[0].count) && groups.dropFirst().allSatisfy { $0.count == 3 }
            && groups.joined().allSatisfy { ("0"..."9").contains($0) }
    }

    /// Splits a line into its fields, without their quotes and the line's trailer.
    func fields(_ line: [UInt8]) -> [String] {
        var line = line[...]
        if collapses || trailer != 0 {
            while let last = line.last, last == Self.blank || last == Self.tab || last == trailer { line.removeLast() }
        }
        var fields: [String] = []
        var field: [UInt8] = []
        var isQuoted = false
        for byte in line {
            if byte == Self.quote {
                isQuoted.toggle()
            } else if byte == delimiter && !isQuoted {
                if collapses, field.isEmpty { continue }
                fields.append(Self.text(field))
                field.removeAll(keepingCapacity: true)
            } else {
                field.append(byte)
            }
        }
        fields.append(Self.text(field))
        return fields
    }

    /// The number in a field; `nil` for anything else.
    func number(_ field: String) -> Double? {
        // The standard library reads hexadecimal numbers, too, which rows may not have.
        guard let first = field.utf8.first, first < 0x3A, !field.utf8.contains(where: { $0 | 0x20 == 0x78 }) else {
            return nil
        }
        if let short = Self.short(field.utf8) { return short }
        let mayHaveComma = hasDecimalComma || hasQuotedCommas
        return Double(mayHaveComma && field.utf8.contains(Self.comma) ? field.replacing(",", with: ".") : field)
    }

    /// A number of up to 15 digits with or without a point, which is the nearest to an exact quotient: strtod takes ten times as long.
    private static func short(_ text: String.UTF8View) -> Double? {
        let isNegative = text.first == UInt8(ascii: "-")
        var (mantissa, digits, whole) = (Int64(0), 0, Int?.none)
        for byte in text.dropFirst(isNegative ? 1 : 0) {
            if byte == point, whole == nil, digits > 0 {
                whole = digits
            } else if byte &- 0x30 < 10, digits < 15 {
                (mantissa, digits) = (mantissa * 10 + Int64(byte &- 0x30), digits + 1)
            } else {
                return nil
            }
        }
        guard digits > whole ?? 0 else { return nil }
        let value = Double(mantissa) / DecimalPowers.exact[digits - (whole ?? digits)]
        return isNegative ? -value : value
    }

    /// The text of bytes without blanks at its ends; if they are not UTF-8, Latin-1, in which older programs write µ and ².
    private static func text(_ bytes: [UInt8]) -> String {
        // Nearly every field is letters, digits and signs of ASCII; to validate and to look at characters takes ten times as long.
        if bytes.allSatisfy({ (0x21..<0x7F).contains($0) }) { return String(decoding: bytes, as: UTF8.self) }
        let text =
            String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        return text.trimmingBlanks()
    }

    private static func withoutQuoted(_ line: [UInt8]) -> [UInt8] {
        var isQuoted = false
        return line.filter { byte in
            if byte == quote { isQuoted.toggle() }
            return !isQuoted
        }
    }
}

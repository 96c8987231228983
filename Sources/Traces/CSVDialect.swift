/// How a CSV file is written: what stands between the fields, and what may mark the decimals.
struct CSVDialect: Equatable {
    let delimiter: UInt8
    /// Whether a comma marks decimals as well as a point does.
    let hasDecimalComma: Bool

    /// What marks decimals beside the point: a comma, or the point once more.
    var otherMark: UInt8 { hasDecimalComma ? Self.comma : Self.point }

    static let point = UInt8(ascii: ".")
    static let newline = UInt8(ascii: "\n")
    static let tab = UInt8(ascii: "\t")
    private static let comma = UInt8(ascii: ",")
    private static let semicolon = UInt8(ascii: ";")

    /// Finds the dialect from the header.
    ///
    /// A comma that does not separate fields can only be a decimal comma, in whichever row it comes first.
    init(header: [UInt8]) {
        let unquoted = Self.withoutQuoted(header)
        delimiter = [Self.tab, Self.semicolon].first(where: unquoted.contains) ?? Self.comma
        hasDecimalComma = delimiter != Self.comma
    }

    /// Splits a line into its fields, without their quotes.
    func fields(_ line: [UInt8]) -> [String] {
        var fields: [String] = []
        var field: [UInt8] = []
        var isQuoted = false
        for byte in line {
            if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == delimiter && !isQuoted {
                fields.append(Self.text(field).trimmingBlanks())
                field = []
            } else {
                field.append(byte)
            }
        }
        fields.append(Self.text(field).trimmingBlanks())
        return fields
    }

    /// Bytes that are no UTF-8 are taken as Latin-1, in which older programs write µ and ².
    private static func text(_ bytes: [UInt8]) -> String {
        String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    private static func withoutQuoted(_ line: [UInt8]) -> [UInt8] {
        var isQuoted = false
        return line.filter { byte in
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            return !isQuoted
        }
    }
}

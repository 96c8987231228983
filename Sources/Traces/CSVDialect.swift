/// How a CSV file is written: what stands between the fields, and what marks the decimals.
struct CSVDialect: Equatable {
    let delimiter: UInt8
    let decimalMark: UInt8

    private static let comma = UInt8(ascii: ",")
    private static let semicolon = UInt8(ascii: ";")
    private static let tab = UInt8(ascii: "\t")

    /// Finds the dialect from the header and, for the decimal mark, from the first line of data.
    ///
    /// A decimal comma is only possible where the comma does not separate fields.
    init(header: [UInt8], firstRow: [UInt8]?) {
        let unquoted = Self.withoutQuoted(header)
        delimiter = [Self.tab, Self.semicolon].first(where: unquoted.contains) ?? Self.comma
        let row = firstRow ?? []
        let hasDecimalComma = delimiter != Self.comma && row.contains(Self.comma) && !row.contains(UInt8(ascii: "."))
        decimalMark = hasDecimalComma ? Self.comma : UInt8(ascii: ".")
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
                fields.append(String(decoding: field, as: UTF8.self).trimmingBlanks())
                field = []
            } else {
                field.append(byte)
            }
        }
        fields.append(String(decoding: field, as: UTF8.self).trimmingBlanks())
        return fields
    }

    private static func withoutQuoted(_ line: [UInt8]) -> [UInt8] {
        var isQuoted = false
        return line.filter { byte in
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            return !isQuoted
        }
    }
}

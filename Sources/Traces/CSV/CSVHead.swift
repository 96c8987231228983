import Binnacle
import PlainText

/// The dialect, layout and unit of time of a CSV file, from its first lines.
struct CSVHead {
    let dialect: CSVDialect
    let layout: CSVLayout
    let timeExponent: Int
    let notices: [TraceNotice]

    /// Reads the header and examines the first row, which is the next line afterwards.
    init(_ lines: LineReader, map: ColumnMap?, assumedKind: SampleKind?) throws(TraceError) {
        let path = lines.path
        var comment: (text: [UInt8], number: Int)?
        guard let first = try Self.nextText(lines, comment: &comment) else {
            throw TraceError(.data, path: path, "is empty: there is no header and no sample")
        }
        try Self.requireText(first.text, path, first.number)
        var header = first
        var firstRow: [UInt8]?
        let isRow = Self.isRow(first.text)
        if isRow {
            lines.putBack()
            firstRow = first.text
            // Some loggers write the header as a comment.
            if let comment, Self.isHeader(comment.text, of: first.text) { header = comment }
        } else if let row = try Self.nextText(lines, comment: &comment) {
            lines.putBack()
            firstRow = row.text
        }
        let line = header.number
        let fail = { TraceError(.data, path: path, line: line, $0) }
        dialect = CSVDialect(header: header.text)
        let isHeaderless = isRow && header.number == first.number
        var names = dialect.fields(header.text)
        if isHeaderless {
            guard map?.usesNumbers == true else {
                throw fail(
                    "there are numbers where the columns' names should be: name the columns with --map, as in "
                        + "'time=#1:UNIT,ax=#2:UNIT,ay=#3:UNIT,az=#4:UNIT'")
            }
            names = names.indices.map { "#\($0 + 1)" }
        } else if let firstRow {
            try Self.requireSameFields(firstRow, as: names, dialect, fail)
        }
        layout = try CSVLayout(names: names, map: map, assumedKind: assumedKind, fail: fail)
        var notices = layout.assumptions.map { TraceNotice(path: path, line: line, column: nil, message: $0) }
        if let exponent = layout.timeExponent {
            timeExponent = exponent
        } else {
            let (exponent, unit) = Self.guessTime(firstRow, layout.timeColumn, dialect)
            timeExponent = exponent
            notices.append(
                TraceNotice(
                    path: path, line: line, column: nil,
                    message: "no unit for '\(names[layout.timeColumn].printable)': taken as \(unit) "
                        + "(--map says otherwise)"))
        }
        self.notices = notices
    }

    /// The next line that is neither empty nor a comment; the last comment before it is kept.
    private static func nextText(
        _ lines: LineReader, comment: inout (text: [UInt8], number: Int)?
    ) throws(TraceError) -> (text: [UInt8], number: Int)? {
        while let line = try lines.next() {
            if line.bytes.first == UInt8(ascii: "#") {
                comment = (Array(line.bytes.dropFirst()), line.number)
            } else if !line.isBlank, !line.bytes.starts(with: "sep=".utf8) {
                // A line sep=; tells a spreadsheet the delimiter.
                return (Array(line.bytes), line.number)
            }
        }
        return nil
    }

    private static func isHeader(_ comment: [UInt8], of row: [UInt8]) -> Bool {
        let dialect = CSVDialect(header: comment)
        let count = dialect.fields(comment).count
        return count > 1 && count == dialect.fields(row).count && !isRow(comment)
    }

    /// Throws ``TraceError`` when the first row has other fields than the header, so that their dialects differ.
    private static func requireSameFields(
        _ row: [UInt8], as names: [String], _ dialect: CSVDialect, _ fail: (String) -> TraceError
    ) throws(TraceError) {
        let fields = dialect.fields(row)
        if fields.count > names.count, fields[names.count...].contains(where: { !$0.isEmpty }) {
            throw fail(
                "the first row has \(fields.count) fields, the header \(names.count): decimal commas cannot be told from "
                    + "commas between fields; separate the fields by semicolons")
        }
        if fields.count == 1, names.count > 1, CSVDialect(header: row).delimiter != dialect.delimiter {
            throw fail("the header and the rows separate their fields differently")
        }
    }

    private static func requireText(_ line: [UInt8], _ path: String, _ number: Int) throws(TraceError) {
        func fail(_ message: String, column: Int? = nil) -> TraceError {
            TraceError(.data, path: path, line: number, column: column, message)
        }
        if line.starts(with: [0xFF, 0xFE]) || line.starts(with: [0xFE, 0xFF]) {
            throw fail("is UTF-16 text: save it as UTF-8")
        }
        if line.starts(with: [0x1F, 0x8B]) { throw fail("is compressed with gzip: unpack it first") }
        if line.starts(with: "PK\u{3}\u{4}".utf8) { throw fail("is a zip archive: unpack it first") }
        if line.contains(UInt8(ascii: "\r")) { throw fail("its lines end with CR alone: convert them to LF") }
        let control = line.firstIndex { ($0 < 0x20 && $0 != UInt8(ascii: "\t")) || $0 == 0x7F }
        if let control {
            let hex = String(line[control], radix: 16)
            throw fail(
                "byte 0x\(hex.count < 2 ? "0" + hex : hex) is no text: this is not a CSV trace", column: control + 1)
        }
    }

    /// Whether a line starts with a number, as rows do and headers do not.
    private static func isRow(_ line: [UInt8]) -> Bool {
        guard let first = line.first(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\"") }) else {
            return false
        }
        return "0123456789+-.".utf8.contains(first)
    }

    /// The unit of a stamp without one: recent times since 1970 are recognised by their magnitude, all others are
    /// seconds.
    private static func guessTime(_ row: [UInt8]?, _ column: Int, _ dialect: CSVDialect) -> (
        exponent: Int, unit: String
    ) {
        let scanner = DecimalScanner(dialect)
        let padded = row.map { $0 + [UInt8](repeating: UInt8(ascii: "\n"), count: DecimalScanner.padding) }
        let value = padded?.withUnsafeBufferPointer { bytes -> Double? in
            guard var p = bytes.baseAddress else { return nil }
            let end = p + bytes.count - DecimalScanner.padding
            for _ in 0..<column where p <= end { scanner.skipField(&p, end) }
            guard p <= end, case .number(let decimal, let text) = scanner.scanField(&p, end) else { return nil }
            return decimal.value(in: text).magnitude
        }
        switch value ?? nil {
        case .some(1e17...): return (0, "nanoseconds since 1970")
        case .some(1e14...): return (3, "microseconds since 1970")
        case .some(1e11...): return (6, "milliseconds since 1970")
        default: return (9, "seconds")
        }
    }
}

extension LineReader.Line {
    /// Whether the line has only blanks or a comment.
    var isBlank: Bool {
        guard let first = bytes.first(where: { !" \t\r".utf8.contains($0) }) else { return true }
        return first == UInt8(ascii: "#")
    }
}

/// The delimiter and the decimal separators of a CSV file.
struct CSVDialect: Equatable {
    let delimiter: UInt8
    /// Whether a comma is a decimal separator, too.
    let hasDecimalComma: Bool

    /// The other decimal separator: a comma, or the point once more.
    var otherMark: UInt8 { hasDecimalComma ? Self.comma : Self.point }

    static let point = UInt8(ascii: ".")
    static let newline = UInt8(ascii: "\n")
    static let tab = UInt8(ascii: "\t")
    private static let comma = UInt8(ascii: ",")
    private static let semicolon = UInt8(ascii: ";")

    /// Derives the dialect from the header: a comma that does not delimit fields can only be a decimal separator.
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

    /// Bytes that are not UTF-8 are taken as Latin-1, in which older programs write µ and ².
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

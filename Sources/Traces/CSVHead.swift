import Binnacle

/// What the beginning of a CSV file tells about the rest.
struct CSVHead {
    let dialect: CSVDialect
    let layout: CSVLayout
    let timeExponent: Int
    let notices: [TraceNotice]

    /// Reads the header, looks at the first row, and leaves the reader in front of that row.
    init(_ lines: LineReader, map: ColumnMap?, assumedKind: SampleKind?) throws(TraceError) {
        let path = lines.path
        guard let (header, headerLine) = try Self.nextText(lines) else {
            throw TraceError(.data, path: path, "is empty: there is no header and no sample")
        }
        try Self.requireText(header, path, headerLine)
        let isHeaderless = Self.isRow(header)
        let fail = { TraceError(.data, path: path, line: headerLine, $0) }
        if isHeaderless, map?.usesNumbers != true {
            throw fail(
                "the first line has numbers where the columns' names should be: name the columns with --map "
                    + "'time=#1:s,ax=#2:g,ay=#3:g,az=#4:g'")
        }
        var firstRow: [UInt8]?
        if isHeaderless { lines.putBack() }
        if let (row, _) = try Self.nextText(lines) {
            firstRow = row
            lines.putBack()
        }
        dialect = CSVDialect(header: header, firstRow: firstRow)
        let names = dialect.fields(header)
        if let map {
            layout = try CSVLayout(map: map, names: isHeaderless ? nil : names, fail: fail)
        } else {
            layout = try CSVLayout(names: names, assumedKind: assumedKind, fail: fail)
        }
        var notices = layout.assumptions.map { TraceNotice(path: path, line: headerLine, column: nil, message: $0) }
        if let exponent = layout.timeExponent {
            timeExponent = exponent
        } else {
            let (exponent, unit) = Self.guessTime(firstRow, layout.timeColumn, dialect)
            timeExponent = exponent
            let name = isHeaderless ? "#\(layout.timeColumn + 1)" : names[layout.timeColumn]
            notices.append(
                TraceNotice(
                    path: path, line: headerLine, column: nil,
                    message: "no unit for '\(name)': taken as \(unit) (--map says otherwise)"))
        }
        self.notices = notices
    }

    /// The next line that is neither empty nor a comment.
    private static func nextText(_ lines: LineReader) throws(TraceError) -> ([UInt8], Int)? {
        while let line = try lines.next() {
            if !line.isBlank { return (Array(line.bytes), line.number) }
        }
        return nil
    }

    private static func requireText(_ line: [UInt8], _ path: String, _ number: Int) throws(TraceError) {
        if line.starts(with: [0xFF, 0xFE]) || line.starts(with: [0xFE, 0xFF]) {
            throw TraceError(.data, path: path, line: number, "is UTF-16 text: save it as UTF-8")
        }
        let control = line.firstIndex {
            ($0 < 0x20 && $0 != UInt8(ascii: "\t") && $0 != UInt8(ascii: "\r")) || $0 == 0x7F
        }
        if let control {
            let hex = String(line[control], radix: 16)
            throw TraceError(
                .data, path: path, line: number, column: control + 1,
                "byte 0x\(hex.count < 2 ? "0" + hex : hex) is no text: this is not a CSV trace")
        }
    }

    /// Whether a line starts with a number, as rows do and headers do not.
    private static func isRow(_ line: [UInt8]) -> Bool {
        guard let first = line.first(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\"") }) else {
            return false
        }
        return "0123456789+-.".utf8.contains(first)
    }

    /// A stamp without a unit: recent times counted from 1970 are told apart by their size, all others are seconds.
    private static func guessTime(_ row: [UInt8]?, _ column: Int, _ dialect: CSVDialect) -> (
        exponent: Int, unit: String
    ) {
        let scanner = DecimalScanner(delimiter: dialect.delimiter, decimalMark: dialect.decimalMark)
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
    /// Whether there is nothing on the line but blanks, or a comment.
    var isBlank: Bool {
        guard
            let first = bytes.first(where: {
                $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") && $0 != UInt8(ascii: "\r")
            })
        else { return true }
        return first == UInt8(ascii: "#")
    }
}

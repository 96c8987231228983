import Binnacle
import PlainText

/// The dialect and the layout of a CSV file, from its first lines.
struct CSVHead {
    let dialect: CSVDialect
    let layout: CSVLayout
    let notices: [TraceNotice]
    /// The number of the first row's line.
    let firstRowLine: Int

    /// The number of rows that decide what the header leaves open.
    private static let rowCount = 200
    /// The most lines before the rows.
    private static let preambleCount = 150

    /// Examines the first lines; the first row is the next line afterwards.
    init(_ lines: LineReader, hints: TraceHints) throws(TraceError) {
        let path = lines.path
        try Self.requireText(lines)
        let most = Self.preambleCount + Self.rowCount
        // A pipe whose header states everything is not waited for.
        var wanted = lines.size == nil ? 2 : most
        while true {
            let (first, isWhole) = try lines.firstLines(wanted)
            let mayGrow = !isWhole && first.count == wanted && wanted < most
            guard let preamble = CSVPreamble(first) else {
                guard !mayGrow else {
                    wanted += 1
                    continue
                }
                throw TraceError(.data, path: path, "is empty: there is no header and no sample")
            }
            let result = Result { () throws(TraceError) in try Self.layout(preamble, hints, path) }
            if mayGrow {
                let isSettled = if case .success(let layout) = result { layout.notices.isEmpty } else { false }
                guard isSettled, !preamble.rows.isEmpty else {
                    wanted = preamble.rows.isEmpty ? wanted + 1 : min(most, preamble.lineCount + Self.rowCount)
                    if wanted <= first.count { wanted = min(most, first.count + 1) }
                    continue
                }
            }
            layout = try result.get()
            dialect = preamble.dialect
            firstRowLine = preamble.lineCount + 1
            notices = layout.notices.map {
                TraceNotice(path: path, line: preamble.headerLine, column: nil, message: $0)
            }
            for _ in 0..<preamble.lineCount { _ = try lines.next() }
            return
        }
    }

    private static func layout(
        _ preamble: CSVPreamble, _ hints: TraceHints, _ path: String
    ) throws(TraceError) -> CSVLayout {
        let line = preamble.headerLine
        let rows = preamble.rows.prefix(rowCount)
        let width = max(preamble.names?.count ?? 0, preamble.rows.first?.count ?? 0)
        let table = HeadTable(Array(rows), width: width, preamble.dialect)
        if let misfit = preamble.misfit {
            throw TraceError(
                .data, path: path, line: misfit.line,
                "the first row has \(preamble.rows.first?.count ?? 0) fields, the header \(misfit.count): decimal commas cannot be told "
                    + "from commas between fields; separate the fields by semicolons, or write numbers with points",
                remedy: misfit.count * 2 == preamble.rows.first?.count
                    ? ForeignFormat.converted(path, suffix: "semicolons.csv") { input, output in
                        // Each number is two fields.
                        let program =
                            "NR <= \(preamble.lineCount) { gsub(/,/, \";\"); print; next } "
                            + "{ s = \"\"; for (i = 1; i < NF; i += 2) s = s (i > 1 ? \";\" : \"\") $i \",\" $(i + 1); print s }"
                        return "awk -F, \(ShellText.quoted(program)) \(input) > \(output)"
                    } : nil)
        }
        let names = preamble.names ?? (0..<width).map { "#\($0 + 1)" }
        if preamble.names == nil, hints.map?.usesNumbers != true {
            let unit = "'time=#1:UNIT,ax=#2:UNIT,ay=#3:UNIT,az=#4:UNIT'"
            let file = TraceFileName(path)
            let hertz = hints.rateHz ?? preamble.rate?.hertz ?? file.rateHz
            let time = CSVTimeChoice([], [], table, rate: hertz.map { ($0, "") })
            let advice = CSVAdvice(
                names: [], table: table, time: time, hints: hints, path: path)
            throw TraceError(
                .data, path: path, line: line,
                "there are numbers where the columns' names should be: name the columns with --map, as in \(unit)\(advice.rateNote)",
                remedy: advice.forUnnamed(kind: hints.assumedKind))
        }
        return try CSVLayout(names: names, table: table, hints: hints, path: path, rate: preamble.rate) {
            message, remedy in
            TraceError(.data, path: path, line: line, message, remedy: remedy)
        }
    }

    /// Refuses what is no text, in the first line.
    private static func requireText(_ lines: LineReader) throws(TraceError) {
        let path = lines.path
        // More than a line would delay a pipe.
        var text = try lines.firstBytes(1)
        if let line = try lines.firstLines(1).lines.first { text = line }
        func fail(_ message: String, column: Int? = nil, remedy: TraceRemedy? = nil) -> TraceError {
            TraceError(.data, path: path, line: 1, column: column, message, remedy: remedy)
        }
        if text.contains(UInt8(ascii: "\r")) {
            throw fail(
                "its lines end with CR alone: convert them to LF",
                remedy: ForeignFormat.converted(path, suffix: "lines.csv") { "tr '\\r' '\\n' < \($0) > \($1)" })
        }
        // A single such line may be settings before the rows.
        if let row = LabelledRow(text), let next = try lines.firstLines(2).lines.last,
            LabelledRow(next)?.names == row.names
        {
            throw fail("each number has its name before it: make a table of them", remedy: row.conversion(path))
        }
        let control = text.firstIndex { ($0 < 0x20 && $0 != UInt8(ascii: "\t")) || $0 == 0x7F }
        if let control {
            let hex = String(text[control], radix: 16)
            throw fail(
                "byte 0x\(hex.count < 2 ? "0" + hex : hex) is no text: this is not a CSV trace", column: control + 1)
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

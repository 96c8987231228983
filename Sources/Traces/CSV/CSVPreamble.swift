import Binnacle
import PlainText

/// The start of the rows in a CSV file, their dialect, and the line with the columns' names.
///
/// Files of loggers have empty lines, comments, key–value lines and lines of units before their rows. The rows are found first,
/// because they are many and alike; the header is the last line before them that has as many fields.
struct CSVPreamble {
    private(set) var dialect: CSVDialect
    /// The columns' names, with units from a line of their own in parentheses; `nil` without a header.
    private(set) var names: [String]?
    /// The line of the names, from 1, or of the first row if there is no header.
    private(set) var headerLine: Int
    let lineCount: Int
    /// The first rows, split into fields.
    private(set) var rows: [[String]]
    /// A header, or a line that looks like one, which has more or fewer fields than the rows, and their number.
    private(set) var misfit: (line: Int, count: Int)?
    /// The sampling rate stated in a line before the rows, and that line's number.
    private(set) var rate: (hertz: Double, line: Int)?
    /// The unit of a rate of turn in a line before the rows that is about a gyroscope, and that line's number.
    private(set) var turnUnit: (unit: TraceUnit, line: Int)?
    /// A number in Hz before the rows of which no word says that it is that of samples.
    private(set) var unnamedHertz: Double?

    /// The comments before the rows, split into fields.
    private var comments: [(line: Int, fields: [String])] = []

    private static let sampledLines = 25
    private static let headerSearch = 12

    /// Examines the first lines of a file; an empty file gives `nil`.
    init?(_ lines: [[UInt8]]) {
        let lines = Self.withPlainNames(lines)
        let filled = lines.indices.filter { !Self.isEmpty(lines[$0]) }
        guard let first = filled.first(where: { !Self.isComment(lines[$0]) && !Self.isSeparatorLine(lines[$0]) }) else {
            return nil
        }
        let text = filled.filter { !Self.isComment(lines[$0]) }
        // The last lines are more certainly rows than the first ones.
        let sample = text.suffix(Self.sampledLines).map { lines[$0] }
        guard let (found, width) = Self.dialect(of: sample) else {
            let dialect = CSVDialect(header: lines[first])
            self.dialect = dialect
            names = dialect.fields(lines[first])
            headerLine = first + 1
            lineCount = first + 1
            rows = lines.dropFirst(lineCount).filter { !Self.isEmpty($0) && !Self.isComment($0) }.map(dialect.fields)
            self.dialect.settleMarks(rows)
            return
        }
        dialect = found
        var start = Self.firstRow(lines, text, found, width)
        start = Self.startOfData(lines, text, from: start, found)
        let header = Self.header(lines, before: start, found, width)
        names = header?.names
        headerLine = (header?.line ?? start) + 1
        lineCount = start
        rows = lines.dropFirst(start).filter { !Self.isEmpty($0) && !Self.isComment($0) }.map(found.fields)
        dialect.settleMarks(rows)
        comments = lines[..<start].enumerated().filter { Self.isComment($0.element) }.map { index, line in
            (index + 1, found.fields(Self.uncommented(line)))
        }
        misfit = misfitOfNames
        if header == nil, let last = text.last(where: { $0 < start }) {
            let count = found.fields(lines[last]).count
            if count > 1, count < width, !found.collapses, ColumnName.areNames(found.fields(lines[last])) {
                misfit = (last + 1, count)
            }
        }
        let stated = lines[..<start].enumerated().flatMap { index, line in
            StatedRate.all(in: String(decoding: line.prefix(2000), as: UTF8.self)).map { (rate: $0, line: index + 1) }
        }
        for (index, line) in lines[..<start].enumerated() where turnUnit == nil && index != header?.line {
            turnUnit = Self.turnUnit(in: String(decoding: line.prefix(2000), as: UTF8.self)).map { ($0, index + 1) }
        }
        if let hertz = StatedRate.agreed(stated.map(\.rate)) {
            rate = stated.first { $0.rate.hertz == hertz && $0.rate.isNamed }.map { (hertz, $0.line) }
            if rate == nil { unnamedHertz = hertz }
        }
        if rate == nil, start == 2, header == nil, let hertz = found.number(found.fields(lines[1])[0]),
            StatedRate.possible.contains(hertz)
        {
            rate = (hertz, 2)
        }
    }

    /// The same with the rows alone that have a word in a column.
    func only(_ word: String, in column: Int) -> CSVPreamble {
        var own = self
        own.rows.removeAll { !$0.indices.contains(column) || $0[column] != word }
        if let heading = heading(of: word, in: column) {
            (own.names, own.headerLine) = (heading.fields, heading.line)
            own.misfit = own.misfitOfNames
        }
        return own
    }

    /// The header if all rows have fewer fields than it has names.
    private var misfitOfNames: (line: Int, count: Int)? {
        guard let names, !rows.isEmpty, rows.allSatisfy({ $0.count < names.count }) else { return nil }
        return (headerLine, names.count)
    }

    /// The comment that names the columns of the rows with a word, where those of several sensors have one each.
    func heading(of word: String, in column: Int) -> (line: Int, fields: [String])? {
        comments.first { _, fields in
            fields.indices.contains(column) && fields[column] == word && ColumnName.areNames(fields)
        }
    }

    /// The unit of samples that a line about a gyroscope names; units behind a number, of a range or an error, are others.
    private static func turnUnit(in line: String) -> TraceUnit? {
        let text = line.lowercased()
        let others = ["range", "scale", "fsr", "noise", "bias", "offset", "sensitiv", "resolution", "lsb", "thresh"]
        guard text.contains("gyr"), !others.contains(where: text.contains) else { return nil }
        let words = text.replacing(" per ", with: "/").split { " \t,;:=()[]".contains($0) }
        return zip(words, [""] + words).lazy.compactMap { word, previous in
            let isQuantity = previous.last?.isNumber ?? false
            return isQuantity ? nil : TraceUnit(String(word)).flatMap(Self.unitOfTurn)
        }.first
    }

    /// The unit itself if a gyroscope's values are known in it.
    private static func unitOfTurn(_ unit: TraceUnit) -> TraceUnit? {
        Quantity.of(.gyroscope).units.map(\.unit).first {
            $0.kind == unit.kind && abs($0.factor / unit.factor - 1) < 0.01
        }
    }

    // MARK: - Lines

    static func isEmpty(_ line: [UInt8]) -> Bool {
        line.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D || $0 == 0x2C || $0 == 0x3B }
    }

    private static func isComment(_ line: [UInt8]) -> Bool { line.first == UInt8(ascii: "#") }

    /// Whether a line is `sep=;`, which states the delimiter for a spreadsheet.
    private static func isSeparatorLine(_ line: [UInt8]) -> Bool {
        line.starts(with: "sep=".utf8) || line.starts(with: "\"sep=".utf8)
    }

    /// Removes the marks of a comment.
    private static func uncommented(_ line: [UInt8]) -> [UInt8] {
        Array(line.drop { $0 == 0x23 || $0 == 0x25 || $0 == 0x2F || $0 == 0x40 || $0 == 0x20 || $0 == 0x3B })
    }

    // MARK: - Rows

    /// The count of numbers if most fields are numbers, empty or times; otherwise `nil`.
    private static func numberCount(ofRow fields: [String], _ dialect: CSVDialect) -> Int? {
        let filled = fields.count { !$0.isEmpty }
        let numbers = fields.count { dialect.number($0) != nil }
        guard filled > 0, numbers > 0 else { return nil }
        // Nearly all rows: what else stands in them need not be looked at.
        if numbers >= 2, 2 * numbers >= filled { return numbers }
        let others = fields.count { !$0.isEmpty && (ClockTime($0) != nil || isMissing($0)) }
        return numbers + others >= 2 && 2 * (numbers + others) >= filled ? numbers : nil
    }

    private static func isMissing(_ field: String) -> Bool {
        ["nan", "inf", "-inf", "null", "na", "n/a", "none"].contains(field.lowercased())
    }

    /// The dialect under which most lines are rows with many numbers, and the usual number of fields.
    private static func dialect(of lines: [[UInt8]]) -> (CSVDialect, width: Int)? {
        var best: (dialect: CSVDialect, width: Int, rows: Int, numbers: Int)?
        let trailer = trailer(of: lines)
        let hasQuotes = lines.contains { $0.contains(UInt8(ascii: "\"")) }
        for candidate in CSVDialect.all {
            var dialect = CSVDialect(
                delimiter: candidate.delimiter, trailer: trailer == candidate.delimiter ? 0 : trailer)
            if hasQuotes { dialect.settleQuotedCommas(lines.map(dialect.fields)) }
            var widths: [Int: Int] = [:]
            var rows = 0
            var numbers = 0
            // A line that is one field is no row.
            for line in lines where line.contains(dialect.delimiter) {
                let fields = dialect.fields(line)
                guard let count = numberCount(ofRow: fields, dialect) else { continue }
                rows += 1
                numbers += count
                widths[fields.count, default: 0] += 1
            }
            guard rows > 0, let width = widths.max(by: { ($0.value, $0.key) < ($1.value, $1.key) })?.key, width > 1
            else { continue }
            if let best, (best.rows, best.numbers) >= (rows, numbers) { continue }
            best = (dialect, width, rows, numbers)
        }
        return best.map { ($0.dialect, $0.width) }
    }

    /// A byte at the end of nearly all lines, although another one separates the fields.
    private static func trailer(of lines: [[UInt8]]) -> UInt8 {
        for byte in [CSVDialect.semicolon, CSVDialect.comma] {
            let ends = lines.count { line in line.last { $0 != 0x20 && $0 != 0x0D } == byte }
            if ends * 5 >= lines.count * 4 { return byte }
        }
        return 0
    }

    /// The first row: one with the usual number of fields, or one that follows a header with that number.
    private static func firstRow(_ lines: [[UInt8]], _ text: [Int], _ dialect: CSVDialect, _ width: Int) -> Int {
        var isAfterHeader = false
        var headers: [[String]] = []
        var timed: Int?
        for index in text {
            let fields = dialect.fields(lines[index])
            if numberCount(ofRow: fields, dialect) != nil {
                if fields.count == width || isAfterHeader { return timed ?? index }
            } else if fields.count == width, let first = fields.first(where: { !$0.isEmpty }), ClockTime(first) != nil,
                headers.contains(where: ColumnName.areNames)
            {
                // Right before the rows, below the names, a time without a number is a row as well, such as that of an event.
                timed = timed ?? index
            } else {
                timed = nil
                isAfterHeader = fields.count == width && fields.count { $0.isEmpty } < fields.count
                if isAfterHeader { headers.append(fields) }
            }
        }
        return timed ?? text.first ?? 0
    }

    /// Skips two lines that repeat the start and the rate in each column, as some wristbands write them.
    private static func startOfData(_ lines: [[UInt8]], _ text: [Int], from start: Int, _ dialect: CSVDialect) -> Int {
        guard let place = text.firstIndex(of: start), place == 0, text.count > 3 else { return start }
        let heads = [0, 1].map { dialect.fields(lines[text[$0]]).map { dialect.number($0) } }
        guard heads.allSatisfy({ head in head.count > 1 && head.allSatisfy { $0 != nil && $0 == head[0] } }),
            let begin = heads[0][0], let rate = heads[1][0], begin > 5e8, rate >= 1, rate <= 10_000
        else { return start }
        return text[2]
    }

    // MARK: - Header

    /// The names of the columns in the lines before the first row.
    private static func header(
        _ lines: [[UInt8]], before start: Int, _ dialect: CSVDialect, _ width: Int
    ) -> (names: [String], line: Int)? {
        if let names = attributes(lines[..<start]), names.count == width { return (names, start - 1) }
        let rows = lines[start...].prefix(3).map(dialect.fields)
        var units: [String]?
        var searched = 0
        for index in lines[..<start].indices.reversed() where !isEmpty(lines[index]) {
            searched += 1
            guard searched <= headerSearch else { break }
            if isSeparatorLine(lines[index]) { continue }
            guard let fields = fields(lines[index], dialect, width, rows) else { continue }
            if Set(fields.filter { !$0.isEmpty }).count <= 1, width > 2, units != nil { continue }
            // How a logger has made a value of its samples, below their units.
            if fields.allSatisfy({ ["Smp", "Avg", "Max", "Min", "Std", "Tot", ""].contains($0) }) { continue }
            if units == nil, isUnits(fields), index > 0 {
                units = fields
                continue
            }
            guard let units else { return (fields, index) }
            // Lines between names and units state what is calibrated, or repeat the device.
            if fields.allSatisfy({ ["CAL", "RAW", "UNCAL", ""].contains($0) }) { continue }
            let names = fields.enumerated().map { place, name in
                place < units.count && TraceUnit(units[place]) != nil ? "\(name) (\(units[place]))" : name
            }
            return (names, index)
        }
        return units.map { ($0, start - 1) }
    }

    /// The fields of a line before the rows, when it has a field for each column.
    private static func fields(
        _ line: [UInt8], _ dialect: CSVDialect, _ width: Int, _ rows: [[String]]
    ) -> [String]? {
        let isMarked = line.first.map { "#%/@;".utf8.contains($0) } ?? false
        let text = isMarked ? uncommented(line) : line
        for candidate in [dialect] + CSVDialect.all.filter({ $0.delimiter != dialect.delimiter }) {
            var fields = candidate.fields(text)
            // A delimiter at the end of only the rows or only the header adds an empty column.
            while fields.count > width, fields.last == "" { fields.removeLast() }
            if fields.count == width - 1, candidate == dialect, ColumnName.areNames(fields) {
                // Statistics programs number the rows in a column without a name; others leave the last column without one.
                let isNumbered = rows.enumerated().allSatisfy { $1.first == "\($0 + 1)" } && rows.count > 1
                let endsWithText = rows[0].last.map { candidate.number($0) == nil } ?? false
                if isNumbered, !endsWithText || ColumnName(fields[width - 2]).role == .other { return [""] + fields }
                if endsWithText { return fields + [""] }
            }
            let isWider = candidate == dialect && !isMarked && fields.count > width
            guard fields.count == width || isWider, numberCount(ofRow: fields, candidate) == nil,
                fields.contains(where: { $0.contains(where: \.isLetter) })
            else { continue }
            // Prose contains blanks, too.
            if candidate.delimiter == CSVDialect.blank, candidate != dialect || isMarked {
                guard ColumnName.areNames(fields) else { continue }
            }
            return fields
        }
        return nil
    }

    /// Whether a line consists of units.
    private static func isUnits(_ fields: [String]) -> Bool {
        let filled = fields.filter { !$0.isEmpty }
        let known = filled.count { field in
            let bare = field.trimmingBrackets()
            return TraceUnit(bare) != nil && !["t", "T", "time", "a"].contains(bare)
        }
        return known > 0 && 2 * known >= filled.count
    }

    /// The names in lines `@attribute NAME TYPE`.
    private static func attributes(_ lines: ArraySlice<[UInt8]>) -> [String]? {
        let names = lines.compactMap { line -> String? in
            let fields = CSVDialect(delimiter: CSVDialect.blank).fields(line)
            guard fields.count >= 3, fields[0].lowercased() == "@attribute" else { return nil }
            return fields[1]
        }
        return names.isEmpty ? nil : names
    }
}

extension String {
    fileprivate func trimmingBrackets() -> String {
        guard let first, let last, count > 2, "([".contains(first), ")]".contains(last) else { return self }
        return String(dropFirst().dropLast())
    }
}

import Glibc

/// The dialect and the layout of a CSV file, from its first lines.
struct CSVHead {
    let dialect: CSVDialect
    private(set) var layout: CSVLayout
    private(set) var notices: [TraceNotice]
    private let headerLine: Int
    /// The fields of the line with the names; empty without one.
    let header: [String]

    /// The number of rows examined for what the header leaves open.
    private static let rowCount = 200
    /// The maximum number of lines before the rows.
    private static let preambleCount = 150

    /// Examines the first lines; the first row is the next line afterwards.
    init(_ lines: LineReader, hints: TraceHints) throws(TraceError) {
        let path = lines.path
        try Self.requireText(lines, hints)
        let most = Self.preambleCount + Self.rowCount
        // Do not wait for a pipe if its header is complete.
        var wanted = lines.size == nil ? 2 : most
        while true {
            let (first, isWhole) = try lines.firstLines(wanted)
            let mayGrow = !isWhole && first.count == wanted && wanted < most
            guard let preamble = CSVPreamble(first) else {
                guard !mayGrow else {
                    wanted += 1
                    continue
                }
                throw TraceError(
                    .data, path: path,
                    isWhole
                        ? "is empty\(first.allSatisfy(CSVPreamble.isEmpty) ? "" : " but for comments, which begin with #"): there is "
                            + "no header and no sample"
                        : "has no header and no sample in its first \(first.count) lines: remove what stands before them"
                )
            }
            let result = Result { () throws(TraceError) in try Self.layout(preamble, hints, path) }
            if mayGrow {
                let isSettled = if case .success(let layout) = result { !layout.isOpen } else { false }
                guard isSettled, !preamble.rows.isEmpty else {
                    wanted = preamble.rows.isEmpty ? wanted + 1 : min(most, preamble.lineCount + Self.rowCount)
                    if wanted <= first.count { wanted = min(most, first.count + 1) }
                    continue
                }
            }
            layout = try result.get()
            dialect = preamble.dialect
            headerLine = preamble.headerLine
            header = preamble.names == nil ? [] : dialect.fields(first[preamble.headerLine - 1])
            notices = layout.notices.map {
                TraceNotice(path: path, line: preamble.headerLine, column: nil, message: $0)
            }
            for _ in 0..<preamble.lineCount { _ = try lines.next() }
            return
        }
    }

    /// Whether a file has a header and no row.
    static func isAlone(in file: InputFile) throws(TraceError) -> Bool {
        let (first, isWhole) = try LineReader(file, isCancelled: { false }).firstLines(preambleCount)
        return isWhole && CSVPreamble(first).map { $0.names != nil && $0.rows.isEmpty } ?? false
    }

    /// Applies what the accelerometer says about the unit of a gyroscope.
    mutating func settle(_ stream: Int, _ verdict: GravityTurn.Verdict, path: String) {
        guard let rate = layout.streams[stream].rate else { return }
        let (unit, message) = rate.settled(verdict)
        layout.streams[stream].rate = nil
        layout.streams[stream].factors = layout.streams[stream].factors.map { $0 * (unit.factor / rate.unit.factor) }
        if let message { notices.append(TraceNotice(path: path, line: headerLine, column: nil, message: message)) }
    }

    /// Leaves out a gyroscope whose unit is unknown.
    mutating func leaveOut(_ stream: Int, _ message: String, path: String) {
        layout.streams.remove(at: stream)
        notices.append(TraceNotice(path: path, line: headerLine, column: nil, message: message))
    }

    private static func layout(
        _ preamble: CSVPreamble, _ hints: TraceHints, _ path: String
    ) throws(TraceError) -> CSVLayout {
        let line = preamble.headerLine
        let rows = preamble.rows.prefix(rowCount)
        let names = preamble.misfit == nil ? preamble.names : nil
        let count = preamble.rows.first?.count ?? 0
        let width = max(names?.count ?? 0, count)
        let table = HeadTable(Array(rows), width: width, preamble.dialect)
        if let misfit = preamble.misfit, hints.map?.usesNumbers != true, preamble.names.map(ColumnName.areNames) ?? true
        {
            let mayBeDecimals =
                preamble.dialect.delimiter == CSVDialect.comma && misfit.count < count && count <= 2 * misfit.count
                && !(preamble.rows.first ?? []).contains { $0.contains(".") }
            throw TraceError(
                .data, path: path, line: misfit.line,
                "the first row has \(count) fields, the header \(misfit.count): "
                    + (mayBeDecimals
                        ? "decimal commas cannot be told from commas between fields; separate the fields by semicolons, or write numbers "
                            + "with points"
                        : "nothing says which name is that of which field; write one name for each field into the header, or give the "
                            + "columns by their numbers, as in --map 'time=#1:UNIT,ax=#2:UNIT,ay=#3:UNIT,az=#4:UNIT'"),
                remedy: mayBeDecimals && misfit.count * 2 == count
                    ? .file(
                        ForeignFormat.beside(path, "semicolons.csv"),
                        madeBy: .filter("awk -F, \(ShellText.quoted(Self.joinedDecimals(after: preamble.lineCount)))"))
                    : nil)
        }
        let shown = names ?? (0..<width).map { "#\($0 + 1)" }
        if names == nil, hints.map?.usesNumbers != true {
            try CSVLayout.refuseMixedRows(table, [], shown, preamble, hints, path) { message, remedy in
                TraceError(.data, path: path, line: line, message, remedy: remedy)
            }
            let example =
                (width > 3
                    ? "'time=#1:UNIT,ax=#2:UNIT,ay=#3:UNIT,az=#4:UNIT'; without a time"
                    : "'ax=#1:UNIT,ay=#2:UNIT,az=#3:UNIT', and") + " give the samples a second with --rate"
            let file = TraceFileName(path)
            let hertz = hints.rateHz ?? preamble.rate?.hertz ?? file.rateHz
            let time = CSVTimeChoice([], [], table, rate: hertz.map { ($0, "") })
            let advice = CSVAdvice(
                names: [], table: table, time: time, hints: hints, path: path, unnamedHertz: preamble.unnamedHertz)
            let remedy = hints.remedy(advice.forUnnamed(kind: hints.assumedKind), for: path)
            let note = remedy == nil ? "" : advice.rateNote
            throw TraceError(
                .data, path: path, line: line,
                "there are numbers where the columns' names should be: name the columns with --map, as in \(example)\(note)",
                remedy: remedy)
        }
        return try CSVLayout(names: shown, table: table, hints: hints, path: path, preamble: preamble) {
            message, remedy in
            TraceError(.data, path: path, line: line, message, remedy: hints.remedy(remedy, for: path))
        }
    }

    /// The awk program that joins numbers which decimal commas have split into two fields.
    private static func joinedDecimals(after lineCount: Int) -> String {
        "NR <= \(lineCount) { gsub(/,/, \";\"); print; next } "
            + "{ s = \"\"; for (i = 1; i < NF; i += 2) s = s (i > 1 ? \";\" : \"\") $i \",\" $(i + 1); print s }"
    }

    /// The reason to refuse a file that begins like this; `nil` if it is readable.
    static func refusal(_ preamble: CSVPreamble, _ hints: TraceHints, _ path: String) -> TraceError? {
        do throws(TraceError) {
            _ = try layout(preamble, hints, path)
            return nil
        } catch {
            return error
        }
    }

    /// The command for a table that a filter makes, with what the table needs in turn, so that it suffices, and the reason for that.
    static func made(_ table: String, by filter: String, _ next: TraceError?) -> (words: String, remedy: TraceRemedy) {
        let options = if case .options(let options)? = next?.remedy { options } else { [String]() }
        return (
            next.map { ". Of that table: \($0.message)" } ?? "", .file(table, madeBy: .filter(filter), options: options)
        )
    }

    /// Refuses files that are not text by their first line, and then files that are not a table.
    private static func requireText(_ lines: LineReader, _ hints: TraceHints) throws(TraceError) {
        let path = lines.path
        // Reading more than a line would delay a pipe.
        var text = try lines.firstBytes(1)
        if let line = try lines.firstLines(1).lines.first { text = line }
        func fail(_ message: String, column: Int? = nil, remedy: TraceRemedy? = nil) -> TraceError {
            TraceError(.data, path: path, line: 1, column: column, message, remedy: remedy)
        }
        if text.contains(UInt8(ascii: "\r")) {
            throw fail(
                "its lines end with CR alone: convert them to LF",
                remedy: .file(ForeignFormat.beside(path, "lines.csv"), madeBy: .filter("tr '\\r' '\\n'")))
        }
        // A pipe has only a few lines at first.
        let first = try lines.firstLines(lines.size == nil ? 2 : rowCount).lines
        if let conversion = LabelledRow.table(first) ?? StampedRow.table(first) {
            let table = ForeignFormat.beside(path, "columns.csv")
            let next = CSVPreamble(conversion.lines).flatMap { Self.refusal($0, hints, table) }
            let made = Self.made(table, by: conversion.filter, next)
            throw fail(conversion.what + made.words, remedy: made.remedy)
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

/// The first rows of a CSV file as columns of numbers; they decide what the header leaves open.
struct HeadTable {
    struct Column {
        /// The numbers; NaN for a field without one or with a time of a clock.
        let values: [Double]
        /// The times in nanoseconds, if the column has times of a clock.
        let clock: [Double]?
        var stamps: [Double] { clock ?? values }
        let dateOrder: DateOrder.Evidence
        /// Whether these are times of a day without its date, and whether they are dates alone.
        var hasTimesOfDay: Bool { clocks { $0 < HeadTable.day } }
        var hasDates: Bool { clocks { $0 > HeadTable.day && $0.truncatingRemainder(dividingBy: HeadTable.day) == 0 } }
        let texts: Set<String>
        fileprivate(set) var fields: [String] = []
        /// The share of rows whose field differs from that of the row before.
        var changes: Double {
            let changed = zip(fields, fields.dropFirst()).count(where: !=)
            return fields.count > 1 ? Double(changed) / Double(fields.count - 1) : 0
        }

        /// The sum with the numbers of another column in the unit `factor`, from the first number of this one.
        fileprivate func adding(_ other: Column, in factor: Double) -> Column {
            if let clock {
                let sums = zip(clock, other.values).map { $0 + $1 * factor * 1e9 }
                return Column(values: values, clock: sums, dateOrder: dateOrder, texts: texts, fields: fields)
            }
            let first = values.first { $0.isFinite } ?? 0
            let sums = zip(values, other.values).map { ($0 - first) + $1 * factor }
            return Column(values: sums, clock: nil, dateOrder: DateOrder.Evidence([]), texts: [])
        }

        private func clocks(_ isSo: (Double) -> Bool) -> Bool {
            let found = (clock ?? []).filter(\.isFinite)
            return !found.isEmpty && found.allSatisfy(isSo)
        }

        /// Whether nearly all fields are numbers.
        var isNumeric: Bool { !values.isEmpty && 10 * values.count(where: \.isFinite) >= 9 * values.count }

        /// Whether the values rise from row to row, as times do and the distances of samples do not.
        var isRisingSteadily: Bool { steps.map { $0.isRising && $0.repeated < 0.5 } ?? false }

        /// The steps between stamps: the median of those that differ, whether stamps rise, the share of repeated stamps, and the
        /// rows per unit of time between the first rise and the last, 0 where there are not two.
        var steps: (median: Double, isRising: Bool, repeated: Double, rate: Double)? {
            let stamps = stamps.filter(\.isFinite)
            guard stamps.count > 1 else { return nil }
            var rises: [Double] = []
            var repeats = 0
            var risen: [Int] = []
            for (index, (one, next)) in zip(stamps, stamps.dropFirst()).enumerated() {
                if next > one {
                    rises.append(next - one)
                    risen.append(index + 1)
                }
                if next == one { repeats += 1 }
            }
            var rate = 0.0
            if let first = risen.first, let last = risen.last, last > first {
                rate = Double(last - first) / (stamps[last] - stamps[first])
            }
            rises.sort()
            let count = stamps.count - 1
            return (
                rises.isEmpty ? 0 : rises[rises.count / 2], 10 * (rises.count + repeats) >= 9 * count,
                Double(repeats) / Double(count), rate
            )
        }
    }

    static let day = 86_400e9
    let columns: [Column]
    let rowCount: Int
    let dialect: CSVDialect

    init(_ rows: [[String]], width: Int, _ dialect: CSVDialect) {
        self.dialect = dialect
        rowCount = rows.count
        columns = (0..<width).map { place in
            let fields = rows.map { place < $0.count ? $0[place] : "" }
            let values = fields.map { dialect.number($0) ?? .nan }
            let texts = zip(fields, values).compactMap { $1.isFinite || $0.isEmpty ? nil : $0 }
            var clock: [Double]?
            var order = DateOrder.Evidence([])
            if 2 * texts.count > fields.count {
                order = DateOrder.Evidence(texts)
                let times = fields.map { ClockTime($0, order: order.taken).map { Double($0.nanoseconds) } ?? .nan }
                if 10 * times.count(where: \.isFinite) >= 9 * times.count { clock = times }
            }
            return Column(values: values, clock: clock, dateOrder: order, texts: Set(texts.prefix(32)), fields: fields)
        }
    }

    /// The times of a column and of the others that have parts of them.
    func sum(of place: Int, _ parts: [CSVTime.Part]) -> Column {
        parts.reduce(columns[place]) { $0.adding(columns[$1.column], in: $1.unit.inSeconds) }
    }

    /// The first vectors in three columns.
    func vectors(_ places: [Int]) -> VectorStatistics {
        guard places.count == 3 else { return VectorStatistics([], [], []) }
        let axes = places.map { columns.indices.contains($0) ? columns[$0].values : [] }
        return VectorStatistics(axes[0], axes[1], axes[2])
    }

    /// Whether no row has anything in a column.
    func isEmpty(_ place: Int) -> Bool {
        !columns.indices.contains(place) || columns[place].fields.allSatisfy(\.isEmpty)
    }

    func areWhole(_ places: [Int]) -> Bool {
        places.allSatisfy { place in columns[place].values.allSatisfy { $0.isNaN || $0 == $0.rounded() } }
    }

    /// Why whole numbers are no values of a sensor as they stand; `nil` for others.
    func flaw(_ places: [Int], _ quantity: Quantity) -> String? {
        guard areWhole(places) else { return nil }
        if places.contains(where: { haveLostSigns(columns[$0].values) }) {
            return
                "whole numbers that jump between 0 and 65535, as negative ones do that were written without their sign: write "
                + "32768 to 65535 as -32768 to -1"
        }
        let vectors = vectors(places)
        // Half of a range of numbers is a power of two, which two axes read at 0 g.
        let halves = vectors.mean.count { abs(log2($0) - log2($0).rounded()) < 0.02 }
        // An axis of 0.8 V per g that points up reads 1.5 times as much as others at half of 3.3 V.
        switch quantity.judge(vectors) {
        case .counts(let perG) where perG.significand != 1 || halves == 2: break
        case .unit where halves > 1: break
        default: return nil
        }
        guard places.allSatisfy({ columns[$0].values.allSatisfy { $0.isNaN || $0 > 0 } }),
            let least = vectors.mean.min(), let most = vectors.mean.max(), most < 1.6 * least
        else { return nil }
        let means = vectors.mean.map { VectorStatistics.optionText($0.rounded()) }.joined(separator: ", ")
        return
            "whole numbers that are positive in each row and about as large in all axes (\(means) on average), as those of an "
            + "analogue sensor are, which reads half its supply at 0 g: subtract from each axis the mean of what it reads when it "
            + "points up and when it points down, and play the result"
    }

    /// Whether numbers jump between both ends of 16 bits, as negative ones do that were written without their sign.
    private func haveLostSigns(_ values: [Double]) -> Bool {
        values.allSatisfy { (0...65_535).contains($0) }
            && zip(values, values.dropFirst()).contains { abs($0 - $1) > 49_152 }
    }

    /// The neighbouring columns whose vectors fit a kind in some unit best, of those that have an order as axes.
    func candidates(
        for quantity: Quantity, without used: [Int], inOrder: (_ places: [Int]) -> [Int]?
    ) -> (places: [Int], unit: Quantity.Unit?, perG: Double)? {
        guard columns.count >= 3 else { return nil }
        var best: (places: [Int], unit: Quantity.Unit?, perG: Double, spread: Double)?
        // Small whole numbers are rather counts than m/s² or g.
        for isWhole in [false, true] where best == nil {
            for first in 0...(columns.count - 3) {
                let neighbours = [first, first + 1, first + 2]
                guard neighbours.allSatisfy({ isSensor($0) && !used.contains($0) }),
                    areWhole(neighbours) == isWhole, flaw(neighbours, quantity) == nil,
                    let places = inOrder(neighbours)
                else { continue }
                let vectors = vectors(places)
                // The right columns have a steadier length than columns that are neighbours by chance.
                guard vectors.isConstant, vectors.spread < (best?.spread ?? 1) - 0.05 else { continue }
                switch quantity.judge(vectors) {
                case .unit(let unit) where !isWhole || quantity.units[unit].typical.lowerBound > 100:
                    best = (places, quantity.units[unit], 0, vectors.spread)
                case .counts(let perG) where isWhole: best = (places, nil, perG, vectors.spread)
                default: continue
                }
            }
        }
        return best.map { ($0.places, $0.unit, $0.perG) }
    }

    private func isSensor(_ place: Int) -> Bool {
        let values = columns[place].values
        return columns[place].isNumeric && values.contains { $0.isFinite && $0 != values[0] }
    }
}

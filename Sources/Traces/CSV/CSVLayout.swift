import Binnacle
import PlainText

struct CSVLayout {
    struct Stream {
        /// The sensor's name; `nil` when the header has none.
        let sensor: String?
        let kind: SampleKind
        /// The factors that make the values of x, y and z m/s² or µT, with their signs.
        var factors: [Double]
        /// The columns of x, y and z, from 0.
        let columns: [Int]
        /// The offset added to z, in m/s²: gravity, if the user states that the file lacks it.
        var lift = 0.0
        /// The check of the unit against the first samples, if too few were available when the header was read.
        var lateCheck: UnitCheck?
        /// The unit of a gyroscope until the accelerometer has been compared with it.
        var rate: UnsettledRate?
    }

    let time: CSVTime
    /// Whether times that are taken as seconds may be hours, minutes and seconds without signs between them.
    let mayBeClock: Bool
    /// The streams in the order of their first columns; never empty.
    var streams: [Stream]
    /// Assumptions where the header is incomplete, and values that contradict it.
    let notices: [String]
    /// Whether further rows may change one of ``notices``.
    let isOpen: Bool

    /// Whether the file is a recording by Binnacle, which names its sensors and terminates every line.
    let isRecording: Bool

    /// Recognises the columns from their names (`#1` and so on without a header), the user's hints, which take precedence, and
    /// the first values.
    init(
        names: [String], table: HeadTable, hints: TraceHints, path: String, preamble: CSVPreamble,
        fail: (String, TraceRemedy?) -> TraceError
    ) throws(TraceError) {
        let file = TraceFileName(path)
        var mapped =
            try hints.map?.applied(to: names, fail: { fail($0, nil) })
            ?? MappedColumns(columns: ColumnName.all(names))
        let isRecording = names.first == Self.recordedTime
        // An array of more than three values is none of x, y and z.
        let arrays = Set(names.lazy.compactMap { ColumnName.element($0) }.filter { $0.index > 2 }.map(\.array))
        for index in mapped.columns.indices {
            if let array = ColumnName.element(names[index])?.array, arrays.contains(array),
                mapped.columns[index].stem != MappedColumns.stem
            {
                mapped.columns[index] = .unused
            }
            if !isRecording { mapped.columns[index].isRecorded = false }
            // "t" is the time only if no other column can be.
            if case .axis(_, nil) = mapped.columns[index].role, mapped.columns[index].sensor == nil {
                mapped.columns[index].content = file.content
            }
        }
        try Self.refuseMixedRows(table, mapped.columns, names, preamble, hints, path, fail)
        let time = CSVTimeChoice(
            mapped.columns, names, table,
            rate: Self.rate(hints, file, preamble.rate) ?? Self.rate(of: mapped.columns, names, table))
        let advice = CSVAdvice(
            names: names, table: table, time: time, hints: hints, path: path, unnamedHertz: preamble.unnamedHertz)
        if let column = time.time?.column, case .unknown(let unit) = mapped.columns[column].unit,
            table.columns.indices.contains(column), table.columns[column].clock == nil, Self.isName(unit)
        {
            throw fail(
                "'\(names[column].printable)': '\(unit.printable)' is no unit of time that is known (s, ms, us, ns); say "
                    + "which it is with --map time=COLUMN:UNIT", advice.forTimeUnit(column))
        }
        var axes = CSVAxes(mapped, names, table, hints, path, turnUnit: preamble.turnUnit)
        let found: [Stream]
        do throws(CSVAxes.Problem) {
            found = try axes.streams(advice)
        } catch {
            let note = error.remedy == nil ? "" : advice.rateNote
            throw fail((time.time == nil ? "no column holds the time; " : "") + error.message + note, error.remedy)
        }
        if let flaw = time.flaw {
            throw fail(
                "\(flaw.message), so that nothing says when each was taken: give the samples a second with --rate"
                    + (flaw.hertz == nil ? advice.placeholder : ""),
                .options(["--rate", flaw.hertz.map(VectorStatistics.optionText) ?? advice.usualRate]))
        }
        guard let chosen = time.time else { throw fail(advice.noTime, advice.forMissingTime(found)) }
        self.time = chosen
        mayBeClock = time.mayBeClock
        let (own, strangers) = Self.split(found, by: chosen, names, table)
        if !isRecording, let message = Self.backwards(own, chosen, table) {
            throw fail("'\(names[chosen.column ?? 0].printable)': \(message)", nil)
        }
        streams = own
        self.isRecording = found.allSatisfy { $0.columns.allSatisfy { mapped.columns[$0].isRecorded } }
        notices = axes.notices + axes.remarks + time.notices + time.remarks + strangers
        isOpen = !(axes.notices.isEmpty && time.notices.isEmpty)
    }

    /// Leaves out streams whose axes stand behind a column of other times, as blocks side by side in a sheet have.
    private static func split(
        _ streams: [Stream], by time: CSVTime, _ names: [String], _ table: HeadTable
    ) -> (own: [Stream], notices: [String]) {
        guard let chosen = time.column, streams.count > 1 else { return (streams, []) }
        // Names are long to parse, and most are those of axes.
        let axes = Set(streams.flatMap(\.columns))
        let times = names.indices.filter { place in
            table.columns.indices.contains(place) && !axes.contains(place) && table.columns[place].clock == nil
                && ColumnName(names[place]).role == .time
        }
        /// The seconds from the first row to the last that have both times, by the times of a column.
        func span(_ place: Int, beside other: Int) -> Double? {
            func values(_ place: Int) -> [Double] {
                table.sum(of: place, place == chosen ? time.parts : []).values
            }
            let pairs = zip(values(place), values(other)).filter { $0.isFinite && $1.isFinite }
            guard pairs.count > 9, let first = pairs.first?.0, let last = pairs.last?.0 else { return nil }
            var unit = CSVTimeChoice.guess(table.columns[place], table.columns[place].steps, rowCount: pairs.count).unit
            if case .known(.time(let stated)) = ColumnName(names[place]).unit { unit = stated }
            if place == chosen, case .number(_, let stated, _) = time { unit = stated }
            return (last - first) * unit.inSeconds
        }
        var notices: [String] = []
        let own = streams.filter { stream in
            guard let axis = stream.columns.min(), let nearest = times.last(where: { $0 < axis }), nearest != chosen,
                !time.parts.contains(where: { $0.column == nearest }),
                table.columns[nearest].steps.map({ $0.median > 0 }) ?? false,
                let one = span(nearest, beside: chosen),
                let other = span(chosen, beside: nearest), abs(one - other) > 0.1 * max(abs(one), abs(other))
            else { return true }
            notices.append(
                "\(list(stream.columns.map { names[$0] })) left out: '\(names[nearest].printable)' has the times of these; play them "
                    + "with --map 'time=#\(nearest + 1)'")
            return false
        }
        return own.isEmpty ? (streams, []) : (own, notices)
    }

    /// The reason to refuse stamps that go back again and again, and return: those of a clock that was set back do not return.
    private static func backwards(_ streams: [Stream], _ time: CSVTime, _ table: HeadTable) -> String? {
        guard let column = time.column, time.parts.isEmpty, table.columns.indices.contains(column) else { return nil }
        let (stamps, isOfDay) = (table.columns[column].stamps, table.columns[column].hasTimesOfDay)
        for stream in streams where stream.columns.allSatisfy(table.columns.indices.contains) {
            let rows = stamps.indices.filter { row in
                stamps[row].isFinite && stream.columns.allSatisfy { table.columns[$0].values[row].isFinite }
            }
            var (latest, behind, lost, returns) = (-Double.infinity, 0, 0, 0)
            for row in rows {
                // Another day of a clock without dates.
                if isOfDay, latest - stamps[row] > HeadTable.day / 2 { latest = stamps[row] }
                guard stamps[row] >= latest else {
                    behind += 1
                    continue
                }
                if behind > 0 { (lost, behind, returns) = (lost + behind, 0, returns + 1) }
                latest = stamps[row]
            }
            guard rows.count >= 20, returns > 2, 10 * lost > rows.count,
                let (before, after) = zip(rows, rows.dropFirst()).first(where: { stamps[$0] > stamps[$1] })
            else { continue }
            let fields = [before, after].map { "'\(table.columns[column].fields[$0].printable)'" }
            return
                "\(lost) of the first \(rows.count) samples lie before an earlier one, first in row \(after + 1), where "
                + "\(fields[1]) follows \(fields[0]): write fractions of a second with their leading zeros (.066 for 66 ms), sort the "
                + "rows by their time, or write the rows of each device into a file of its own"
        }
        return nil
    }

    /// The first column of a recording by Binnacle.
    private static let recordedTime = "time_ns"

    /// Whether a text in the position of a unit can be one; some apps write time zones there.
    private static func isName(_ unit: String) -> Bool { unit.contains(where: \.isLetter) }

    /// The rate of a file without times: the user's, or that of a line before the rows, or of the file's name.
    private static func rate(
        _ hints: TraceHints, _ file: TraceFileName, _ line: (hertz: Double, line: Int)?
    ) -> (hertz: Double, says: String?)? {
        if let hertz = hints.rateHz { return (hertz, nil) }
        if let line { return (line.hertz, "line \(line.line) says") }
        return file.rateHz.map { ($0, "the file's name says") }
    }

    /// The rate from a column that holds the time since the previous sample.
    private static func rate(
        of columns: [ColumnName], _ names: [String], _ table: HeadTable
    ) -> (hertz: Double, says: String?)? {
        for (place, column) in columns.enumerated() where column.role != .time && table.columns.indices.contains(place)
        {
            guard case .known(.time(let unit)) = column.unit, table.columns[place].isNumeric,
                !table.columns[place].isRisingSteadily
            else { continue }
            let distances = table.columns[place].values.filter(\.isFinite).sorted()
            guard distances.count > 9 else { continue }
            let hertz = 1 / (distances[distances.count / 2] * unit.inSeconds)
            if (2...100_000).contains(hertz) {
                return (hertz.rounded(), "the distances in '\(names[place].printable)' say")
            }
        }
        return nil
    }

    /// Refuses rows that alternate between several sensors, which a column names.
    static func refuseMixedRows(
        _ table: HeadTable, _ roles: [ColumnName], _ names: [String], _ preamble: CSVPreamble, _ hints: TraceHints,
        _ path: String, _ fail: (String, TraceRemedy?) -> TraceError
    ) throws(TraceError) {
        func refusal(
            _ what: String, _ words: [String], _ place: Int, take word: String, _ name: String,
            mayHaveDigits: Bool = false
        ) -> TraceError {
            let table = ForeignFormat.beside(path, name)
            let heading =
                preamble.heading(of: word, in: place).map { "NR == \($0.line)" } ?? "NR <= \(preamble.lineCount)"
            let made = filter(place, word, preamble.dialect, heading: heading, mayHaveDigits: mayHaveDigits)
                .map {
                    CSVHead.made(table, by: $0, CSVHead.refusal(preamble.only(word, in: place), hints, table))
                }
            return fail(
                "the rows are those of several \(what), as '\(names[place].printable)' says: \(list(words)). Write those of each into "
                    + "a file of its own\(made?.words ?? "")", made?.remedy)
        }
        for (place, column) in table.columns.enumerated() where (2...16).contains(column.texts.count) {
            let words = column.texts.sorted().map { (text: $0, words: ColumnWords($0)) }
            guard column.clock == nil, !column.values.contains(where: \.isFinite),
                column.texts.allSatisfy({ $0.count <= 40 && $0 == $0.printable }),
                let accelerometer = words.first(where: { $0.words.kind == .accelerometer && !$0.words.isWithoutGravity }
                ),
                words.contains(where: { $0.words.isOther || [.magnetometer, .gyroscope].contains($0.words.kind) })
            else { continue }
            throw refusal("sensors", words.map(\.text), place, take: accelerometer.text, "accelerometer.csv")
        }
        for (place, column) in table.columns.enumerated() where roles.indices.contains(place) {
            let isNamed = ColumnWords.areOfDevice(names[place])
            guard isNamed || roles[place].role == .other && roles[place].unit == .none, column.changes > 0.3 else {
                continue
            }
            // A header that is repeated has the column's own name.
            let values = Set(column.fields).subtracting([names[place]])
            guard (2...16).contains(values.count), column.fields.count >= 10, let first = values.min(),
                // A counter of the samples in a packet is none of two or three devices.
                values.count < 4 || names[place].lowercased() != "i",
                values.allSatisfy({ (1...40).contains($0.count) && $0 == $0.printable && !$0.contains(".") }),
                isNamed || table.areOfDevices(place, roles)
            else { continue }
            throw refusal("devices or sensors", values.sorted(), place, take: first, "first.csv", mayHaveDigits: true)
        }
    }

    /// The awk program for the lines with the names, and the rows of one word; `nil` if its fields cannot be compared as they are written.
    private static func filter(
        _ place: Int, _ word: String, _ dialect: CSVDialect, heading: String, mayHaveDigits: Bool
    ) -> String? {
        let delimiter = String(UnicodeScalar(dialect.delimiter))
        let written = ["|": "[|]", "\t": "\\t"][delimiter] ?? delimiter
        // With digits in it, it is a value of the row that says this, and not a name.
        guard !word.contains(where: { $0.isNumber && !mayHaveDigits || "\"\\".contains($0) || String($0) == delimiter })
        else {
            return nil
        }
        let separator = dialect.collapses ? "" : "-F \(ShellText.quoted(written)) "
        let field = "{ f = $\(place + 1); gsub(/\"|^ +|[ \\r]+$/, \"\", f) }"
        return "awk \(separator)" + ShellText.quoted("\(field) \(heading) || f == \"\(word)\"")
    }

    static func list(_ names: [String]) -> String {
        let shown = names.prefix(12).map { "'\($0.prefix(40).printable)'" }.joined(separator: ", ")
        return names.count > 12 ? shown + " and \(names.count - 12) more" : shown
    }
}

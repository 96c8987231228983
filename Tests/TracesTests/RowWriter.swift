/// Writes CSV files as a careless logger would: mostly plain rows, and anything else among them.
struct RowWriter {
    private struct Column {
        let name: String
        let isAxis: Bool
        let stream: Int
    }

    private let delimiter: String
    private let hasDecimalComma: Bool
    private let lineEnd: String
    private let timeUnit: (name: String, perSecond: Double, decimals: Int)
    private var columns: [Column] = []
    /// How many rows in a thousand have something unusual.
    private let unusualRows: Int
    /// How many decimals the axes usually have.
    private let decimals: Int
    /// Whether a stream has a sample in every row, or only in its own.
    private let streamsShareRows: Bool
    private var timeSeconds: Double

    init(_ random: inout some RandomNumberGenerator) {
        func pick<T>(_ choices: [T]) -> T { choices[Int.random(in: choices.indices, using: &random)] }
        delimiter = pick([",", ",", ";", "\t"])
        hasDecimalComma = delimiter != "," && Bool.random(using: &random)
        lineEnd = pick(["\n", "\n", "\r\n"])
        timeUnit = pick([("s", 1, 3), ("s", 1, 9), ("ms", 1e3, 0), ("ms", 1e3, 6), ("us", 1e6, 0), ("ns", 1e9, 0)])
        unusualRows = pick([0, 5, 50, 500])
        decimals = pick([0, 1, 4, 6, 7, 8, 9, 15])
        streamsShareRows = Bool.random(using: &random)
        timeSeconds = pick([0, -1, 12.5, 1_700_000_000])
        let isRecording = Int.random(in: 0..<4, using: &random) == 0
        let unit = pick(["m_s2", "g", "mg"])
        var axes: [[Column]] = []
        for stream in 0..<pick([1, 1, 2, 3]) {
            let kind = stream == 1 ? ("m", "uT") : ("a", unit)
            let prefix = isRecording || stream == 2 ? "s\(stream)." : ""
            var names = ["x", "y", "z"].map {
                Column(name: "\(prefix)\(kind.0)\($0)_\(kind.1)", isAxis: true, stream: stream)
            }
            if !isRecording { names.shuffle(using: &random) }
            axes.append(names)
        }
        columns = [Column(name: "t_\(timeUnit.name)", isAxis: false, stream: -1)] + axes.joined()
        if !isRecording {
            for index in 0..<pick([0, 0, 1, 3]) {
                let place = Int.random(in: 0...columns.count, using: &random)
                columns.insert(Column(name: "note\(index)", isAxis: false, stream: -2), at: place)
            }
            if Int.random(in: 0..<3, using: &random) == 0 { columns.shuffle(using: &random) }
        }
    }

    /// A file with a header and so many rows.
    mutating func text(rowCount: Int, using random: inout some RandomNumberGenerator) -> [UInt8] {
        var text = columns.map(\.name).joined(separator: delimiter) + lineEnd
        // The first row says how the rows are written.
        text += row(isPlain: true, &random) + lineEnd
        for _ in 1..<rowCount {
            let isUnusual = Int.random(in: 0..<1000, using: &random) < unusualRows
            text += isUnusual ? unusualRow(&random) : row(isPlain: true, &random) + lineEnd
        }
        if Int.random(in: 0..<4, using: &random) == 0 {
            text = String(text.unicodeScalars.dropLast(Int.random(in: 1...12, using: &random)))
        }
        return Array(text.utf8)
    }

    private mutating func row(isPlain: Bool, _ random: inout some RandomNumberGenerator) -> String {
        timeSeconds += Double(Int.random(in: 1...20, using: &random)) / 1000
        let streamCount = (columns.map(\.stream).max() ?? 0) + 1
        let absent = streamsShareRows || streamCount == 1 ? -1 : Int.random(in: 0..<streamCount, using: &random)
        return columns.map { column in
            if column.isAxis { return column.stream == absent ? "" : axis(isPlain: isPlain, &random) }
            return column.stream == -1 ? time(&random) : note(isPlain: isPlain, &random)
        }.joined(separator: delimiter)
    }

    private func time(_ random: inout some RandomNumberGenerator) -> String {
        number(timeSeconds * timeUnit.perSecond, timeUnit.decimals)
    }

    private func axis(isPlain: Bool, _ random: inout some RandomNumberGenerator) -> String {
        let plain = number(Double.random(in: -20...20, using: &random), decimals)
        guard !isPlain, Int.random(in: 0..<3, using: &random) == 0 else { return plain }
        let unusual = [
            "", " ", "\"\(plain)\"", " \(plain)", "\(plain) ", "nan", "-inf", "NaN", "x", "-", "+", ".", "-.", "1.",
            ".5",
            "-.5", "+1.5", "--1.5", "+-1.5", "1.2.3", "1,2,3", "0x10", "1e2", "1.5E-3", "1e99", "-1e-99", "1e", "1e+",
            "00000000.00000001", "0000000001.5", "12345678.12345678", "9007199.254740993", "123456789.5", "1.123456789",
            "9007199254740993e-12", "123456789012345678901234567890e-25", "0.000000000000000000000000000001234", "-0",
            "-0.0", "10000000.0", "10000000.1", "99999999.9", "-10000000.0", "\u{663}", "1_000", "1\u{0}5", "\u{FF}.5",
            "/.5", ":.5", "1.:", "1./", "\"\"", "\"",
        ]
        return unusual[Int.random(in: unusual.indices, using: &random)]
    }

    private func note(isPlain: Bool, _ random: inout some RandomNumberGenerator) -> String {
        let notes = ["", "walk", "1.5", "a.b.c", "12:30:01.5", String(repeating: "long ", count: 30), "-", "e"]
        let unusual = ["#", " #", "\"a\(delimiter)b\"", " ", "x\"", "\"", "\t", "#\(delimiter)", "\u{1}"]
        let choices = isPlain ? notes : notes + unusual
        return choices[Int.random(in: choices.indices, using: &random)]
    }

    /// A line that is no plain row, with its end.
    private mutating func unusualRow(_ random: inout some RandomNumberGenerator) -> String {
        let plain = row(isPlain: true, &random)
        switch Int.random(in: 0..<14, using: &random) {
        case 0: return lineEnd
        case 1: return "# \(plain)\(lineEnd)"
        case 2: return "  \(lineEnd)"
        case 3:
            return String(plain.unicodeScalars.prefix(Int.random(in: 0...plain.utf8.count, using: &random))) + lineEnd
        case 4: return plain + delimiter + "more" + delimiter + lineEnd
        case 5: return plain + "\r" + lineEnd
        case 6:
            // A step back, and on from there or from where it was.
            let kept = timeSeconds
            timeSeconds -= Double.random(in: 0...2, using: &random)
            let back = row(isPlain: true, &random)
            if Bool.random(using: &random) { timeSeconds = kept }
            return back + lineEnd
        case 7:
            let again = timeSeconds
            timeSeconds -= 0.001
            defer { timeSeconds = again }
            return plain + lineEnd + plain + lineEnd
        case 8:
            timeSeconds += Double.random(in: 9...11, using: &random)
            return row(isPlain: true, &random) + lineEnd
        case 9:
            let kept = timeSeconds
            timeSeconds += 1000
            defer { if Bool.random(using: &random) { timeSeconds = kept } }
            return row(isPlain: true, &random) + lineEnd
        case 10: return String(repeating: "x\(lineEnd)", count: Int.random(in: 1...1100, using: &random))
        default: return row(isPlain: false, &random) + lineEnd
        }
    }

    /// A number with so many decimals, by hand because Foundation is not here.
    private func number(_ value: Double, _ decimals: Int) -> String {
        let mark = hasDecimalComma ? "," : "."
        let whole = value.magnitude.rounded(.towardZero)
        var rest = value.magnitude - whole
        var text = (value < 0 ? "-" : "") + String(Int64(whole))
        guard decimals > 0 else { return text }
        text += mark
        for _ in 0..<decimals {
            rest *= 10
            text += String(Int(rest) % 10)
            rest -= rest.rounded(.towardZero)
        }
        return text
    }
}

/// A row in which each number has its name before it, such as `ax:0.08,ay:-0.20,az:9.80`.
///
/// Programs print such rows for the serial plotter of the Arduino environment. Its monitor may have put a time before them.
struct LabelledRow {
    let names: [String]
    private let values: [Substring]

    /// `nil` for a row in which not everything is a name and a number.
    init?(_ line: [UInt8]) {
        var names: [String] = []
        var values: [Substring] = []
        var rest = String(decoding: line, as: UTF8.self)[...]
        func skip(_ isSkipped: (Character) -> Bool) { rest = rest.drop(while: isSkipped) }
        if let stamped = StampedRow(line) {
            names.append("time")
            values.append(stamped.time[...])
            rest = stamped.rest
        }
        let stampCount = names.count
        skip(\.isWhitespace)
        while !rest.isEmpty {
            let name = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber) || $0 == "_" }
            guard let first = name.first, !first.isNumber else { return nil }
            rest = rest[name.endIndex...]
            guard rest.first == ":" || rest.first == "=" else { return nil }
            rest.removeFirst()
            skip { $0 == " " }
            let number = rest.prefix { !$0.isWhitespace && $0 != "," && $0 != ";" }
            guard Double(number) != nil else { return nil }
            rest = rest[number.endIndex...]
            names.append(String(name))
            values.append(number)
            skip { $0.isWhitespace || $0 == "," || $0 == ";" }
        }
        guard names.count - stampCount >= 2 else { return nil }
        self.names = names
        self.values = values
    }

    /// What makes a table of a file that begins with these lines.
    static func table(_ first: [[UInt8]]) -> LineConversion? {
        // A single such line may be settings before the rows.
        guard first.count > 1, let row = LabelledRow(first[0]), LabelledRow(first[1])?.names == row.names else {
            return nil
        }
        let header = row.names.joined(separator: ",")
        return LineConversion(
            what: "each number has its name before it: make a table of them",
            lines: [Array(header.utf8)]
                + first.map { line in LabelledRow(line).map { Array($0.values.joined(separator: ",").utf8) } ?? line }
        ) { input, output in
            "{ echo \(header); sed -E '\(StampedRow.separated(by: ","));s/[[:alpha:]_][[:alnum:]_]*[:=] *//g;"
                + "s/[[:blank:],;]+/,/g' \(input); } > \(output)"
        }
    }
}

/// A row with the time of day before it, such as `12:30:10.040 -> 0.08,-0.20,9.80`: what the serial monitor of the Arduino
/// environment shows, and so what is copied from it.
struct StampedRow {
    let time: String
    /// What stands behind the arrow.
    let rest: Substring

    private static let arrow = "->"

    /// `nil` when no time and no arrow stand at the beginning.
    init?(_ line: [UInt8]) {
        let text = String(decoding: line, as: UTF8.self)
        guard let arrow = text.firstRange(of: Self.arrow) else { return nil }
        time = text[..<arrow.lowerBound].trimmingBlanks()
        guard ClockTime(time) != nil else { return nil }
        rest = text[arrow.upperBound...].drop(while: \.isWhitespace)
    }

    /// The program for sed that puts a delimiter in the place of the arrow.
    static func separated(by delimiter: String) -> String { "s/ *\(arrow) */\(delimiter)/" }

    /// What makes a field of the time in a file that begins with these lines.
    static func table(_ first: [[UInt8]]) -> LineConversion? {
        guard let row = first.first.flatMap(StampedRow.init) else { return nil }
        let delimiter: Character = ["\t", ";", ","].first { row.rest.contains($0) } ?? " "
        return LineConversion(
            what: "an arrow follows the time in each row: make a field of the time",
            lines: first.map { line in StampedRow(line).map { Array("\($0.time)\(delimiter)\($0.rest)".utf8) } ?? line }
        ) { input, output in
            "sed '\(separated(by: delimiter == "\t" ? "\\t" : String(delimiter)))' \(input) > \(output)"
        }
    }
}

/// A program for the shell that makes a table of a file that is none.
struct LineConversion {
    /// What is wrong with the file.
    let what: String
    /// The first lines of the table.
    let lines: [[UInt8]]
    /// The program, for the names of the file and of the table.
    let program: (String, String) -> String
}

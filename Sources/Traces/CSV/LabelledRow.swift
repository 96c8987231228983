import PlainText

/// A row in which a name precedes each number, such as `ax:0.08,ay:-0.20,az:9.80`.
///
/// Programs print such rows for the serial plotter of the Arduino environment, whose monitor may prefix a time.
struct LabelledRow {
    let names: [String]
    private let values: [Substring]

    /// `nil` for a row with anything but names and numbers.
    init?(_ line: [UInt8]) {
        var names: [String] = []
        var values: [Substring] = []
        var rest = String(decoding: line, as: UTF8.self)[...]
        func skip(_ isSkipped: (Character) -> Bool) { rest = rest.drop(while: isSkipped) }
        func isSeparator(_ character: Character) -> Bool { character.isWhitespace || ",;|".contains(character) }
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
            skip { $0 == " " }
            guard rest.first == ":" || rest.first == "=" else { return nil }
            rest.removeFirst()
            skip { $0 == " " }
            let number = rest.prefix { !isSeparator($0) }
            guard Double(number) != nil else { return nil }
            rest = rest[number.endIndex...]
            names.append(String(name))
            values.append(number)
            skip(isSeparator)
        }
        guard names.count - stampCount >= 2 else { return nil }
        self.names = names
        self.values = values
    }

    /// The conversion to a table of a file that begins with these lines; `nil` if it has no labelled rows.
    static func table(_ first: [[UInt8]]) -> LineConversion? {
        // A single such line may hold settings before the rows.
        guard first.count > 1, let row = LabelledRow(first[0]), LabelledRow(first[1])?.names == row.names else {
            return nil
        }
        let header = row.names.joined(separator: ",")
        return LineConversion(
            what: "each number has its name before it: make a table of them",
            lines: [Array(header.utf8)]
                + first.map { line in LabelledRow(line).map { Array($0.values.joined(separator: ",").utf8) } ?? line },
            filter: "sed -E '\(StampedRow.separated(by: ","));s/[[:alpha:]_][[:alnum:]_]* *[:=] *//g;"
                + "s/[[:blank:],;|]+/,/g;1s/^/\(header)\\n/'")
    }
}

/// A row prefixed with the time of day, such as `12:30:10.040 -> 0.08,-0.20,9.80`, as copied from the serial monitor of the
/// Arduino environment.
struct StampedRow {
    let time: String
    let rest: Substring

    private static let arrow = "->"

    /// `nil` when the row does not begin with a time and an arrow.
    init?(_ line: [UInt8]) {
        let text = String(decoding: line, as: UTF8.self)
        guard let arrow = text.firstRange(of: Self.arrow) else { return nil }
        time = text[..<arrow.lowerBound].trimmingBlanks()
        guard ClockTime(time) != nil else { return nil }
        rest = text[arrow.upperBound...].drop(while: \.isWhitespace)
    }

    /// The sed program that replaces the arrow by a delimiter.
    static func separated(by delimiter: String) -> String { "s/ *\(arrow) */\(delimiter)/" }

    /// The conversion that makes the time a field, for a file that begins with these lines; `nil` if it has no stamped rows.
    static func table(_ first: [[UInt8]]) -> LineConversion? {
        guard let row = first.first.flatMap(StampedRow.init) else { return nil }
        let delimiter: Character = ["\t", ";", ","].first { row.rest.contains($0) } ?? " "
        return LineConversion(
            what: "an arrow follows the time in each row: make a field of the time",
            lines: first.map { line in StampedRow(line).map { Array("\($0.time)\(delimiter)\($0.rest)".utf8) } ?? line
            },
            filter: "sed '\(separated(by: delimiter == "\t" ? "\\t" : String(delimiter)))'")
    }
}

/// A shell program that converts a file to a table.
struct LineConversion {
    let what: String
    let lines: [[UInt8]]
    /// The shell command that reads the file and writes the table.
    let filter: String
}

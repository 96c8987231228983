/// A row in which each number has its name before it, such as `ax:0.08,ay:-0.20,az:9.80`: what programs print for the serial
/// plotter of the Arduino environment.
struct LabelledRow {
    let names: [String]

    /// The names of a row in which everything is a name and a number; `nil` for another one.
    init?(_ line: [UInt8]) {
        var names: [String] = []
        var rest = String(decoding: line, as: UTF8.self)[...]
        func skip(_ isSkipped: (Character) -> Bool) { rest = rest.drop(while: isSkipped) }
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
            skip { $0.isWhitespace || $0 == "," || $0 == ";" }
        }
        guard names.count >= 2 else { return nil }
        self.names = names
    }

    /// The command that makes a table of such a file.
    func conversion(_ path: String) -> TraceRemedy {
        ForeignFormat.converted(path, suffix: "columns.csv") { input, output in
            "{ echo \(names.joined(separator: ",")); "
                + "sed -E 's/[[:alpha:]_][[:alnum:]_]*[:=] *//g; s/[[:blank:],;]+/,/g' \(input); } > \(output)"
        }
    }
}

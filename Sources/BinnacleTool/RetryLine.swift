import CommandRows
import PlainText
import Station
import Traces

/// A command to paste, which succeeds where a recording was refused for lack of information.
enum RetryLine {
    /// Makes the line; `nil` if no command is known.
    static func text(_ error: StationError, _ command: CommandRow?, _ arguments: [String]) -> String? {
        guard let refused = error.refusedTrace, let command else { return nil }
        let line: String
        switch refused.remedy {
        case .file(let file, let maker, let options):
            // The other file may be among the arguments already.
            let others =
                arguments.contains { $0 == file || $0.hasSuffix("=" + file) }
                ? without(refused.path, arguments, command) : arguments
            let words = others.map { replaced($0, refused.path, file) }
            let added = command.options.contains(.map) ? options : []
            line =
                (maker.isEmpty ? "" : maker + " && ")
                + shell([command.name.rawValue] + added + without(added, words))
        case .leftOut:
            let words = without(refused.path, arguments, command)
            guard words.count < arguments.count else { return nil }
            line = shell([command.name.rawValue] + words)
        case .options(let options):
            let isNamed = arguments.contains {
                $0 == refused.path || $0.hasSuffix("=" + refused.path) || $0.contains("=\(refused.path):")
            }
            if isNamed, command.options.contains(.map) {
                line = shell([command.name.rawValue] + options + without(options, arguments))
            } else {
                // The command has no such options, or the file is named in a configuration: convert it once.
                let stem = refused.path.lowercased().hasSuffix(".csv") ? String(refused.path.dropLast(4)) : refused.path
                line = shell(["convert"] + options + [refused.path, "-o", stem + ".converted.csv"])
            }
        }
        // Unprintable characters cannot be pasted.
        return line == line.printable ? "try: " + line : nil
    }

    private static func shell(_ words: [String]) -> String {
        (["binnacle"] + words).map(ShellText.quoted).joined(separator: " ")
    }

    /// The arguments without a file, and without all others that would be refused in turn because no detector uses them.
    private static func without(_ path: String, _ arguments: [String], _ command: CommandRow) -> [String] {
        func isLeftOut(_ word: String) -> Bool { word == path || TraceFile.isUseless(path: word) }
        let trace = "--" + OptionRow.trace.name
        var kept: [String] = []
        var rest = arguments[...]
        while let word = rest.popFirst() {
            let takesValue = command.options.contains { option in
                option.argument != nil
                    && (word == "--" + option.name || option.letter.map { word == "-\($0)" } ?? false)
            }
            guard takesValue, let value = rest.popFirst() else {
                let file = word.hasPrefix(trace + "=") ? String(word.dropFirst(trace.count + 1)) : word
                if !isLeftOut(file) { kept.append(word) }
                continue
            }
            if word != trace || !isLeftOut(value) { kept += [word, value] }
        }
        return kept
    }

    private static func replaced(_ word: String, _ path: String, _ file: String) -> String {
        if word == path { return file }
        guard let equals = word.firstIndex(of: "=") else { return word }
        let (name, value) = (word[...equals], word[word.index(after: equals)...])
        if value == path { return name + file }
        return value.hasPrefix(path + ":") ? name + file + value.dropFirst(path.count) : word
    }

    /// The user's arguments without the options that are added.
    private static func without(_ options: [String], _ arguments: [String]) -> [String] {
        // Additions for acceleration are merged with the columns that the user named.
        let namesColumns = options.contains { $0.contains("=") && !$0.hasPrefix("acceleration=") }
        var rest = arguments[...]
        var kept: [String] = []
        while let word = rest.popFirst() {
            guard let option = ["--map", "--rate"].first(where: { word == $0 || word.hasPrefix($0 + "=") }),
                options.contains(option), option != "--map" || namesColumns
            else {
                kept.append(word)
                continue
            }
            if word == option { _ = rest.popFirst() }
        }
        return kept
    }
}

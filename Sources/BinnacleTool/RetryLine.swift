import CommandRows
import LinuxSystem
import PlainText
import Station
import Traces

/// A command to paste, which succeeds where a recording was refused for lack of information.
enum RetryLine {
    /// Makes the line; `nil` if no command is known.
    static func text(_ error: StationError, _ command: CommandRow?, _ arguments: [String]) -> String? {
        guard let refused = error.refusedTrace, let command,
            let line = line(refused.path, refused.remedy, command, arguments)
        else { return nil }
        // Unprintable characters cannot be pasted.
        return line == line.printable ? "try: " + line : nil
    }

    private static func line(
        _ path: String, _ remedy: TraceRemedy, _ command: CommandRow, _ arguments: [String]
    ) -> String? {
        guard path != Arguments.standardInput else { return piped(remedy, command, arguments) }
        // What another pipe had is gone.
        guard (try? fileStatus(path))?.isRegular ?? false else { return nil }
        let name = command.name.rawValue
        let isNamed = arguments.contains { replaced($0, path, path + ".") != $0 }
        // A folder takes what was made in it in place of the file.
        let isInFolder = arguments.contains { !$0.isEmpty && path.hasPrefix($0.hasSuffix("/") ? $0 : $0 + "/") }
        let again = isInFolder ? shell([name] + arguments) : nil
        switch remedy {
        case .file(let file, let maker, let options):
            // The other file may be among the arguments already.
            let others =
                arguments.contains { $0 == file || $0.hasSuffix("=" + file) }
                ? without(path, arguments, command, hasAccelerometer: maker == .none) : arguments
            let added = command.options.contains(.map) ? options : []
            let (input, output) = (ShellText.quoted(path), ShellText.quoted(file))
            let first: String? =
                switch maker {
                case .none: nil
                case .command(let text): text
                case .filter(let text): "\(text) < \(input) > \(output)"
                case .conversion(let options): shell(["convert", "--force"] + options + [path, "-o", file])
                }
            // A configuration that names the file has to name the other one then.
            guard isNamed else { return first.map { chain($0, again) } }
            let next = shell([name] + added + without(added, others.map { replaced($0, path, file) }))
            return chain(first, next)
        case .leftOut:
            let words = without(path, arguments, command)
            return words.count < arguments.count ? shell([name] + words) : nil
        case .options(let options):
            if isNamed, command.options.contains(.map) { return shell([name] + options + without(options, arguments)) }
            // The command has no such options, or the file is named in a configuration: convert it once.
            let file = ForeignFormat.beside(path, ForeignFormat.convertedSuffix)
            let words = ["convert", "--force"] + options + [path, "-o", file]
            let next = isNamed ? shell([name] + arguments.map { replaced($0, path, file) }) : again
            return chain(shell(words), next)
        }
    }

    /// The command behind a pipe, whose content has to be sent again; `nil` if it has to be a file.
    private static func piped(_ remedy: TraceRemedy, _ command: CommandRow, _ arguments: [String]) -> String? {
        var options: [String] = []
        var filter: String?
        switch remedy {
        case .options(let added): options = added
        case .file(_, .filter(let text), let added): (filter, options) = (text, added)
        case .file(_, .conversion(let added), _): filter = shell(["convert"] + added + ["-", "-o", "-"])
        case .file, .leftOut: return nil
        }
        guard options.isEmpty || command.options.contains(.map) else { return nil }
        let last = shell([command.name.rawValue] + options + without(options, arguments))
        return "… | " + [filter, last].compactMap { $0 }.joined(separator: " | ")
    }

    /// One command behind the other, of those that there are.
    private static func chain(_ commands: String?...) -> String {
        commands.compactMap { $0 }.joined(separator: " && ")
    }

    private static func shell(_ words: [String]) -> String {
        (["binnacle"] + words).map(ShellText.quoted).joined(separator: " ")
    }

    /// The arguments without a file, and without all others that would be refused in turn because no detector uses them, or have a
    /// part alone of what an accelerometer's file has.
    private static func without(
        _ path: String, _ arguments: [String], _ command: CommandRow, hasAccelerometer: Bool = false
    ) -> [String] {
        func isLeftOut(_ word: String) -> Bool {
            word == path || TraceFile.isUseless(path: word) || hasAccelerometer && TraceFile.hasGravityAlone(path: word)
        }
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

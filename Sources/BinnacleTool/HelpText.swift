import CommandRows
import Glibc
import LinuxSystem
import PlainText
import Station

/// The help, made from the rows of commands and options, wrapped for the terminal.
enum HelpText {
    private static let column = 22
    /// Longer lines are hard to read.
    private static let longestLine = 100

    private static var width: Int { min(Terminal.columns(of: STDOUT_FILENO) ?? 80, longestLine) }

    static var overview: String {
        var lines = [
            "binnacle \(Version.current): sensor events from accelerometers, magnetometers and gyroscopes", "",
            "usage: binnacle COMMAND [OPTION…] ARGUMENT…", "       binnacle help COMMAND", "", "commands:",
        ]
        for command in CommandRow.all {
            lines += row("\(command.name.rawValue) \(command.operands)", command.summary)
        }
        lines += ["", "options:"]
        for option in [OptionRow.help, .version] { lines += row(name(option), option.help) }
        return lines.joined(separator: "\n") + "\n"
    }

    static func text(_ command: CommandRow) -> String {
        var lines = ["usage: binnacle \(command.name.rawValue) [OPTION…] \(command.operands)", ""]
        lines += WrappedText.paragraphs(command.details, width: width) + ["", "options:"]
        for option in command.options {
            lines.append("  \(name(option))")
            lines += WrappedText.paragraphs(option.help, width: width, indent: 8)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func name(_ option: OptionRow) -> String {
        let letter = option.letter.map { "-\($0), " } ?? ""
        return "\(letter)--\(option.name)\(option.argument.map { " " + $0 } ?? "")"
    }

    /// A term with its description beside it, or below if the term is too long.
    private static func row(_ term: String, _ text: String) -> [String] {
        let term = "  " + term
        let blanks = String(repeating: " ", count: max(0, column - term.count))
        guard term.count < column else {
            let margin = String(repeating: " ", count: column)
            return [term] + WrappedText.lines(text, width: width, first: margin, indent: column)
        }
        return WrappedText.lines(text, width: width, first: term + blanks, indent: column)
    }
}

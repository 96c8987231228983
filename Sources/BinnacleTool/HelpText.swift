import CommandRows
import Station

/// The help, made from the rows of commands and options.
enum HelpText {
    static var overview: String {
        var text = """
            binnacle \(Version.current): sensor events from accelerometers and magnetometers

            usage: binnacle COMMAND [OPTION…] ARGUMENT…
                   binnacle COMMAND --help


            """
        text += "commands:\n"
        for command in CommandRow.all {
            text += "  \(pad("\(command.name.rawValue) \(command.operands)", 20))\(command.summary)\n"
        }
        text += "\noptions:\n"
        for option in [OptionRow.help, .version] {
            text += "  \(pad(name(option), 20))\(option.help)\n"
        }
        return text
    }

    static func text(_ command: CommandRow) -> String {
        var text = "usage: binnacle \(command.name.rawValue) [OPTION…] \(command.operands)\n\n"
        text += "\(command.details)\n\noptions:\n"
        for option in command.options {
            text += "  \(name(option))\n"
            for line in option.help.split(separator: "\n") { text += "        \(line)\n" }
        }
        return text
    }

    private static func name(_ option: OptionRow) -> String {
        let letter = option.letter.map { "-\($0), " } ?? ""
        return "\(letter)--\(option.name)\(option.argument.map { " " + $0 } ?? "")"
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}

import Station

import Binnacle

/// The help, made from the tables.
enum HelpText {
    static var overview: String {
        var text = """
            binnacle \(Version.current): sensor events from accelerometers and magnetometers

            usage: binnacle COMMAND [OPTION…] ARGUMENT…
                   binnacle COMMAND --help


            """
        text += "commands:\n"
        for command in CommandName.allCases {
            text += "  \(pad("\(command.rawValue) \(command.operands)", 20))\(command.summary)\n"
        }
        text += "\noptions:\n"
        for option in [OptionName.help, .version] {
            text += "  \(pad(name(option, option.argument), 20))\(option.help)\n"
        }
        return text
    }

    static func text(_ command: CommandName) -> String {
        var text = "usage: binnacle \(command.rawValue) [OPTION…] \(command.operands)\n\n"
        text += "\(command.details)\n\noptions:\n"
        for option in command.options {
            text += "  \(name(option, command.argument(of: option)))\n"
            for line in command.help(for: option).split(separator: "\n") { text += "        \(line)\n" }
        }
        return text
    }

    private static func name(_ option: OptionName, _ argument: String?) -> String {
        let letter = option.letter.map { "-\($0), " } ?? ""
        return "\(letter)--\(option.rawValue)\(argument.map { " " + $0 } ?? "")"
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}

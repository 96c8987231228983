import CommandRows
import PlainText
import Station

/// A parsed command line: options with their values, and operands, which are not validated yet.
struct Arguments {
    private(set) var operands: [String] = []
    /// The operands after `--`; `nil` without `--`.
    private(set) var trailing: [String]?
    private var values: [(option: OptionRow, value: String)] = []

    /// Parses arguments by the options of a command; `nil` before the command is known.
    init(
        _ arguments: ArraySlice<String>, allowed: [OptionRow], command: CommandRow?
    ) throws(StationError) {
        var rest = arguments
        while let argument = rest.popFirst() {
            if argument == "--" {
                operands += rest
                trailing = Array(rest)
                return
            }
            // A negative number is not an option.
            guard argument.hasPrefix("-"), argument != "-", Double(argument) == nil else {
                operands.append(argument)
                continue
            }
            let (name, attached) = Self.split(argument)
            guard let option = Self.option(name, allowed) else {
                let names = allowed.map { "--" + $0.name }
                throw .usage(
                    "unknown option \(name) (\(Spelling.hint(for: name, among: names))); see 'binnacle \(command.map { $0.name.rawValue + " " } ?? "")--help'"
                )
            }
            if option.argument != nil {
                guard let value = attached ?? rest.popFirst() else {
                    throw .usage("--\(option.name) needs a value: \(option.argument ?? "")")
                }
                values.append((option, value))
            } else {
                guard attached == nil else {
                    throw .usage("--\(option.name) takes no value")
                }
                values.append((option, ""))
            }
            if !option.isRepeatable, option.argument != nil, self.all(option).count > 1 {
                throw .usage("--\(option.name) may be given once")
            }
        }
    }

    var leading: [String] { Array(operands.dropLast(trailing?.count ?? 0)) }

    func has(_ option: OptionRow) -> Bool { values.contains { $0.option == option } }

    func value(_ option: OptionRow) -> String? { all(option).last }

    func all(_ option: OptionRow) -> [String] { values.filter { $0.option == option }.map(\.value) }

    /// The value of an option that others may have several times; throws if there are several, with `message`.
    func onlyValue(_ option: OptionRow, _ message: String) throws(StationError) -> String? {
        guard all(option).count <= 1 else { throw .usage(message) }
        return value(option)
    }

    /// Throws if any of the options is given; `reason` completes the message.
    func refuse(_ options: [OptionRow], _ reason: String) throws(StationError) {
        guard let option = options.first(where: has) else { return }
        throw .usage("--\(option.name) \(reason)")
    }

    private static func split(_ argument: String) -> (name: String, value: String?) {
        guard argument.hasPrefix("--"), let equals = argument.firstIndex(of: "=") else { return (argument, nil) }
        return (String(argument[..<equals]), String(argument[argument.index(after: equals)...]))
    }

    private static func option(_ name: String, _ allowed: [OptionRow]) -> OptionRow? {
        allowed.first {
            name == "--" + $0.name || (name.count == 2 && name.last == $0.letter && !name.hasPrefix("--"))
        }
    }
}

import Binnacle

extension HandlerSection {
    /// The section's keys.
    static let keys = ["on", "detector", "log", "command", "decorate"]

    /// Reads a section; `nil` when it cannot be used, which is then reported.
    init?(name: String, reading table: TableReader, detectors: [String]) {
        let kinds = Self.kinds(table)
        let chosen = Self.detectors(table, among: detectors)
        let action = HandlerAction(reading: table)
        let decorators = DecoratorSettings.read(table)
        guard let kinds, let action else { return nil }
        self.init(
            name: name, position: table.position, kinds: kinds, detectors: chosen, action: action,
            decorators: decorators)
    }

    private static func kinds(_ table: TableReader) -> [EventKind]? {
        guard let node = table.required("on", "it names the events, such as on = [\"motion.began\"]"),
            let nodes = table.array("on", node, of: "strings")
        else { return nil }
        guard !nodes.isEmpty else {
            table.refuse("on", at: node.position, "`on` is empty", hint: "name at least one kind of event")
            return nil
        }
        return table.choices("on", nodes, as: EventKind.self)
    }

    private static func detectors(_ table: TableReader, among names: [String]) -> [String]? {
        guard let node = table.entry("detector")?.node,
            let nodes = table.array("detector", node, of: "strings")
        else { return nil }
        guard !nodes.isEmpty else {
            table.refuse(
                "detector", at: node.position, "`detector` is empty", hint: "leave it out to mean every detector")
            return nil
        }
        return table.references("detector", nodes, to: "detector", among: names)
    }
}

extension HandlerAction {
    /// Reads the one action of a handler; `nil` when there is none that can be used, which is then reported.
    fileprivate init?(reading table: TableReader) {
        let log = table.entry("log")
        let command = table.entry("command")
        if let log, let command {
            table.refuse(
                "command", at: max(log.keyPosition, command.keyPosition),
                "\(table.title) has both `log` and `command`", hint: "a handler does one thing; make two handlers")
        }
        if log == nil, command == nil {
            table.diagnostics.report(
                at: table.position, "\(table.title) does nothing",
                hint: "give it log = true or command = [\"/path/to/program\"]")
        }
        if let log {
            guard case .boolean(let isOn) = log.node.value else {
                table.refuse("log", log.node, expected: "a boolean")
                return nil
            }
            guard isOn else {
                table.refuse("log", at: log.node.position, "`log` can only be true", hint: "leave it out otherwise")
                return nil
            }
        }
        if let command {
            guard let template = CommandTemplate(reading: command.node, of: table) else { return nil }
            self = .command(template)
        } else if log != nil {
            self = .log
        } else {
            return nil
        }
    }
}

import Binnacle
import Handlers
import PlainText
import TableReading

extension HandlerSection {
    /// The section's keys.
    static let keys = ["on", "detector"] + HandlerActions.keys + ["decorate"]

    /// Reads a section; `nil` when it cannot be used, which is then reported.
    ///
    /// - Parameters:
    ///   - name: The handler's name.
    ///   - table: The section.
    ///   - detectors: The names of all detectors.
    ///   - norths: The names of those that find headings.
    init?(name: String, reading table: TableReader, detectors: [String], norths: [String]) {
        let chosen = Self.detectors(table, among: detectors)
        let action = HandlerActions.read(table)
        // Also when what it says cannot be used: one mistake, one message.
        if let type = HandlerActions.all.first(where: { $0.headingKinds != nil && table.entry($0.key) != nil }),
            let kinds = type.headingKinds
        {
            let detector = Self.headingDetector(table, type.key, chosen, among: norths)
            guard let detector, let action else { return nil }
            self.init(name: name, kinds: kinds, detectors: [detector], action: action, decorators: [])
            return
        }
        let kinds = Self.kinds(table, action)
        let decorators = DecoratorSettings.read(table)
        guard let kinds, let action else { return nil }
        self.init(
            name: name, kinds: kinds, detectors: chosen, action: action, decorators: decorators)
    }

    private static func kinds(_ table: TableReader, _ action: (any HandlerAction)?) -> [EventKind]? {
        guard let node = table.required("on", "it names the events, such as on = [\"motion.began\"]"),
            let nodes = table.array("on", node, of: "strings")
        else { return nil }
        guard !nodes.isEmpty else {
            table.refuse("on", at: node.position, "`on` is empty", hint: "name at least one kind of event")
            return nil
        }
        if let action { refuseReports(table, nodes, action) }
        return table.choices("on", nodes, as: EventKind.self)
    }

    /// Refuses what tells of handlers where it could go round in circles.
    private static func refuseReports(_ table: TableReader, _ nodes: [TOMLNode], _ action: any HandlerAction) {
        let type = type(of: action)
        guard type.actsOnTheWorld else { return }
        let others = HandlerActions.all.filter { !$0.actsOnTheWorld }.map { $0.example }
        for node in nodes {
            guard case .string(let word) = node.value, let kind = EventKind(rawValue: word),
                EventKind.reports.contains(kind)
            else { continue }
            table.refuse(
                "on", at: node.position, with: [type.key],
                "`\(word)` tells of handlers, and cannot be for `\(type.key)`",
                hint: "one that fails would be run for its own failure; such events are for handlers with "
                    + Spelling.alternatives(others))
        }
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

package import Binnacle
package import Handlers
import PlainText
import TableReading

/// `[handler.NAME]`: an action for some events.
package struct HandlerSection: Sendable {
    package let name: String
    /// Each once; not empty.
    package let kinds: [EventKind]
    /// Each once; `nil` for all.
    package let detectors: [String]?
    package let action: any HandlerAction
    /// In the order in which they get an event, before the action.
    package let decorators: [DecoratorSettings]
    /// The detectors that it listens to, of those whose events have a sensor.
    package let heard: [HandledDetector]

    package init(
        name: String, kinds: [EventKind], detectors: [String]?, action: any HandlerAction,
        decorators: [DecoratorSettings], heard: [HandledDetector] = []
    ) {
        self.heard = heard
        self.name = name
        self.kinds = kinds
        self.detectors = detectors
        self.action = action
        self.decorators = decorators
    }
}

extension HandlerSection {
    /// The same section, whose action knows the events that it gets from the configuration's detectors.
    ///
    /// `handlers` are the names of those that take other events than headings.
    func told(of configuration: Configuration, handlers: [String]) -> HandlerSection {
        var found: Set<String> = []
        let heard = configuration.detectors.compactMap { detector -> HandledDetector? in
            let name = detector.name
            guard let sensor = detector.publishedSensor else { return nil }
            guard detectors?.contains(name) ?? true else { return nil }
            let made = kinds.filter { kind in
                detector.canMake(kind) || kind.row.source == .sensors && detectors == nil
            }
            let isFirst = made.isEmpty || found.insert("\(type(of: detector).kind) \(sensor)").inserted
            return HandledDetector(name: name, sensor: sensor, kinds: Set(made), isFirst: isFirst)
        }
        var events = HandledEvents(kinds: Set(kinds), detectors: detectors.map { Set($0) }, handlers: handlers)
        if type(of: action).headingKinds != nil {
            let finders = configuration.detectors.filter { detectors?.contains($0.name) ?? true }
            events.samples = Set(finders.flatMap { $0.needs.map(\.kind) })
            events.hasTrueNorth = configuration.position != nil && finders.contains(where: \.dependsOnPlace)
        }
        return HandlerSection(
            name: name, kinds: kinds, detectors: detectors, action: action.told(of: heard, events),
            decorators: decorators, heard: heard)
    }
}

extension HandlerSection: Equatable {
    package static func == (left: HandlerSection, right: HandlerSection) -> Bool {
        left.name == right.name && left.kinds == right.kinds && left.detectors == right.detectors
            && left.action.isSame(as: right.action) && left.decorators == right.decorators
    }
}

extension HandlerSection {
    static let keys =
        ["on", "detector", SectionSwitch.defaultHandler.name, SectionSwitch.enabled.name] + HandlerActions.keys
        + ["decorate"]

    private static let on = Key(
        "on", .set("[\n\(lines(logged))\n]"), purpose: "it names the events, such as on = [\"motion.began\"]",
        """
        The kinds of event; a group of them, such as "motion.*"; or "any". Groups and "any" leave out "motion.moving" and \
        "north.facing", which repeat a state and have to be named. The kinds are \(words(EventKind.allCases.filter { !EventKind.reports.contains($0) })).

        These report on handlers and the store, and are refused for handlers that act on the world, because one that fails \
        would be run for its own failure: \(words(EventKind.allCases.filter(EventKind.reports.contains))).
        """)
    private static let detector = Key(
        "detector", .usual("[\"moved\", \"bow\"]"), usual: "all, and events without a detector",
        "The detectors whose events it handles.")

    /// The kinds that the reference configuration logs: those that a view lists, without successes.
    private static let logged = EventKind.allCases.filter {
        EventKind.listed.contains($0) && ![.quorumReached, .commandFinished].contains($0)
    }

    private static func words(_ kinds: [EventKind]) -> String { kinds.map(\.rawValue).joined(separator: ", ") }

    private static func lines(_ kinds: [EventKind]) -> String {
        kinds.reduce(into: ["   "]) { lines, kind in
            let word = " \"\(kind.rawValue)\","
            if lines[lines.count - 1].count + word.count > 110 { lines.append("   ") }
            lines[lines.count - 1] += word
        }.joined(separator: "\n")
    }

    private static let actions = HandlerActions.all.filter { $0 != CommandAction.self } + [CommandAction.self]

    /// One row for each action: the log first, a command with decorators last.
    static let rows: [SectionRow] = actions.map { action in
        let row = action.row
        let isFirst = action == LogAction.self
        var keys = isFirst ? [on, detector, SectionSwitch.defaultHandler, SectionSwitch.enabled] : []
        if let kinds = row.kinds { keys.append(Key("on", .usual(kinds), usual: "", "")) }
        keys += [row.key] + row.further
        if action == CommandAction.self { keys.append(DecoratorSettings.row) }
        return SectionRow(
            "handler.NAME", shown: "handler.\(row.shown)", isSet: isFirst,
            isFirst
                ? "Does one thing with some kinds of event: "
                    + "\(Spelling.alternatives(HandlerActions.all.map { $0.key })).\n\n" + row.text : row.text,
            keys: keys)
    }

    init?(name: String, reading table: TableReader, among names: SectionNames) {
        let chosen = Self.detectors(table, among: names)
        let action = HandlerActions.read(table)
        // Also when the action is invalid, so that one mistake gives one message.
        if let type = HandlerActions.all.first(where: { $0.headingKinds != nil && table.entry($0.key) != nil }),
            let kinds = type.headingKinds
        {
            let finders = Self.finders(of: kinds)
            let found = finders.map { (chosen == nil ? names.inForce : names.detectors)[$0] ?? [] }
            let detector = Self.headingDetector(table, type.key, chosen, among: found)
            guard let detector, let action else { return nil }
            // Each detector makes the kinds of its own; those that any detector makes are of both.
            let finder = zip(finders, found).first { $0.1.contains(detector) }?.0
            let made = kinds.filter { kind in
                if case .detector(let maker) = kind.row.source { maker == finder } else { true }
            }
            self.init(name: name, kinds: made, detectors: [detector], action: action, decorators: [])
            return
        }
        let kinds = Self.kinds(table, action)
        let decorators = DecoratorSettings.read(table)
        if let kinds, !kinds.contains(where: { $0.end != nil }), decorators.contains(where: \.isMinimumDuration) {
            table.refuse(
                "decorate", at: table.entry("decorate")?.keyPosition ?? table.position, with: ["on"],
                "`min_duration` has no effect on these kinds of event",
                hint: "it is for the begin of what ends, such as \"motion.began\" in `on`")
        }
        guard let kinds, let action else { return nil }
        self.init(
            name: name, kinds: kinds, detectors: chosen, action: action, decorators: decorators)
    }

    private static func kinds(_ table: TableReader, _ action: (any HandlerAction)?) -> [EventKind]? {
        guard let node = table.required(on),
            let nodes = table.strings("on", node, hint: "name at least one kind of event")
        else { return nil }
        if let action { refuseReports(table, nodes, action) }
        let actsOnTheWorld = action.map { type(of: $0).actsOnTheWorld } ?? false
        var kinds: [EventKind] = []
        for word in table.distinct("on", nodes, read: { Self.kindWord(table, $0) }) {
            for kind in EventKind.named(word) ?? [] where !kinds.contains(kind) {
                // Reports that a group or `any` includes unintentionally.
                if actsOnTheWorld, word != kind.rawValue, EventKind.reports.contains(kind) { continue }
                kinds.append(kind)
            }
        }
        return kinds
    }

    /// Accepts a kind, a group of kinds, or `any`.
    private static func kindWord(_ table: TableReader, _ node: TOMLNode) -> String? {
        if let word = node.string, EventKind.named(word) != nil { return word }
        return table.word("on", node, among: EventKind.words)
    }

    /// Refuses events about handlers for actions on the outside world, which could loop forever.
    private static func refuseReports(_ table: TableReader, _ nodes: [TOMLNode], _ action: any HandlerAction) {
        let type = type(of: action)
        guard type.actsOnTheWorld else { return }
        let others = HandlerActions.all.filter { !$0.actsOnTheWorld }.map { $0.example }
        for node in nodes {
            guard let word = node.string, word != "any", let kinds = EventKind.named(word),
                kinds.allSatisfy(EventKind.reports.contains)
            else { continue }
            table.refuse(
                "on", at: node.position, with: [type.key],
                "`\(word)` reports on handlers, and cannot be for `\(type.key)`",
                hint: "one that fails would be run for its own failure; such events are for handlers with "
                    + Spelling.alternatives(others))
        }
    }

    private static func detectors(_ table: TableReader, among names: SectionNames) -> [String]? {
        guard let node = table.entry("detector")?.node,
            let nodes = table.strings("detector", node, hint: "leave it out to mean every detector")
        else { return nil }
        return table.references("detector", nodes, to: "detector", among: names.allDetectors)
    }

    // MARK: - Handlers that take the headings of one detector

    /// The kinds of detectors that find headings, by the rows of the kinds of event, each once.
    private static func finders(of kinds: [EventKind]) -> [String] {
        kinds.reduce(into: []) { finders, kind in
            guard kind.row.heading != nil, case .detector(let finder) = kind.row.source, !finders.contains(finder)
            else { return }
            finders.append(finder)
        }
    }

    /// The detector whose headings a handler gets; `nil` for none or several, which is then reported.
    ///
    /// The names are in groups: where the section names no detector, those of the first group that has any are meant.
    private static func headingDetector(
        _ table: TableReader, _ key: String, _ chosen: [String]?, among groups: [[String]]
    ) -> String? {
        let norths = Array(groups.joined())
        for (other, hint) in [
            ("on", "it always gets the headings and their loss"), ("decorate", "`interval_s` says how often it sends"),
        ] { table.refuse(other, meaninglessFor: "`\(key)`", with: [key], hint: hint) }
        let entry = table.entry("detector")
        // Errors in the names are already reported.
        if entry != nil, chosen == nil { return nil }
        let candidates = chosen ?? groups.first { !$0.isEmpty } ?? []
        let place = entry?.node.position ?? table.entry(key)?.keyPosition ?? table.position
        if let other = candidates.first(where: { !norths.contains($0) }) {
            table.refuse(
                "detector", at: place, with: [key],
                "`\(key)` is for headings, which \(Spelling.quoted(other)) does not find",
                hint: norths.isEmpty
                    ? "add a section [north.NAME] or [attitude.NAME]" : Spelling.hint(for: other, among: norths))
            return nil
        }
        guard let first = candidates.first else {
            if entry == nil {
                table.refuse(
                    key, at: place, "`\(key)` is for headings, which nothing finds",
                    hint: "add a section [north.NAME] or [attitude.NAME]")
            }
            return nil
        }
        guard candidates.count == 1 else {
            let names = candidates.map(Spelling.quoted).joined(separator: ", ")
            table.refuse(
                entry == nil ? key : "detector", at: place, with: [key],
                "`\(key)` is for the headings of one detector, and there are \(names)",
                hint: "name one, such as detector = [\"\(first)\"]")
            return nil
        }
        return first
    }
}

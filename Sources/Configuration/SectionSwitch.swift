import Handlers
import PlainText
import TableReading

/// `enabled` and `default`: which sections are in force.
enum SectionSwitch {
    static let enabled = Key(
        "enabled", .usual("true"),
        """
        false switches the section off, and what needs it with it. Of a section that is off only the names of the keys are \
        checked.
        """)

    /// `default` of a detector, whose kind is enabled in the reference file or not.
    static func defaultDetector(isSet: Bool) -> Key {
        Key(
            "default", isSet ? .set("true") : .usual("false"), usual: isSet ? "false" : nil,
            """
            true makes way for your own: the detector is left out as soon as another one that reads samples is in \
            force, unless a handler or [dbus] names it. On a machine without its sensor it waits for one, which is no \
            problem and no event, unless one of them names it.
            """)
    }

    static let defaultHandler = Key(
        "default", .set("true"), usual: "false",
        """
        true makes way for your own: the handler is left out as soon as another one with log or stdout is in force.
        """)
}

extension TableReader {
    func reference(_ key: Key, to what: String, among names: [String]) -> String? {
        entry(key.name).flatMap { reference(key.name, $0.node, to: what, among: names) }
    }

    /// An array of words as a set.
    func set<Word: RawRepresentable<String> & CaseIterable & Hashable>(_ key: String, of type: Word.Type) -> Set<Word>?
    {
        guard let nodes = array(key, of: "strings") else { return nil }
        let found = choices(key, nodes, as: type)
        // When all names are unknown, a second error about an empty list would mislead.
        return found.isEmpty && !nodes.isEmpty ? nil : Set(found)
    }

    static func text<Word: RawRepresentable<String> & CaseIterable & Hashable>(_ words: Set<Word>) -> String {
        "[" + Word.allCases.filter(words.contains).map { "\"\($0.rawValue)\"" }.joined(separator: ", ") + "]"
    }
}

struct FoundSection {
    let name: String
    let table: TableReader
    let isDefault: Bool

    init?(name: String, _ table: TableReader) {
        guard table.boolean(SectionSwitch.enabled.name) ?? true else { return nil }
        self.name = name
        self.table = table
        isDefault = table.boolean(SectionSwitch.defaultHandler.name) ?? false
    }

    /// A string value; `nil` for other types, which the section's own reader reports.
    func text(_ key: String) -> String? {
        table.entry(key)?.node.string
    }

    fileprivate var detectors: [String] {
        table.entry("detector")?.node.items?.compactMap(\.string) ?? []
    }

    /// Whether it is a handler that only writes.
    fileprivate var isWriter: Bool {
        HandlerActions.all.contains { !$0.actsOnTheWorld && table.entry($0.key) != nil }
    }
}

/// The sections in force: enabled, and not a default that the user's own section replaces.
struct SectionsInForce {
    typealias Detectors = [(type: any DetectorSection.Type, sections: [FoundSection])]

    private(set) var detectors: Detectors
    private(set) var handlers: [FoundSection]
    /// Sections that were left out although they are enabled, each a sentence.
    private(set) var notices: [String] = []

    /// Chooses among enabled sections; `disabledSensors` are the names of disabled sensors, and `namedDetectors` those of detectors that
    /// another section than a handler names.
    init(detectors: Detectors, handlers: [FoundSection], disabledSensors: [String], namedDetectors: [String]) {
        (self.detectors, self.handlers) = (detectors, handlers)
        leaveOutWithSensors(disabledSensors)
        leaveOutDefaultDetectors(except: namedDetectors + handlers.flatMap(\.detectors))
        leaveOutDefaultHandlers()
    }

    private mutating func leaveOut(_ reason: (FoundSection) -> String?) {
        for index in detectors.indices {
            detectors[index].sections.removeAll { section in
                guard let reason = reason(section) else { return false }
                notices.append("detector '\(section.name.printable)'\(reason)")
                return true
            }
        }
    }

    private mutating func leaveOutWithSensors(_ disabled: [String]) {
        leaveOut { section in
            let sensor = DetectorSections.sensorKeys.compactMap(section.text).first(where: disabled.contains)
            return sensor.map { ": its sensor '\($0.printable)' is switched off: left out" }
        }
    }

    private mutating func leaveOutDefaultDetectors(except named: [String]) {
        // A detector without samples does not replace the defaults.
        let sampled = detectors.filter { !$0.type.sensorKeys.isEmpty }.flatMap(\.sections)
        guard let own = sampled.first(where: { !$0.isDefault }) else { return }
        leaveOut { section in
            guard section.isDefault, !named.contains(section.name) else { return nil }
            return " is a default: left out, because there is '\(own.name.printable)' (default = false keeps it)"
        }
    }

    private mutating func leaveOutDefaultHandlers() {
        guard let own = handlers.first(where: { !$0.isDefault && $0.isWriter }) else { return }
        handlers = handlers.filter { section in
            guard section.isDefault else { return true }
            notices.append(
                "handler '\(section.name.printable)' is a default: left out, because there is '\(own.name.printable)' (default = false keeps it)"
            )
            return false
        }
    }
}

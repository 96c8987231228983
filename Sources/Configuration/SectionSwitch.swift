import Binnacle
import Handlers
import PlainText
import TableReading

/// `enabled` and `default`: which sections are in force.
enum SectionSwitch {
    /// Switches a section off.
    static let enabled = Key(
        "enabled", .usual("true"),
        """
        false switches the section off, and what needs it with it. Of a section that is off only the names of the keys are \
        checked.
        """)

    /// The key `default` of a detector.
    static let defaultDetector = Key(
        "default", .set("true"), usual: "false",
        """
        true makes way for your own: the detector is left out as soon as another section of a detector is in \
        force, unless a handler names it. It may wait for a sensor that this machine does not have, while another \
        detector runs; that is no problem then.
        """)

    /// The key `default` of a handler.
    static let defaultHandler = Key(
        "default", .set("true"), usual: "false",
        """
        true makes way for your own: the handler is left out as soon as another one with log or stdout is in force.
        """)
}

/// A named section that is not switched off.
struct FoundSection {
    let name: String
    let table: TableReader
    let isDefault: Bool

    /// `nil` when the section is switched off.
    init?(name: String, _ table: TableReader) {
        guard table.boolean(SectionSwitch.enabled.name) ?? true else { return nil }
        self.name = name
        self.table = table
        isDefault = table.boolean(SectionSwitch.defaultDetector.name) ?? false
    }

    /// The text of a key; `nil` for other types, which the section's own reader reports.
    func text(_ key: String) -> String? {
        if case .string(let text)? = table.entry(key)?.node.value { text } else { nil }
    }

    /// The detectors that a handler names.
    fileprivate var detectors: [String] {
        guard case .array(let nodes)? = table.entry("detector")?.node.value else { return [] }
        return nodes.compactMap { if case .string(let name) = $0.value { name } else { nil } }
    }

    /// Whether it is a handler that only writes.
    fileprivate var isWriter: Bool {
        HandlerActions.all.contains { !$0.actsOnTheWorld && table.entry($0.key) != nil }
    }
}

/// The sections that are in force: not switched off, and not default where there is one of the user's own.
struct SectionsInForce {
    private(set) var sensors: [FoundSection]
    private(set) var motions: [FoundSection]
    private(set) var norths: [FoundSection]
    private(set) var orientations: [FoundSection]
    private(set) var hinges: [FoundSection]
    private(set) var handlers: [FoundSection]
    /// What was left out although it is not switched off, each a sentence.
    private(set) var notices: [String] = []

    /// Chooses among the sections that are not switched off; `disabledSensors` are the names of sensors that are.
    init(
        sensors: [FoundSection], motions: [FoundSection], norths: [FoundSection], orientations: [FoundSection],
        hinges: [FoundSection], handlers: [FoundSection], disabledSensors: [String]
    ) {
        (self.sensors, self.motions, self.norths, self.handlers) = (sensors, motions, norths, handlers)
        (self.orientations, self.hinges) = (orientations, hinges)
        leaveOutWithSensors(disabledSensors)
        leaveOutDefaultDetectors()
        leaveOutDefaultHandlers()
    }

    private mutating func leaveOutWithSensors(_ disabled: [String]) {
        func isOn(_ section: FoundSection) -> Bool {
            let named = ConfigurationReader.sensorKeys.compactMap(section.text)
            guard let sensor = named.first(where: disabled.contains) else { return true }
            notices.append(
                "detector '\(section.name.printable)': its sensor '\(sensor.printable)' is switched off: left out")
            return false
        }
        motions = motions.filter(isOn)
        norths = norths.filter(isOn)
        orientations = orientations.filter(isOn)
        hinges = hinges.filter(isOn)
    }

    private mutating func leaveOutDefaultDetectors() {
        guard let own = (motions + norths + orientations + hinges).first(where: { !$0.isDefault }) else { return }
        let named = handlers.flatMap(\.detectors)
        func isOn(_ section: FoundSection) -> Bool {
            guard section.isDefault, !named.contains(section.name) else { return true }
            notices.append(
                "detector '\(section.name.printable)' is a default: left out, because there is '\(own.name.printable)'")
            return false
        }
        motions = motions.filter(isOn)
        norths = norths.filter(isOn)
    }

    private mutating func leaveOutDefaultHandlers() {
        guard let own = handlers.first(where: { !$0.isDefault && $0.isWriter }) else { return }
        handlers = handlers.filter { section in
            guard section.isDefault else { return true }
            notices.append(
                "handler '\(section.name.printable)' is a default: left out, because there is '\(own.name.printable)'")
            return false
        }
    }
}

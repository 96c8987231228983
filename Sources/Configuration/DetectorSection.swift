package import Binnacle
import PlainText
package import TableReading

/// `[KIND.NAME]`: one kind of detector, as far as the program has to know of it.
///
/// A new kind is a file with a conforming type, and its place in ``DetectorSections``. What follows ``makeDetector(on:asking:)``
/// has a default, so that a section states only what differs.
package protocol DetectorSection: Sendable, Equatable {
    /// The class of its detectors, whose ``EventDetector/kind`` is the name of the top-level table.
    associatedtype Detector: EventDetector
    /// What the keys of ``rows`` set.
    associatedtype Settings: CheckedSettings

    /// The section's name in the reference file, as in "moved".
    static var shown: String { get }
    /// Whether it is in force in the reference file.
    static var isSet: Bool { get }
    /// The description, in paragraphs.
    static var text: String { get }
    /// The keys that are no settings: sensors, other detectors, and ``SectionSwitch/defaultDetector`` where it has that.
    static var ownKeys: [Key] { get }
    /// The keys of the settings.
    static var rows: [SettingRow<Settings>] { get }
    /// The settings without any key.
    static var defaults: Settings { get }
    /// The names of the keys that name sensors.
    static var sensorKeys: [String] { get }

    /// The detector's name, unique among all detectors.
    var name: String { get }
    /// The checked settings.
    var settings: Settings { get }

    /// Reads a section; `nil` when it cannot be used, which is then reported.
    ///
    /// - Parameters:
    ///   - name: The detector's name.
    ///   - table: The section.
    ///   - settings: What ``rows`` have read.
    ///   - names: What the section may refer to.
    init?(name: String, reading table: TableReader, _ settings: Settings, among names: SectionNames)

    /// The streams of samples that it needs, or uses where they are there.
    var needs: [StreamNeed] { get }
    /// Makes the detector.
    ///
    /// - Parameters:
    ///   - streams: Those of the pipeline; those that it needs are among them unless the sensor lacks them.
    ///   - detectors: The detectors of ``asked``, as far as they are there.
    /// - Returns: The detector, without a delegate.
    func makeDetector(on streams: [SampleStream], asking detectors: [any EventDetector]) -> Detector

    /// The kinds of the detectors that it asks; they stand before it in ``DetectorSections/all``.
    static var askedKinds: [String] { get }
    /// The names of the detectors that it asks.
    var asked: [String] { get }
    /// The keys of ``ownKeys`` with the values in force, as lines of TOML.
    var ownLines: [String] { get }
    /// What a section has to have for events of a kind that not all such detectors make, as in "has `sectors`".
    static func condition(of kind: EventKind) -> String?
    /// Whether it makes events of a kind whose ``condition(of:)`` there is.
    func makes(_ kind: EventKind) -> Bool
    /// The sensor of its events in MQTT; `nil` for what MQTT has no sensor for.
    var publishedSensor: String? { get }
    /// The same section for a place with a magnetic field; `nil` when the place does not matter.
    func placed(in field: LocalField) -> Self?
    /// Adapts itself to its sensors, or its sensors to itself.
    mutating func fit(to sensors: inout [SensorSection])
    /// The limits of accelerations, in g, that the range of a sensor should include.
    var accelerationLimits: (sensor: String, limits: [(key: String, g: Float)])? { get }
}

extension DetectorSection {
    package static var ownKeys: [Key] { [] }
    package static var sensorKeys: [String] { [] }
    package var ownLines: [String] { [] }
    package static var askedKinds: [String] { [] }
    package var asked: [String] { [] }
    package static func condition(of kind: EventKind) -> String? { nil }
    package func makes(_ kind: EventKind) -> Bool { true }
    package var publishedSensor: String? { nil }
    package func placed(in field: LocalField) -> Self? { nil }
    package mutating func fit(to sensors: inout [SensorSection]) {}
    package var accelerationLimits: (sensor: String, limits: [(key: String, g: Float)])? { nil }
}

extension DetectorSection {
    /// The name of the top-level table.
    package static var kind: String { Detector.kind }
    /// The section's title, as in "motion.moved".
    package var title: String { "\(Self.kind).\(name)" }

    /// The names of the keys, without making the documentation of ``row``.
    static var keys: [String] { (ownKeys + [SectionSwitch.enabled]).map(\.name) + rows.map(\.name) }

    /// The documentation of the section and its keys.
    static var row: SectionRow {
        SectionRow(
            "\(kind).NAME", shown: "\(kind).\(shown)", isSet: isSet, text,
            keys: ownKeys + [SectionSwitch.enabled] + rows.map { $0.key(defaults) })
    }

    /// Reads a section that is in force.
    static func read(_ section: FoundSection, among names: SectionNames) -> Self? {
        var settings = defaults
        section.table.read(rows, into: &settings)
        section.table.report(settings.problems(), of: rows)
        return Self(name: section.name, reading: section.table, settings, among: names)
    }

    /// The section with the values in force, as TOML.
    var lines: [String] {
        ["[\(Self.kind).\(JSONObject.quoted(name))]"] + ownLines + Self.rows.compactMap { $0.line(settings) }
    }

    /// A key with a text, as a line of TOML.
    static func line(_ key: Key, _ text: String) -> String { "\(key.name) = \(JSONObject.quoted(text))" }

    /// The sensor that a key names, which has to be there; `nil` when it is not, which is then reported.
    static func sensor(_ key: Key, _ table: TableReader, _ names: SectionNames) -> String? {
        table.required(key).flatMap { table.reference(key.name, $0, to: "sensor", among: names.sensors) }
    }

    /// Whether both are of one kind and have the same settings.
    package func isSame(as other: any DetectorSection) -> Bool { other as? Self == self }

    /// Whether its detectors make events of a kind at all.
    static func mayMake(_ event: EventKind) -> Bool { event.row.source == .detector(kind) }
}

/// All kinds of detectors.
package enum DetectorSections {
    /// The kinds, in the order in which detectors process a delivery.
    ///
    /// That order decides which of two events at one sample comes first. What asks another kind stands behind it, so that
    /// the answer is that of the sample. The kinds without samples come last: their readings are in no delivery.
    package static let all: [any DetectorSection.Type] = [
        MotionSection.self, NorthSection.self, HingeSection.self, OrientationSection.self,
        LightSection.self, ProximitySection.self,
    ]

    /// The kinds in the order of documents: what is asked is described behind what asks it.
    static var documented: [any DetectorSection.Type] {
        var (documented, waiting): ([any DetectorSection.Type], [any DetectorSection.Type]) = ([], [])
        for (index, type) in all.enumerated() {
            let isAskedLater = all[index...].contains { $0.askedKinds.contains(type.kind) }
            if isAskedLater { waiting.append(type) } else { documented.append(type) }
            documented += waiting.filter { type.askedKinds.contains($0.kind) }
            waiting.removeAll { type.askedKinds.contains($0.kind) }
        }
        return documented
    }

    /// The names of the keys that name sensors.
    static var sensorKeys: [String] { all.flatMap { $0.sensorKeys } }
}

/// The names that a section may refer to.
package struct SectionNames {
    /// The sensors, also those whose sections are faulty: one mistake, one message.
    var sensors: [String] = []
    /// The detectors of each kind, and those that are in force.
    var detectors: [String: [String]] = [:]
    var inForce: [String: [String]] = [:]

    var allDetectors: [String] { DetectorSections.all.flatMap { detectors[$0.kind] ?? [] } }
}

/// A stream of samples that a detector needs.
package struct StreamNeed: Sendable, Equatable {
    /// The sensor.
    package let sensor: String
    /// What it measures.
    package let kind: SampleKind
    /// How many samples a second are enough.
    let rateHz: Double
    /// Whether the detector does without where the sensor lacks it.
    var isOptional = false

    /// Rates, measured on recordings with a known truth, of which samples were left out (docs/measurements.md, "Rates").
    enum RateHz {
        /// A hand turns a screen no faster.
        static let screen = 10.0
        /// Motions begin and end at most 0.2 s later than at 71 Hz; at half of it 0.4 s.
        static let motion = 50.0
        /// At half of it a third of the shocks and shakes is missed.
        static let impact = 100.0
        /// A compass alone loses 2° of 14° in motion, and beside a gyroscope nothing is lost.
        static let heading = 25.0
        /// The vertical beside a gyroscope; at half of it a magnet was found too late.
        static let vertical = 50.0
        /// Rates between which the turns are interpolated: at half of it a fast turn doubles the error.
        static let gyroscope = 100.0
    }
}

extension [SampleStream] {
    func first(_ sensor: String, _ kind: SampleKind) -> SampleStream? {
        first { $0.sensor.name == sensor && $0.kind == kind }
    }
}

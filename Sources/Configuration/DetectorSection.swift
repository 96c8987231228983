package import Binnacle
package import BinnacleHeading
import LinuxSensors
import PlainText
package import TableReading

/// `[KIND.NAME]`: the section of one kind of detector.
///
/// A new kind is a file with a conforming type, and its place in ``DetectorSections``. The requirements after
/// ``makeDetector(on:asking:)`` have defaults, so that a section states only what differs.
package protocol DetectorSection: Sendable, Equatable {
    /// Its ``EventDetector/kind`` is the name of the top-level table.
    associatedtype Detector: EventDetector
    associatedtype Settings: CheckedSettings

    /// The name of its top-level table: that of ``Detector``. A requirement, because a type that is looked up at run time is slow.
    static var kind: String { get }
    /// The example name in the reference file, such as "moved".
    static var shown: String { get }
    /// Whether it is enabled in the reference file; not by default.
    static var isSet: Bool { get }
    /// The description, in paragraphs.
    static var text: String { get }
    /// Keys other than settings: sensors and other detectors.
    static var ownKeys: [Key] { get }
    static var rows: [SettingRow<Settings>] { get }
    /// The settings when no key is given; by default those of the library.
    static var defaults: Settings { get }
    /// The keys whose values are names of sensors.
    static var sensorKeys: [String] { get }

    /// Unique among all detectors.
    var name: String { get }
    var settings: Settings { get }

    /// Reads a section; `nil` when it cannot be used, which is then reported.
    ///
    /// `settings` are read from ``rows``; `names` are the names that the section may refer to.
    init?(name: String, reading table: TableReader, _ settings: Settings, among names: SectionNames)

    /// Streams that it requires, or uses if the device has them.
    var needs: [StreamNeed] { get }
    /// Makes the detector, without a delegate.
    ///
    /// `streams` are those of the pipeline; a stream in ``needs`` may be missing only if the sensor lacks it.
    /// `detectors` are those of ``asked`` that exist.
    func makeDetector(on streams: [SampleStream], asking detectors: [any EventDetector]) -> Detector

    /// The kinds of detectors that it asks; they precede it in ``DetectorSections/all``.
    static var askedKinds: [String] { get }
    /// The names of the detectors that it asks.
    var asked: [String] { get }
    /// The keys of ``ownKeys`` with their effective values, as lines of TOML.
    var ownLines: [String] { get }
    typealias Condition = (words: String, isMet: Bool)
    /// The condition under which a detector makes events of a kind, as in "has `sectors`", and whether settings meet it; `nil` if
    /// all do.
    static func condition(of kind: EventKind, _ settings: Settings) -> Condition?
    /// The sensor of its events in MQTT; `nil` if MQTT has no topic for it.
    var publishedSensor: String? { get }
    /// Whether the magnetic field at the device's place matters.
    var dependsOnPlace: Bool { get }
    /// The same section for a place with a magnetic field; `nil` when the place does not matter.
    func placed(in field: LocalField) -> Self?
    /// Adapts itself to its sensors, or its sensors to itself.
    mutating func fit(to sensors: inout [SensorSection])
    /// The thresholds, in g, that the range of a sensor should include.
    var accelerationLimits: (sensor: String, limits: [(key: String, g: Float)])? { get }
}

extension DetectorSection {
    package static var isSet: Bool { false }
    package static var defaults: Settings { Settings() }
    package static var ownKeys: [Key] { [] }
    package static var sensorKeys: [String] { [] }
    package var ownLines: [String] { [] }
    package static var askedKinds: [String] { [] }
    package var asked: [String] { [] }
    package static func condition(of kind: EventKind, _ settings: Settings) -> Condition? { nil }
    package var publishedSensor: String? { nil }
    package var dependsOnPlace: Bool { false }
    package func placed(in field: LocalField) -> Self? { nil }
    package mutating func fit(to sensors: inout [SensorSection]) {}
    package var accelerationLimits: (sensor: String, limits: [(key: String, g: Float)])? { nil }
}

extension DetectorSection {
    package static var kind: String { Detector.kind }
    static func conditionWords(of kind: EventKind) -> String? { condition(of: kind, defaults)?.words }
    package func makes(_ kind: EventKind) -> Bool { Self.condition(of: kind, settings)?.isMet ?? true }
    package var title: String { "\(Self.kind).\(name)" }

    /// Avoids making the documentation of ``row``.
    static var keys: [String] {
        // A key path of a generic type would be made at run time.
        (ownKeys + switches).map(\.name) + rows.map { $0.name }
    }

    private static var switches: [Key] { [SectionSwitch.defaultDetector(isSet: isSet), SectionSwitch.enabled] }

    static var row: SectionRow {
        SectionRow(
            "\(kind).NAME", shown: "\(kind).\(shown)", isSet: isSet, text,
            keys: ownKeys + switches + rows.map { $0.key(defaults) })
    }

    /// Reads an enabled section.
    static func read(_ section: FoundSection, among names: SectionNames) -> Self? {
        var settings = defaults
        section.table.read(rows, into: &settings)
        section.table.report(settings.problems(), of: rows)
        return Self(name: section.name, reading: section.table, settings, among: names)
    }

    /// The section with its effective values, as TOML.
    package var lines: [String] {
        ["[\(Self.kind).\(JSONObject.quoted(name))]"] + ownLines + Self.rows.compactMap { $0.line(settings) }
    }

    static func line(_ key: Key, _ text: String) -> String { "\(key.name) = \(JSONObject.quoted(text))" }

    /// Reads the name of a sensor; `nil` when there is no such sensor, which is then reported.
    static func sensor(_ key: Key, _ table: TableReader, _ names: SectionNames) -> String? {
        table.required(key).flatMap { table.reference(key.name, $0, to: "sensor", among: names.sensors) }
    }

    package func isSame(as other: any DetectorSection) -> Bool { other as? Self == self }

    /// Whether its events may be of a kind, or a handler's quorum makes such events of them.
    func canMake(_ kind: EventKind) -> Bool {
        kind.row.source == .quorum || kind.row.source == .detector(Self.kind) && makes(kind)
    }
}

package enum DetectorSections {
    /// In the order in which detectors process a delivery, which decides the order of two events at one sample.
    ///
    /// A kind that asks another one follows it, so that the answer belongs to the same sample. Kinds without samples
    /// come last: their readings are in no delivery.
    package static let all: [any DetectorSection.Type] = [
        MotionSection.self, NorthSection.self, AttitudeSection.self, HingeSection.self, OrientationSection.self,
        TapSection.self, StepsSection.self, StationarySection.self, VibrationSection.self,
        LightSection.self, ProximitySection.self,
    ]

    /// In the order of documents: a kind that is asked follows the one that asks it.
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

    /// The keys whose values are names of sensors.
    static var sensorKeys: [String] { all.flatMap { $0.sensorKeys } }
}

package struct SectionNames {
    /// Includes sensors with faulty sections, so that one mistake gives one message.
    var sensors: [String] = []
    /// The noise of accelerometers that their calibrations have, in µg/√Hz.
    var noiseMicroG: [String: Double] = [:]
    /// All detectors by kind, and the enabled ones.
    var detectors: [String: [String]] = [:]
    var inForce: [String: [String]] = [:]

    var allDetectors: [String] { DetectorSections.all.flatMap { detectors[$0.kind] ?? [] } }
}

package struct StreamNeed: Sendable, Equatable {
    package let sensor: String
    package let kind: SampleKind
    /// A sufficient sampling rate, in Hz.
    package var rateHz: Double
    /// The sampling rate below which the detector misses much of what it is for, in Hz; 0 where there is none.
    var leastHz = 0.0
    /// What it misses then.
    var missed = "much"
    var isOptional = false
    /// What the detector wants of the chip; `nil` when it needs every sample.
    var chip: ChipSettings?

    /// Measured on recordings with known ground truth and samples removed (docs/measurements.md, "Rates").
    enum RateHz {
        /// A hand turns a screen no faster.
        static let screen = 10.0
        /// Motions begin and end at most 0.2 s later than at 71 Hz; at half of it 0.4 s.
        static let motion = 50.0
        /// At half of it a third of the shocks and shakes is missed.
        static let impact = 100.0
        static let leastImpact = 50.0
        /// From here on every impulse of 2 ms is found, by a chip with its own filter.
        static let tap = 400.0
        /// Below it impulses of 4 ms fall between samples.
        static let leastTap = 200.0
        /// Steps are counted at 25 Hz, whatever the rate.
        static let steps = 25.0
        /// The counted walks have 12.5 Hz.
        static let leastSteps = 12.0
        /// A compass alone loses 2° of 14° in motion, and beside a gyroscope nothing is lost.
        static let heading = 25.0
        /// The vertical beside a gyroscope; at half this rate a magnet was found too late.
        static let vertical = 50.0
        /// Turns are interpolated between rates: at half of it a fast turn doubles the error.
        static let gyroscope = 100.0
    }
}

extension Configuration {
    /// The detectors that miss much at a sampling rate of a sensor: the rate that they need, and what is to be said.
    package func needs(beyond rateHz: Double, of sensor: String) -> [(rateHz: Double, words: String)] {
        func text(_ hertz: Double) -> String { "\(Figure.Value.number(hertz, decimals: 0))" }
        return detectors(of: sensor).compactMap { detector in
            // Rates are rounded.
            detector.needs.first { $0.sensor == sensor && rateHz < $0.leastHz * 0.99 }.map { need in
                let words = "needs at least \(text(need.leastHz)) samples a second, or misses \(need.missed)"
                return (need.rateHz, "[\(detector.title)] \(words); \(text(need.rateHz)) are better")
            }
        }
    }
}

extension Key {
    /// The required key of the sensor with the accelerometer: what it is, as in "that is carried".
    static func accelerometer(_ which: String, _ text: String? = nil) -> Key {
        Key(
            "accelerometer", .usual("\"chassis\""), purpose: "it names the sensor \(which)", usual: "",
            text ?? "The sensor \(which).")
    }
}

extension [SampleStream] {
    func first(_ sensor: String, _ kind: SampleKind) -> SampleStream? {
        first { $0.sensor.name == sensor && $0.kind == kind }
    }
}

import Binnacle
import EventSocket
import Handlers
import PlainText
import Store
package import TableReading

/// Makes a configuration from the entries of its files.
package struct ConfigurationReader {
    /// In the order of the reference file.
    package static let rows: [SectionRow] =
        [SensorSection.row] + DetectorSections.documented.map { $0.row }
        + [PositionSection.row, EventStoreSettings.row, SocketSettings.row, DBusSection.row] + HandlerSection.rows

    private static let (sensor, handler) = ("sensor", "handler")

    /// Top-level tables whose sections have names.
    private static let kinds = [sensor] + DetectorSections.documented.map { $0.kind } + [handler]

    /// The keys of a section of a kind, made where there is one: a configuration has few kinds.
    private static func keys(of kind: String) -> [String] {
        switch kind {
        case sensor: SensorSection.row.keys.map(\.name)
        case handler: HandlerSection.keys
        default: DetectorSections.all.first { $0.kind == kind }?.keys ?? []
        }
    }

    /// Top-level tables that are a single section.
    private static let singles: [(kind: String, keys: @Sendable () -> [String])] = [
        ("position", { PositionSection.row.keys.map(\.name) }),
        ("store", { EventStoreSettings.row.keys.map(\.name) }),
        ("socket", { SocketSettings.row.keys.map(\.name) }),
        ("dbus", { DBusSection.keys }),
    ]

    /// How the headers of sections with names begin.
    static var headers: [String] { kinds.map { "[\($0)." } }

    /// Levels of tables under a top-level key: one for a single section, two for named sections.
    static func levels(of key: String) -> Int { singles.contains { $0.kind == key } ? 1 : 2 }

    let entries: [TOMLEntry]
    let embedded: Int?
    let diagnostics: DiagnosticCollector
    let device: CalibrationDevice

    /// Reads all sections; faulty ones are reported and omitted.
    func read() -> Configuration {
        let kinds = Self.kinds + Self.singles.map(\.kind)
        for entry in entries where !kinds.contains(entry.key) {
            diagnostics.report(
                at: entry.keyPosition, "unknown table or key \(Spelling.quoted(entry.key))",
                hint: Spelling.hint(for: entry.key, among: kinds))
        }
        let sensors = sections(Self.sensor)
        let handlers = sections(Self.handler)
        let detectors = DetectorSections.all.map { (type: $0, entries: sections($0.kind)) }
        reportSharedNames(detectors.map(\.entries))
        let (enabledSensors, disabledSensors) = found(Self.sensor, sensors)
        let desktop = single("dbus")
        let inForce = SectionsInForce(
            detectors: detectors.map { ($0.type, found($0.type.kind, $0.entries).enabled) },
            handlers: found(Self.handler, handlers).enabled, disabledSensors: disabledSensors,
            namedDetectors: desktop.map(DBusSection.namedDetectors) ?? [])
        // References to a faulty section are valid, so that one mistake gives one message.
        var names = SectionNames()
        names.sensors = sensors.map(\.key)
        for (type, entries) in detectors { names.detectors[type.kind] = entries.map(\.key) }
        for (type, sections) in inForce.detectors { names.inForce[type.kind] = sections.map(\.name) }

        var configuration = Configuration()
        configuration.notices = inForce.notices
        let readSensors = enabledSensors.compactMap { section in
            SensorSection(name: section.name, reading: section.table, calibratedFor: device).map { ($0, section.table) }
        }
        reportMixedLoops(readSensors)
        configuration.sensors = readSensors.map(\.0)
        for sensor in configuration.sensors {
            names.noiseMicroG[sensor.name] = sensor.calibration?.noise[.accelerometer].map {
                $0 * SensorCalibration.noiseKey(of: .accelerometer).factor
            }
        }
        // Assigned once, because each change makes the index of them again.
        configuration.detectors = inForce.detectors.flatMap { type, sections in
            sections.compactMap { section -> (any DetectorSection)? in
                guard let detector = type.read(section, among: names) else { return nil }
                if section.isDefault { configuration.defaultDetectors.insert(section.name) }
                return detector
            }
        }
        configuration.fit()
        configuration.handlers = inForce.handlers.compactMap { section in
            HandlerSection(name: section.name, reading: section.table, among: names)
        }
        configuration.position = single("position").flatMap { PositionSection(reading: $0) }
        let others = configuration.handlers.filter { type(of: $0.action).headingKinds == nil }.map(\.name)
        configuration.handlers = configuration.handlers.map { $0.told(of: configuration, handlers: others) }
        // A detector that a handler or the desktop service names is one that the user wants.
        configuration.defaultDetectors.subtract(configuration.handlers.flatMap { $0.detectors ?? [] })
        configuration.namedSensors = Set(detectors.flatMap { $0.entries.flatMap(Self.sensors) })
        configuration.store = single("store").flatMap { EventStoreSettings(reading: $0) }
        configuration.socket = single("socket").flatMap { SocketSettings(reading: $0) }
        configuration.dbus = desktop.map { DBusSection(reading: $0, among: names) }
        configuration.defaultDetectors.subtract(desktop.map(DBusSection.namedDetectors) ?? [])
        if diagnostics.error() == nil {
            func byName(_ entries: [TOMLEntry]) -> Sections {
                Dictionary(entries.map { ($0.key, $0) }) { first, _ in first }
            }
            warn(of: configuration, byName(sensors), byName(detectors.flatMap(\.entries)), byName(handlers))
        }
        return configuration
    }

    private func single(_ kind: String) -> TableReader? {
        guard let entry = entries.first(where: { $0.key == kind }),
            let keys = Self.singles.first(where: { $0.kind == kind })?.keys(),
            let table = reader(title: "[\(kind)]", example: "[\(kind)]", entry, allowed: keys)
        else { return nil }
        return table.boolean(SectionSwitch.enabled.name) ?? true ? table : nil
    }

    /// The enabled sections, and the names of the disabled ones.
    private func found(
        _ kind: String, _ entries: [TOMLEntry]
    ) -> (enabled: [FoundSection], disabled: [String]) {
        var (enabled, disabled): ([FoundSection], [String]) = ([], [])
        let keys = entries.isEmpty ? [] : Self.keys(of: kind)
        for entry in entries {
            let name = String(entry.key.prefix(64)).printable
            guard let table = reader(title: "[\(kind).\(name)]", example: "[\(kind).NAME]", entry, allowed: keys)
            else { continue }
            if let section = FoundSection(name: entry.key, table) {
                enabled.append(section)
            } else {
                disabled.append(entry.key)
            }
        }
        return (enabled, disabled)
    }

    private func sections(_ kind: String) -> [TOMLEntry] {
        var sections: [TOMLEntry] = []
        for entry in entries where entry.key == kind {
            guard let found = entry.node.entries else {
                diagnostics.report(
                    at: entry.node.position,
                    "`\(kind)`: expected tables such as [\(kind).NAME], found \(entry.node.typeName)")
                continue
            }
            sections += found
        }
        for section in sections where section.keyPosition.file != embedded { checkName(section) }
        return sections
    }

    /// The sensors that a detector's section names, even if it is disabled.
    private static func sensors(_ detector: TOMLEntry) -> [String] {
        (detector.node.entries ?? []).compactMap {
            DetectorSections.sensorKeys.contains($0.key) ? $0.node.string : nil
        }
    }

    private func checkName(_ section: TOMLEntry) {
        let isFine =
            (1...64).contains(section.key.utf8.count)
            && section.key.utf8.allSatisfy { $0.isAlphanumeric || "-_".utf8.contains($0) }
            && section.key.utf8.contains(where: \.isAlphanumeric)
        guard !isFine else { return }
        diagnostics.report(
            at: section.keyPosition, "\(Spelling.quoted(section.key)) cannot be a name",
            hint: "1 to 64 letters, digits, - and _, not signs alone")
    }

    /// Reports names shared by detectors of different kinds; two entries of one kind are one section in two files.
    private func reportSharedNames(_ kinds: [[TOMLEntry]]) {
        var others: [String: SourcePosition] = [:]
        for detectors in kinds {
            for detector in detectors {
                guard let other = others[detector.key] else { continue }
                let (first, second) = (min(other, detector.keyPosition), max(other, detector.keyPosition))
                diagnostics.report(
                    at: second, "two detectors are named \(Spelling.quoted(detector.key))",
                    hint: "the other one is " + diagnostics.words(for: first, from: second))
            }
            others.merge(detectors.map { ($0.key, $0.keyPosition) }) { first, _ in first }
        }
    }

    /// All recordings play on one timeline, which loops as a whole or not at all.
    private func reportMixedLoops(_ sensors: [(SensorSection, TableReader)]) {
        let traces = sensors.compactMap { section, table -> (loops: Bool, title: String, place: SourcePosition)? in
            guard case .trace(_, let loops) = section.source else { return nil }
            return (loops, table.title, table.entry("loop")?.keyPosition ?? table.position)
        }
        guard let first = traces.first, let other = traces.first(where: { $0.loops != first.loops }) else { return }
        let (before, after) = first.place < other.place ? (first, other) : (other, first)
        diagnostics.report(
            at: after.place, "`loop` is \(after.loops) in \(after.title) and \(before.loops) in \(before.title)",
            hint: "all recordings play on one timeline: set it in every section or in none")
    }

    private func reader(title: String, example: String, _ entry: TOMLEntry, allowed: [String]) -> TableReader? {
        guard let entries = entry.node.entries else {
            diagnostics.report(
                at: entry.node.position, "\(title): expected a table, found \(entry.node.typeName)",
                hint: "a section begins with \(example)")
            return nil
        }
        return TableReader(
            title: title, position: entry.node.position, entries: entries, allowed: allowed,
            diagnostics: diagnostics)
    }
}

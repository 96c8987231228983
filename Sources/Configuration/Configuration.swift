package import Binnacle
package import EventSocket
package import LinuxSensors
package import Store
package import TableReading

/// A checked configuration: all references and settings are valid.
package struct Configuration: Sendable {
    package var sensors: [SensorSection] = []
    /// In the order in which they process a delivery: that of ``DetectorSections/all``, then that of the files.
    package var detectors: [any DetectorSection] = [] {
        didSet {
            users = [:]
            for (index, detector) in detectors.enumerated() {
                for sensor in Set(detector.needs.map(\.sensor)) { users[sensor, default: []].append(index) }
            }
        }
    }
    /// The places in ``detectors`` of those that need a sensor; a search of all of them for each of a thousand sensors takes seconds.
    private var users: [String: [Int]] = [:]
    /// The names of the default detectors, which the user's own replace and whose sensors may be missing.
    package var defaultDetectors: Set<String> = []
    package var handlers: [HandlerSection] = []
    /// `nil` when it is unknown; then headings are magnetic.
    package var position: PositionSection?
    package var store: EventStoreSettings?
    package var socket: SocketSettings?
    package var dbus: DBusSection?
    /// Detectors that were added for the desktop service alone.
    package var desktopDetectors: Set<String> = []
    /// Sensors that detectors name, also detectors that are not in force.
    package var namedSensors: Set<String> = []
    /// The sections that were left out although they are enabled, and why, each a sentence.
    package var notices: [String] = []
    /// In the order in which they were read.
    package var files: [String] = []
    /// The files that ``files`` name to be read, besides recordings.
    package var namedFiles: [String] = []
    /// Warnings: settings that are valid and probably not intended.
    package var warnings: [ConfigurationDiagnostic] = []
    /// Positions of sections and keys, for later warnings.
    package var places = ConfigurationPlaces()

    package static let mostFiles = 100

    /// The effective values of all detectors as TOML; without sensors and handlers, which may contain secrets.
    package var detectorText: String {
        detectors.map { $0.lines.joined(separator: "\n") }.joined(separator: "\n\n")
    }

    package init() {}

    /// Parses and checks a file, and throws all its errors; `path` is its name in messages.
    package static func parse(_ text: [UInt8], path: String) throws(ConfigurationError) -> Configuration {
        try parse([(path, text)], path: path, settings: [])
    }

    /// Parses and checks a generated text and the command line's settings, and throws all their errors.
    package static func parse(
        embedded text: String, settings: [CommandLineSetting]
    ) throws(ConfigurationError) -> Configuration {
        let path = "the default configuration"
        var configuration = try parse(
            [(path, Array(text.utf8))], path: path, isEmbedded: true, settings: settings)
        configuration.files = []
        return configuration
    }

    /// Parses and checks several files and the command line's settings; later ones complete earlier ones.
    private static func parse(
        _ texts: [(path: String, bytes: [UInt8])], path: String, isEmbedded: Bool = false,
        settings: [CommandLineSetting], device: CalibrationDevice = .machine
    ) throws(ConfigurationError) -> Configuration {
        let names = texts.map { $0.path } + settings.map(\.name)
        let diagnostics = DiagnosticCollector(path: path, files: names, settings: settings.count)
        var entries: [TOMLEntry] = []
        func complete(_ document: () throws(TOMLDocument.SyntaxError) -> [TOMLEntry]) {
            do throws(TOMLDocument.SyntaxError) {
                entries.complete(with: try document(), levels: ConfigurationReader.levels)
            } catch {
                diagnostics.report(at: error.position, error.message)
            }
        }
        for (file, text) in texts.enumerated() {
            guard text.bytes.count <= ConfigurationFile.largestSize else {
                throw .file(path: text.path, .tooLarge(limit: ConfigurationFile.largestSize))
            }
            complete { () throws(TOMLDocument.SyntaxError) in
                try TOMLDocument(parsing: text.bytes, file: file).entries()
            }
        }
        for (number, setting) in settings.enumerated() {
            complete { () throws(TOMLDocument.SyntaxError) in
                try setting.document(file: texts.count + number).entries()
            }
        }
        if let error = diagnostics.error() { throw error }
        let reader = ConfigurationReader(
            entries: entries, embedded: isEmbedded ? 0 : nil, diagnostics: diagnostics, device: device)
        var configuration = reader.read()
        if let error = diagnostics.error() { throw error }
        configuration.files = texts.map { $0.path }
        configuration.namedFiles = diagnostics.namedFiles
        configuration.warnings = diagnostics.warnings
        configuration.places = ConfigurationPlaces(entries, files: names, settings: settings.count)
        return configuration
    }
}

extension Configuration: Equatable {
    /// Compares the sections, not the files and warnings.
    package static func == (left: Configuration, right: Configuration) -> Bool {
        left.sensors == right.sensors && left.handlers == right.handlers
            && left.detectors.elementsEqual(right.detectors) { $0.isSame(as: $1) }
            && left.defaultDetectors == right.defaultDetectors && left.position == right.position
            && left.store == right.store
            && left.socket == right.socket && left.dbus == right.dbus
    }
}

extension Configuration {
    /// A stream that a detector needs.
    package typealias Need = (sensor: String, kind: SampleKind, by: String)

    /// All files that are read: those of the configuration, and those that it names, with the recordings that play sensors.
    package var inputs: [String] {
        files + namedFiles + sensors.compactMap { if case .trace(let file, _) = $0.source { file } else { nil } }
    }

    package var detectorNames: [String] { detectors.map { $0.name } }

    /// The sensors that are read for clients of the socket.
    package var sampledSensors: [SensorSection] { sensors.filter { !$0.samples.isEmpty } }

    package func detector(_ name: String) -> (any DetectorSection)? { detectors.first { $0.name == name } }

    /// The detectors that need a sensor, in their order.
    package func detectors(of sensor: String) -> [any DetectorSection] { (users[sensor] ?? []).map { detectors[$0] } }

    /// The streams that detectors require, each once, in the order of the sensors.
    package var needs: [Need] { sensors.flatMap { needs(of: $0.name) } }

    /// The streams that detectors use if the device has them, each once, in the order of the sensors.
    package var optionalNeeds: [Need] { sensors.flatMap { optionalNeeds(of: $0.name) } }

    private func optionalNeeds(of sensor: String) -> [Need] {
        let required = needs(of: sensor).map(\.kind)
        return needs(of: sensor, areOptional: true).filter { !required.contains($0.kind) }
    }

    private func needs(of sensor: String, areOptional: Bool = false) -> [Need] {
        let all = detectors(of: sensor).flatMap { section -> [Need] in
            section.needs.filter { $0.sensor == sensor && $0.isOptional == areOptional }
                .map { (sensor, $0.kind, section.title) }
        }
        return SampleKind.allCases.compactMap { kind in all.first { $0.kind == kind } }
    }

    /// Adapts sensors and detectors to each other.
    ///
    /// A sensor without a configured rate gets the rate that the detectors need, so that no device samples faster.
    mutating func fit() {
        var fitted = detectors
        for index in fitted.indices { fitted[index].fit(to: &sensors) }
        detectors = fitted
        for index in sensors.indices where !sensors[index].hasRate {
            sensors[index].settings.neededRatesHz = neededRatesHz(of: sensors[index].name)
        }
    }

    /// What all detectors of a sensor want of its chip; `nil` when it is not asked.
    package func chip(of sensor: String) -> ChipSettings? {
        let wishes = detectors(of: sensor).flatMap { $0.needs }.filter { $0.sensor == sensor }.map(\.chip)
        // A detector without a wish, and the socket, need every sample.
        let rests = samples(of: sensor).isEmpty && !wishes.contains(nil)
        var all = wishes.compactMap { $0 }.filter { rests || !$0.reports.isEmpty }
            .reduce(nil) { all, wish in all?.joined(with: wish) ?? wish }
        all?.rests = rests
        return all
    }

    /// The sampling rate that detectors need of each kind that a sensor measures.
    package func neededRatesHz(of sensor: String) -> [SampleKind: Double] {
        detectors(of: sensor).flatMap { $0.needs }.filter { $0.sensor == sensor }.reduce(into: [:]) { rates, need in
            rates[need.kind] = max(rates[need.kind] ?? 0, need.rateHz)
        }
    }

    /// Whether a sensor may be missing: any device matches it, and only default detectors need it.
    package func isOptional(_ sensor: SensorSection) -> Bool {
        guard case .auto(var match) = sensor.source else { return false }
        // The detector of a screen asks for that, and not the user.
        match.isInScreen = false
        guard match.isEmpty, sensor.samples.isEmpty else { return false }
        let own = detectors(of: sensor.name).filter { !defaultDetectors.contains($0.name) }.flatMap { $0.needs }
        return !own.contains { $0.sensor == sensor.name && !$0.isOptional }
    }

    /// The kinds that detectors require of a sensor, or clients of the socket.
    package func kinds(of sensor: String) -> [SampleKind] {
        let needed = Set(needs(of: sensor).map(\.kind)).union(samples(of: sensor))
        return SampleKind.allCases.filter(needed.contains)
    }

    private func samples(of sensor: String) -> Set<SampleKind> {
        sensors.first { $0.name == sensor }?.samples ?? []
    }

    /// The kinds that detectors use if a sensor measures them.
    package func optionalKinds(of sensor: String) -> [SampleKind] {
        optionalNeeds(of: sensor).map(\.kind).filter { !samples(of: sensor).contains($0) }
    }
}

extension Configuration {
    /// The number of sections, on one line.
    package var summary: String {
        func count(_ number: Int, _ word: String) -> String { "\(number) \(word)\(number == 1 ? "" : "s")" }
        let counts = DetectorSections.documented.compactMap { type -> String? in
            let number = detectors.count { Swift.type(of: $0) == type }
            return number == 0 ? nil : count(number, "\(type.kind) detector")
        }
        let parts =
            [count(sensors.count, "sensor")] + (counts.isEmpty ? ["no detector"] : counts)
            + [count(handlers.count, "handler"), dbus == nil ? nil : "the service on the system bus"].compactMap { $0 }
        let origin = files.count > 1 ? ", in \(files.count) files" : ""
        let warned = warnings.isEmpty ? "" : "; " + count(warnings.count, "warning")
        return "ok: " + parts.joined(separator: ", ") + origin + warned
    }
}

extension Configuration {
    /// The default folder of the daemon's configuration.
    package static let standardPath = "/etc/binnacle"

    /// Reads and checks a file, or a folder with drop-ins, completed by the command line's `settings`.
    ///
    /// A folder consists of its `binnacle.toml`, which may be absent, and its `conf.d/*.toml` in byte order of their
    /// names. A later file completes and replaces the sections of earlier ones key by key. With `mayWait` the file may
    /// be a pipe that the shell has opened. Throws if a file cannot be read, or all errors in the files.
    package static func read(
        path: String, settings: [CommandLineSetting] = [], mayWait: Bool = true,
        device: CalibrationDevice = .machine
    ) throws(ConfigurationError) -> Configuration {
        // A system call would end the path at the NUL and open another file.
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .file(path: path, .missing) }
        guard ConfigurationFolder.exists(at: path) else {
            let bytes = try ConfigurationFile.contents(of: path, mayWait: mayWait)
            return try parse([(path, bytes)], path: path, settings: settings, device: device)
        }
        let folder = path.hasSuffix("/") ? path : path + "/"
        let texts = try ConfigurationFolder.files(in: folder).map { file throws(ConfigurationError) in
            (path: file, bytes: try ConfigurationFile.contents(of: file, mayWait: false))
        }
        var configuration = try parse(texts, path: path, settings: settings, device: device)
        let unread = ConfigurationFolder.unread(in: folder).map { ($0.path, "this file is not read", $0.hint) }
        let denied = ConfigurationFolder.denied(String(folder.dropLast()), texts.map(\.path))
        configuration.warnings += (unread + denied).map { path, message, hint in
            ConfigurationDiagnostic(
                path: path, position: SourcePosition(line: 1, column: 1), message: message, hint: hint,
                severity: .warning)
        }
        return configuration
    }
}

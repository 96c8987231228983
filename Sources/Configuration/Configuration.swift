package import Binnacle
package import EventSocket
import LinuxSensors
import PlainText
package import Store
package import TableReading

/// A checked configuration: all references and settings are valid.
package struct Configuration: Sendable {
    /// The sensors, in the order of the files.
    package var sensors: [SensorSection] = []
    /// The detectors in the order in which they process a delivery: that of ``DetectorSections/all``, and then of the files.
    package var detectors: [any DetectorSection] = []
    /// The names of those that make way for the user's own detectors, and may wait for a sensor.
    package var defaultDetectors: Set<String> = []
    /// The handlers, in the order of the files.
    package var handlers: [HandlerSection] = []
    /// The place of the device; `nil` when it is unknown, and headings are magnetic.
    package var position: PositionSection?
    /// The event store; `nil` for none.
    package var store: EventStoreSettings?
    /// The socket for clients; `nil` for none.
    package var socket: SocketSettings?
    /// The service on the system bus; `nil` for none.
    package var dbus: DBusSection?
    /// The detectors that no file has, and that only the service on the bus needs.
    package var desktopDetectors: Set<String> = []
    /// The sensors that sections of detectors name, also those that are not in force.
    package var namedSensors: Set<String> = []
    /// The sections that were left out without being switched off, and why, each a sentence.
    package var notices: [String] = []
    /// The files, in the order in which they were read.
    package var files: [String] = []
    /// What will hardly do what was meant, in the order of the files.
    package var warnings: [ConfigurationDiagnostic] = []
    /// Where sections and keys stand, for what is found out later.
    package var places = ConfigurationPlaces()

    /// The maximum number of files.
    package static let mostFiles = 100

    /// The detectors with all their values in force, as TOML; without sensors and handlers, which may have secrets.
    package var detectorText: String {
        detectors.map { $0.lines.joined(separator: "\n") }.joined(separator: "\n\n")
    }

    /// A configuration without any section.
    package init() {}

    /// Parses and checks the text of a file, and throws all errors in it; `path` is its name in messages.
    package static func parse(_ text: [UInt8], path: String) throws(ConfigurationError) -> Configuration {
        try parse([(path, text)], path: path, settings: [])
    }

    /// Parses and checks a text that the program made, and the command line's settings, and throws all errors in these.
    package static func parse(
        embedded text: String, settings: [CommandLineSetting]
    ) throws(ConfigurationError) -> Configuration {
        let path = "the default configuration"
        var configuration = try parse(
            [(path, Array(text.utf8))], path: path, isEmbedded: true, settings: settings)
        configuration.files = []
        return configuration
    }

    /// Parses and checks the texts of several files and the command line's settings, of which later ones complete
    /// earlier ones.
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
        configuration.warnings = diagnostics.warnings
        configuration.places = ConfigurationPlaces(entries, files: names, settings: settings.count)
        return configuration
    }
}

extension Configuration: Equatable {
    /// Whether both have the same sections, whatever their files and warnings.
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

    /// The names of all detectors.
    package var detectorNames: [String] { detectors.map { $0.name } }

    /// The section of a detector.
    package func detector(_ name: String) -> (any DetectorSection)? { detectors.first { $0.name == name } }

    /// The streams that the detectors need, each once, in the order of the sensors in the configuration.
    package var needs: [Need] { inOrder(needs(where: { !$0.isOptional })) }

    /// The streams that detectors use where they are there, each once, in the order of the sensors in the configuration.
    package var optionalNeeds: [Need] {
        let needs = needs
        return inOrder(self.needs(where: \.isOptional)).filter { wish in
            !needs.contains { $0.sensor == wish.sensor && $0.kind == wish.kind }
        }
    }

    private func needs(where isWanted: (StreamNeed) -> Bool) -> [Need] {
        detectors.flatMap { section in
            section.needs.filter(isWanted).map { ($0.sensor, $0.kind, section.title) }
        }
    }

    private func inOrder(_ needs: [Need]) -> [Need] {
        sensors.flatMap { sensor in
            SampleKind.allCases.compactMap { kind in needs.first { $0.sensor == sensor.name && $0.kind == kind } }
        }
    }

    /// Adapts sensors and detectors to each other.
    ///
    /// Each sensor whose section has no rate is asked for what the detectors need, so that no device is asked for more.
    mutating func fit() {
        for index in detectors.indices { detectors[index].fit(to: &sensors) }
        for index in sensors.indices where !sensors[index].hasRate {
            sensors[index].settings.neededRatesHz = neededRatesHz(of: sensors[index].name)
        }
    }

    /// What the detectors need of a sensor: the samples a second of each kind that is used.
    package func neededRatesHz(of sensor: String) -> [SampleKind: Double] {
        detectors.flatMap { $0.needs }.filter { $0.sensor == sensor }.reduce(into: [:]) { rates, need in
            rates[need.kind] = max(rates[need.kind] ?? 0, need.rateHz)
        }
    }

    /// Whether a sensor may be missing: any device would do for it, and only default detectors need it.
    package func isOptional(_ sensor: SensorSection) -> Bool {
        guard case .auto(let match) = sensor.source, match.isEmpty else { return false }
        var own = self
        own.detectors.removeAll { defaultDetectors.contains($0.name) }
        return own.kinds(of: sensor.name).isEmpty
    }

    /// The kinds of sample that detectors need of a sensor.
    package func kinds(of sensor: String) -> [SampleKind] {
        needs.filter { $0.sensor == sensor }.map(\.kind)
    }

    /// The kinds of sample that detectors use of a sensor where it has them.
    package func optionalKinds(of sensor: String) -> [SampleKind] {
        optionalNeeds.filter { $0.sensor == sensor }.map(\.kind)
    }
}

extension Configuration {
    /// The number of sections, on one line.
    package var summary: String {
        func count(_ number: Int, _ word: String) -> String { "\(number) \(word)\(number == 1 ? "" : "s")" }
        let counts = DetectorSections.documented.compactMap { type -> String? in
            let number = detectors.count { Swift.type(of: $0) == type }
            return number == 0 && !type.isSet ? nil : count(number, "\(type.kind) detector")
        }
        let parts =
            [count(sensors.count, "sensor")] + counts
            + [count(handlers.count, "handler"), dbus == nil ? nil : "the service on the system bus"].compactMap { $0 }
        let origin = files.count > 1 ? ", in \(files.count) files" : ""
        let warned = warnings.isEmpty ? "" : "; " + count(warnings.count, "warning")
        return "ok: " + parts.joined(separator: ", ") + origin + warned
    }
}

extension Configuration {
    /// The default folder of the daemon's configuration.
    package static let standardPath = "/etc/binnacle"

    /// Reads and checks a file, or a folder with its drop-ins, which `settings` of the command line complete.
    ///
    /// A folder is read as its `binnacle.toml`, which may be absent, and its `conf.d/*.toml` in the order of the bytes
    /// of their names. A later file completes and replaces the sections of the earlier ones key by key. With `mayWait` the
    /// file may be a pipe. Throws when a file cannot be read, or all errors in the files.
    package static func read(
        path: String, settings: [CommandLineSetting] = [], mayWait: Bool = true,
        device: CalibrationDevice = .machine
    ) throws(ConfigurationError) -> Configuration {
        // The system would end the path at a NUL, and open another file than the named one.
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
        configuration.warnings += ConfigurationFolder.unread(in: folder).map { file in
            let isDropIn = file.hasPrefix(folder + "conf.d/")
            return ConfigurationDiagnostic(
                path: file, position: SourcePosition(line: 1, column: 1), message: "this file is not read",
                hint: isDropIn ? "its name has to end with .toml" : "it has to be in conf.d", severity: .warning)
        }
        return configuration
    }
}

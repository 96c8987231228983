package import Binnacle
import Configuration
import EventSocket
import Glibc
import Handlers
import LinuxSensors
import LinuxSystem
import PlainText
import Store
import TableReading
import Traces

/// Sources given on the command line instead of a configuration's sensors, or instead of a configuration.
package enum EmbeddedConfiguration: Sendable {
    /// The machine's sensors.
    case devices
    /// A motion model.
    case simulated(SimulationSettings.Model)
    /// Recordings, at a multiple of real time.
    case traces([String], loops: Bool, speed: Double)

    /// The kinds that make a sensor; a gyroscope is only used beside an accelerometer.
    private static let kinds: [SampleKind] = [.accelerometer, .magnetometer]
    /// The key of a sensor that is any device with the kinds that are needed.
    private static let automatic = "source = \"auto\""

    /// Makes a configuration without a file: the available sensors and default detectors; throws without an
    /// accelerometer, unless it `waits` for one.
    func configuration(
        _ finder: DeviceFinder, settings: [CommandLineSetting], logs: Bool, waits: Bool
    ) throws(StationError) -> Configuration {
        var found = try sensors(finder)
        if case .devices = self, waits, !found.contains(where: { $0.kinds.contains(.accelerometer) }) {
            // One that is plugged in later is used, as with a configuration.
            found.append((SampleKind.accelerometer.rawValue, Self.automatic, [.accelerometer]))
        }
        guard let accelerometer = found.first(where: { $0.kinds.contains(.accelerometer) })?.name else {
            throw .unavailable(missing)
        }
        let magnetometer = found.first { $0.kinds.contains(.magnetometer) }?.name
        var text = Configuration.text(
            detecting: found.map { ($0.name, $0.source) }, accelerometer: accelerometer, magnetometer: magnetometer)
        if logs { text += Self.log }
        return try Configuration.parse(text, settings, hasHeading: magnetometer != nil)
    }

    /// A handler that logs all events but repeated ones: a line for each degree of a turn would hide the others.
    private static var log: String {
        let kinds = EventKind.allCases.filter(EventKind.listed.contains)
        return "[handler.log]\non = [\(kinds.map { "\"\($0.rawValue)\"" }.joined(separator: ", "))]\nlog = true\n"
    }

    private typealias FoundSensor = (name: String, source: String, kinds: [SampleKind])

    private func sensors(_ finder: DeviceFinder) throws(StationError) -> [FoundSensor] {
        switch self {
        case .devices:
            let devices = try finder.list()
            // A device with both kinds becomes one sensor.
            if devices.contains(where: { Set($0.kinds).isSuperset(of: Self.kinds) }) {
                return [("sensor", Self.automatic, Self.kinds)]
            }
            return Self.kinds.filter { kind in devices.contains { $0.kinds.contains(kind) } }.map { kind in
                (kind.rawValue, Self.automatic, [kind])
            }
        case .simulated(let model):
            return [("simulated", "source = \"simulated\"\nmodel = \"\(model.rawValue)\"", Self.kinds)]
        case .traces(let files, let loops, _):
            try TraceSet(files).refuseRepeats()
            var found: [FoundSensor] = []
            for (number, file) in files.enumerated() {
                let source = "source = \"trace\"\nfile = \(JSONObject.quoted(file))\nloop = \(loops)"
                let opened = try mapError(StationError.init) { () throws(TraceError) in try TraceFile(path: file) }
                found.append(("trace\(number + 1)", source, opened.contents.map(\.kind)))
            }
            return found
        }
    }

    private var missing: String {
        switch self {
        case .devices:
            """
            no configuration in \(Configuration.standardPath), and no accelerometer on this machine; \
            'binnacle doctor' says where it looked
            without hardware: 'binnacle run --simulate MODEL' simulates samples (\(models))
            with a recording: 'binnacle run --trace FILE' plays it in real time, again and again with --loop
            """
        case .simulated, .traces:
            "no accelerometer in the traces: both motion and heading need one; add its file"
        }
    }

    private var models: String { SimulationSettings.Model.names }
}

// MARK: - The user's own places

extension Configuration {
    /// Adds the socket and the store of a run without a configuration, unless another daemon of the user uses them.
    mutating func addOwnPlaces() {
        var variables = "neither XDG_RUNTIME_DIR, XDG_STATE_HOME nor HOME"
        if let path = SocketPath.withoutConfiguration() {
            guard !SocketPath.isAnswered(path) else {
                return addNoticeOfMissingPlaces("another daemon of yours answers at \(path.printable)")
            }
            // The command line may have set others.
            socket = socket ?? SocketSettings(path: path)
            store = store ?? EventStoreSettings.withoutConfiguration.map { EventStoreSettings(path: $0) }
            variables = "neither XDG_STATE_HOME nor HOME"
        }
        addNoticeOfMissingPlaces(
            geteuid() == 0
                ? "root's are the service's" : "\(variables) names a folder of this account by its whole path")
    }

    /// Says why there is neither socket nor store, unless the command line has set them.
    private mutating func addNoticeOfMissingPlaces(_ reason: String) {
        let missing = [
            store == nil ? ("keeps no events", "store.path=\(SocketPath.example(".db"))") : nil,
            socket == nil ? ("has no socket", "socket.path=\(SocketPath.example())") : nil,
        ].compactMap { $0 }
        guard !missing.isEmpty else { return }
        notices.append(
            "\(reason): this daemon \(missing.map(\.0).joined(separator: ", and ")); "
                + "\(missing.map { "--set \($0.1)" }.joined(separator: " ")) changes that"
                + (socket == nil ? ", and 'binnacle status --socket \(SocketPath.example())' then asks it" : ""))
    }
}

// MARK: - In place of a configuration's sensors

extension EmbeddedConfiguration {
    /// The recordings to play; `nil` for other sources.
    var recordings: TraceSet? {
        guard case .traces(let files, _, _) = self else { return nil }
        var set = TraceSet(files)
        set.takesBindings = false
        return set
    }

    /// The speed of recordings, in times real time.
    var speed: Double {
        if case .traces(_, _, let speed) = self { speed } else { 1 }
    }

    /// Replaces the source of every sensor in a configuration by the model or the recordings.
    ///
    /// A recording is in the device's axes and not calibrated, as in a replay. A model needs no calibration: the
    /// device's would distort it.
    func playing(_ configuration: Configuration) -> (configuration: Configuration, notices: [String]) {
        var playing = configuration
        var notices: [String] = []
        switch self {
        case .devices: return (configuration, [])
        case .simulated(let model):
            playing.sensors = configuration.sensors.map { sensor in
                var settings = SimulationSettings()
                settings.model = model
                settings.rateHz = sensor.rateHz
                if !configuration.kinds(of: sensor.name).isEmpty {
                    let calibration = sensor.calibration == nil ? "" : ", without its calibration"
                    notices.append("sensor '\(sensor.name)': --simulate \(model.rawValue) plays it\(calibration)")
                }
                return sensor.playing(.simulated(settings))
            }
        case .traces(let files, let loops, _):
            playing.sensors = configuration.sensors.map { sensor in
                var section = sensor.playing(.trace(file: files.joined(separator: ", "), loops: loops))
                section.calibration = sensor.calibration
                section.settings.acceleration = sensor.settings.acceleration
                return section
            }
        }
        if let actors = configuration.actors { notices.append(actors) }
        return (playing, notices)
    }
}

extension Configuration {
    /// A warning about handlers and a store that act on simulated or recorded events; `nil` if there are none.
    fileprivate var actors: String? {
        var actors = handlers.map { ($0.name, type(of: $0.action)) }.filter { $0.1.actsOnTheWorld }.map {
            "handler '\($0.0)' (\($0.1.key))"
        }
        if let store { actors.append("the store \(store.path.printable)") }
        guard !actors.isEmpty else { return nil }
        return "the events are handled as those of the sensors: \(actors.joined(separator: ", "))"
    }

    /// TOML with some sensors and default detectors: motion, and a heading if there is a magnetometer.
    ///
    /// A gyroscope may be "none"; `nil` means the accelerometer's, if it has one.
    static func text(
        detecting sensors: [(name: String, source: String)], accelerometer: String, magnetometer: String?,
        gyroscope: String? = nil
    ) -> String {
        var keys = "accelerometer = \(JSONObject.quoted(accelerometer))\n"
        if let gyroscope { keys += "gyroscope = \(JSONObject.quoted(gyroscope))\n" }
        var text = sensors.map { "[sensor.\(JSONObject.quoted($0.name))]\n\($0.source)\n" }.joined()
        text += "[motion.motion]\n" + keys
        if let magnetometer { text += "[north.north]\n\(keys)magnetometer = \(JSONObject.quoted(magnetometer))\n" }
        return text
    }

    /// Parses text generated by the program together with the settings of the command line.
    ///
    /// Without a heading, settings of its detector have no effect, unless they name the magnetometer: the same command plays recordings
    /// with and without one.
    static func parse(
        _ text: String, _ settings: [CommandLineSetting], hasHeading: Bool
    ) throws(StationError) -> Configuration {
        let own = ["north", "north"]
        let isGiven = hasHeading || settings.contains { $0.keys == own + ["magnetometer"] }
        let unused = settings.filter { !isGiven && $0.keys.starts(with: own) }
        var configuration = try mapError(StationError.init) { () throws(ConfigurationError) in
            try Configuration.parse(embedded: text, settings: settings.filter { !unused.contains($0) })
        }
        configuration.notices += unused.map { "\($0.name): no effect without a magnetometer" }
        return configuration
    }
}

extension SensorSection {
    fileprivate var rateHz: Double {
        if case .simulated(let settings) = source { settings.rateHz } else { settings.rateHz }
    }
}

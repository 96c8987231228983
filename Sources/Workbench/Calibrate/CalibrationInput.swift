import Binnacle
import Configuration
import LinuxSensors
import PlainText
import Station
import TableReading
import Traces

/// The stream of samples to calibrate, and its source.
package struct CalibrationInput {
    private let assembly: Assembly
    let source: StationSource
    let stream: SampleStream
    /// The recordings and the files of the configuration, without the calibrations that it names, which may be replaced.
    package let inputs: [String]
    /// The axes of the device's samples; `nil` for what is no device.
    let axes: String?
    private var configured: [String] = []

    /// Whether the samples come from sensors rather than recordings.
    package var isLive: Bool { assembly.traces == nil }
    /// Messages for the user before the start.
    package var notices: [String] { configured + assembly.notices }
    /// Assumptions about the recordings.
    package var assumptions: [String] { assembly.assumptions }
    /// The share of the recordings that was read, from 0 to 1.
    var fraction: Double? { assembly.fraction }
    /// The first repairs of the recordings.
    var repairNotices: [String] { assembly.repairs.notices.map(\.description) }

    /// Opens the sensor or the recordings; an interruption ends waiting for a pipe.
    init(_ options: CalibrateOptions, interruption: Interruption) throws(StationError) {
        let finder = DeviceFinder(under: options.root)
        var section: SensorSection?
        var files: [String] = []
        var isBeside = false
        var traces = options.traces
        var sensor = options.sensor
        if let model = options.simulation {
            section = SensorSection(simulating: model)
        } else if traces.isEmpty {
            if let path = options.configurationPath {
                let configuration = try Configuration.load(path)
                files = configuration.files
                let found = try Self.section(options, path, configuration)
                isBeside =
                    options.kind == .gyroscope && configuration.kinds(of: found.name).contains(.accelerometer)
                section = found
            } else {
                let (found, notice) = Self.sectionOfService(try Self.device(options, finder), options)
                section = found
                configured = notice.map { [$0] } ?? []
            }
            if case .trace(let file, _)? = section?.source {
                traces.paths = [file]
                if let section { traces.recordGravitySign(section) }
                sensor = nil
            }
        }
        inputs = files + traces.files
        axes = traces.isEmpty ? section?.statedAxes(of: options.kind) : nil
        if let section, traces.isEmpty {
            // A gyroscope may be another device than the accelerometer of the section.
            let wanted =
                isBeside
                ? WantedSensor(section, [.accelerometer], optionalKinds: [.gyroscope])
                : WantedSensor(section, [options.kind])
            assembly = try Assembly([wanted])
            stream = assembly.streams.first { $0.kind == options.kind } ?? assembly.streams[0]
        } else {
            assembly = try Assembly(playing: traces, interruption: interruption)
            stream = try Self.stream(options.kind, of: sensor, among: assembly.streams)
        }
        source = try assembly.makeSource(finder: finder)
    }

    private static func stream(
        _ kind: SampleKind, of sensor: String?, among streams: [SampleStream]
    ) throws(StationError) -> SampleStream {
        let fitting = streams.filter { $0.kind == kind }
        let wanted = fitting.filter { stream in sensor.map { stream.sensor.name == $0 } ?? true }
        guard let first = wanted.first else {
            let found = fitting.map { "'\($0.sensor.name.printable)'" }.joined(separator: ", ")
            throw .usage(
                fitting.isEmpty
                    ? "no \(kind.rawValue) in the traces"
                    : "--sensor \(sensor ?? ""): no such \(kind.rawValue) in the traces; found are \(found)")
        }
        guard wanted.count == 1 else { throw ambiguity(kind, wanted.map(\.sensor.name), "in the traces") }
        return first
    }

    private static func ambiguity(_ kind: SampleKind, _ names: [String], _ place: String) -> StationError {
        let names = names.map { "'\($0.printable)'" }.joined(separator: ", ")
        return StationError(
            .usage, "\(place) several could be meant: choose the \(kind.rawValue) with --sensor: \(names)")
    }

    /// The named device, or the only connected one of the kind.
    private static func device(
        _ options: CalibrateOptions, _ finder: DeviceFinder
    ) throws(StationError) -> SensorDevice {
        let found = try finder.list().filter { $0.kinds.contains(options.kind) }
        guard !found.isEmpty else {
            throw .unavailable(
                "no \(options.kind.rawValue) was found; 'binnacle doctor' says where it looked, and --trace FILE takes a "
                    + "recording")
        }
        let wanted = found.filter { device in options.sensor.map { device.answers(to: $0) } ?? true }
        guard let device = wanted.first else {
            let names = found.map { "'\($0.name.printable)'" }.joined(separator: ", ")
            throw .unavailable("--sensor \(options.sensor ?? ""): no such \(options.kind.rawValue); found are \(names)")
        }
        guard wanted.count == 1 else {
            throw ambiguity(options.kind, wanted.map { $0.label ?? $0.id }, "on this machine")
        }
        return device
    }

    /// The device as the service reads it, in whose axes the calibration is applied; with a notice.
    private static func sectionOfService(
        _ device: SensorDevice, _ options: CalibrateOptions
    ) -> (SensorSection, notice: String?) {
        let plain = SensorSection(device, name: device.name)
        // Another tree than this machine's is not the service's.
        guard options.root == nil else { return (plain, nil) }
        let (kind, path) = (options.kind, Configuration.standardPath)
        do throws(ConfigurationError) {
            let configuration = try Configuration.read(path: path)
            let fitting = configuration.sensors.filter { section in
                let kinds = configuration.kinds(of: section.name) + configuration.optionalKinds(of: section.name)
                guard kinds.contains(kind), let (interface, match) = section.source.device else { return false }
                return match.accepts(device, as: interface, with: [kind])
            }
            guard let section = fitting.first else { return (plain, nil) }
            guard Set(fitting.map { $0.statedAxes(of: kind) }).count == 1 else {
                return (plain, "several sensors of \(path) may be this one, so its axes are the driver's: use --config")
            }
            return (
                SensorSection(device, name: section.name, settings: section.settings),
                "it is read as [sensor.\(section.name.printable)] of \(path) states"
            )
        } catch {
            if case .file(_, let problem) = error, [.missing, .nothing].contains(problem) { return (plain, nil) }
            if case .file = error { return (plain, "\(error), so that the axes are the driver's: use --config") }
            return (plain, "\(path) has errors, so that the axes are the driver's: see 'binnacle check'")
        }
    }

    /// The named section, the only one whose kind detectors use, or the only one.
    private static func section(
        _ options: CalibrateOptions, _ path: String, _ configuration: Configuration
    ) throws(StationError) -> SensorSection {
        let sections = configuration.sensors
        if let name = options.sensor {
            let names = sections.map(\.name)
            guard let section = sections.first(where: { $0.name == name }) else {
                throw .usage("--sensor \(name): no such sensor in \(path) (\(Spelling.hint(for: name, among: names)))")
            }
            return section
        }
        let used = sections.filter { section in
            (configuration.kinds(of: section.name) + configuration.optionalKinds(of: section.name))
                .contains(options.kind)
        }
        let wanted = used.isEmpty ? sections : used
        guard let section = wanted.first else {
            throw StationError(.configuration, "\(path.printable): has no [sensor.NAME] to calibrate")
        }
        guard wanted.count == 1 else { throw ambiguity(options.kind, wanted.map(\.name), "in \(path.printable)") }
        return section
    }
}

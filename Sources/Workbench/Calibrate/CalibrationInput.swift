import Binnacle
import Configuration
import LinuxSensors
import LinuxSystem
import PlainText
import Station
import TableReading
import Traces

/// The one stream of samples that is calibrated, and what delivers it.
struct CalibrationInput {
    /// What delivers it.
    let source: StationSource
    /// The traces that it is read from; `nil` when it is live.
    let traces: TraceSource?
    let stream: SampleStream
    private(set) var notices: [String] = []

    /// Opens what the options name.
    ///
    /// - Parameters:
    ///   - options: Where the samples come from.
    ///   - waker: Ends a wait for live ones.
    ///   - interruption: Ends a wait for a pipe.
    /// - Throws: ``StationError`` when there is no such sensor, or it is not clear which is meant.
    init(_ options: CalibrateOptions, waker: Waker, interruption: Interruption) throws(StationError) {
        if !options.traces.isEmpty {
            try self.init(options, traces: options.traces, sensor: options.sensor, waker, interruption)
        } else if let path = options.configurationPath {
            try self.init(options, configuration: path, waker: waker, interruption)
        } else {
            try self.init(options, request: try Self.request(options), waker: waker)
        }
    }

    // MARK: - Traces

    private init(
        _ options: CalibrateOptions, traces: [String], sensor: String?, _ waker: Waker, _ interruption: Interruption
    ) throws(StationError) {
        var replay = ReplayOptions()
        replay.paths = traces
        replay.map = options.map
        var binding = try TraceBinding(replay, interruption: interruption)
        let traces = try binding.bindEverything()
        let fitting = traces.streams.filter { $0.kind == options.kind }
        let wanted = fitting.filter { stream in sensor.map { stream.sensor.name == $0 } ?? true }
        guard let first = wanted.first else {
            let found = fitting.map { "'\($0.sensor.name.printable)'" }.joined(separator: ", ")
            throw StationError(
                .usage,
                fitting.isEmpty
                    ? "no \(options.kind.rawValue) in the traces"
                    : "--sensor \(sensor ?? ""): no such \(options.kind.rawValue) in the traces; found are \(found)")
        }
        guard wanted.count == 1 else {
            throw Self.ambiguity(options.kind, wanted.map(\.sensor.name), "in the traces")
        }
        source = StationSource(playing: traces, waker: waker)
        self.traces = traces
        stream = first
        notices = binding.notices
    }

    private static func ambiguity(_ kind: SampleKind, _ names: [String], _ place: String) -> StationError {
        let names = names.map { "'\($0.printable)'" }.joined(separator: ", ")
        return StationError(
            .usage, "\(place) several could be meant: choose the \(kind.rawValue) with --sensor: \(names)")
    }

    // MARK: - Devices

    private init(_ options: CalibrateOptions, request: SensorRequest, waker: Waker) throws(StationError) {
        let finder = options.root.map { DeviceFinder(root: $0) } ?? DeviceFinder()
        do throws(SystemError) {
            let live = try LiveSource([request], finder: finder, waker: waker)
            try self.init(live: live, timed: [], streams: live.streams, waker: waker)
        } catch {
            throw StationError(error)
        }
    }

    private init(
        live: LiveSource?, timed: [any TimedSource], streams: [SampleStream], waker: Waker
    ) throws(SystemError) {
        let source = StationSource(waker: waker)
        source.change(live: live, timed: timed, streams: streams)
        self.source = source
        traces = nil
        stream = streams[0]
    }

    /// The only device that measures what is calibrated, or the one that was named.
    private static func request(_ options: CalibrateOptions) throws(StationError) -> SensorRequest {
        let finder = options.root.map { DeviceFinder(root: $0) } ?? DeviceFinder()
        let found: [SensorDevice]
        do throws(SystemError) {
            found = try finder.devices().filter { $0.kinds.contains(options.kind) }
        } catch {
            throw StationError(error)
        }
        guard !found.isEmpty else {
            throw StationError(
                .unavailable,
                "no \(options.kind.rawValue) was found; 'binnacle doctor' says where it looked, and --trace FILE takes a "
                    + "recording")
        }
        let wanted = found.filter { device in options.sensor.map { device.answers(to: $0) } ?? true }
        guard let device = wanted.first else {
            let names = found.map { "'\($0.name.printable)'" }.joined(separator: ", ")
            throw StationError(
                .unavailable, "--sensor \(options.sensor ?? ""): no such \(options.kind.rawValue); found are \(names)")
        }
        guard wanted.count == 1 else {
            throw ambiguity(options.kind, wanted.map { $0.label ?? $0.id }, "on this machine")
        }
        return SensorRequest(
            sensor: Sensor(name: device.name), kinds: [options.kind], interface: device.interface, id: device.id)
    }

    // MARK: - A configuration

    private init(
        _ options: CalibrateOptions, configuration path: String, waker: Waker, _ interruption: Interruption
    ) throws(StationError) {
        let section = try Self.section(options, path)
        let sensor = Sensor(name: section.name)
        switch section.source {
        case .trace(let file, _): try self.init(options, traces: [file], sensor: nil, waker, interruption)
        case .simulated(let settings):
            let source = SimulatedSource(
                [(sensor, [options.kind], settings)], startNanoseconds: SystemClock.monotonic(),
                clock: SystemClock.monotonic)
            do throws(SystemError) {
                try self.init(live: nil, timed: [source], streams: source.streams, waker: waker)
            } catch {
                throw StationError(error)
            }
        case .auto(let match): try self.init(options, Self.request(sensor, options, nil, match, section), waker)
        case .iio(let match): try self.init(options, Self.request(sensor, options, .iio, match, section), waker)
        case .evdev(let match): try self.init(options, Self.request(sensor, options, .evdev, match, section), waker)
        }
    }

    private init(_ options: CalibrateOptions, _ request: SensorRequest, _ waker: Waker) throws(StationError) {
        try self.init(options, request: request, waker: waker)
    }

    private static func request(
        _ sensor: Sensor, _ options: CalibrateOptions, _ interface: SensorDevice.Interface?, _ match: DeviceMatch,
        _ section: SensorSection
    ) -> SensorRequest {
        SensorRequest(
            sensor: sensor, kinds: [options.kind], interface: interface, match: match, settings: section.settings)
    }

    /// The section that was named, or the only one that detectors use for what is calibrated, or the only one at all.
    private static func section(_ options: CalibrateOptions, _ path: String) throws(StationError) -> SensorSection {
        let configuration: Configuration
        do throws(ConfigurationError) {
            configuration = try Configuration.read(path: path)
        } catch {
            throw StationError(error)
        }
        let sections = configuration.sensors
        if let name = options.sensor {
            let names = sections.map(\.name)
            guard let section = sections.first(where: { $0.name == name }) else {
                throw StationError(
                    .usage, "--sensor \(name): no such sensor in \(path) (\(Spelling.hint(for: name, among: names)))")
            }
            return section
        }
        let used = sections.filter { configuration.kinds(of: $0.name).contains(options.kind) }
        let wanted = used.isEmpty ? sections : used
        guard let section = wanted.first else {
            throw StationError(.configuration, "\(path.printable): has no [sensor.NAME] to calibrate")
        }
        guard wanted.count == 1 else { throw ambiguity(options.kind, wanted.map(\.name), "in \(path.printable)") }
        return section
    }
}

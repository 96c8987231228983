import Binnacle
import Configuration
import Handlers
import LinuxSystem
import PlainText
import TableReading
import Traces

/// What a replay is made of: the traces on their sensors, and the detectors that look at them.
struct ReplayPlan {
    let source: TraceSource
    let motionManagers: [MotionManager]
    let northDetectors: [NorthDetector]
    let notices: [String]
    private let handlers: [HandlerSection]

    var detectors: [any Detector] { motionManagers + northDetectors }

    /// Opens the traces and finds for every detector the streams it needs.
    init(_ options: ReplayOptions, interruption: Interruption) throws(StationError) {
        let read = try options.configurationPath.map { path throws(StationError) in try Self.read(path) }
        // A replay is the same on every day.
        let placed = read?.placed(today: nil)
        let configuration = placed?.configuration
        var options = options
        if let configuration, let path = options.configurationPath { try Self.complete(&options, configuration, path) }
        var binding = try TraceBinding(options, interruption: interruption)
        if let configuration {
            source = try binding.bind(configuration.needs)
            let streams = source.streams
            for sensor in streams.map(\.sensor) {
                sensor.calibration = configuration.sensors.first { $0.name == sensor.name }?.calibration
            }
            motionManagers = configuration.motions.map { $0.makeDetector(on: streams) }
            northDetectors = configuration.norths.map { $0.makeDetector(on: streams) }
            handlers = configuration.handlers
            notices = binding.notices + binding.unused + (placed?.notices ?? [])
        } else {
            source = try binding.bindEverything()
            guard let accelerometer = source.firstStream(of: .accelerometer) else {
                throw StationError(
                    .usage, "no accelerometer in the traces: both motion and heading need one; add its file")
            }
            let magnetometer = source.firstStream(of: .magnetometer)
            motionManagers = [MotionManager(accelerometer: accelerometer)]
            northDetectors = magnetometer.map { [NorthDetector(accelerometer: accelerometer, magnetometer: $0)] } ?? []
            handlers = []
            let used = [accelerometer.index, magnetometer?.index]
            let unused = source.streams.filter { !used.contains($0.index) }.map {
                "\($0.kind.rawValue) '\($0.sensor.name.printable)': not looked at; a configuration can name a detector for it"
            }
            notices =
                binding.notices + unused + (magnetometer == nil ? ["no magnetometer in the traces: no heading"] : [])
        }
    }

    /// Makes the configured handlers with their decorators.
    ///
    /// - Parameters:
    ///   - router: Knows which sensors are active.
    ///   - runsCommands: Whether handlers that act on the world are among them.
    ///   - output: Flushed before a command runs.
    ///   - log: Where log handlers write, and commands say what went wrong.
    ///   - interruption: Ends the wait for a command.
    /// - Returns: A chain for each handler that runs.
    func chains(
        _ router: Router, runsCommands: Bool, output: LineWriter, log: LineWriter, interruption: Interruption
    ) -> [HandlerChain] {
        let context = DecoratorSettings.Context(
            minuteOfDay: { _ in LocalClock.minuteOfDay() },
            activeSensors: { [unowned router] in Set(router.activeSensors.map(\.name)) })
        return handlers.compactMap { (section) -> HandlerChain? in
            guard runsCommands || !type(of: section.action).actsOnTheWorld else { return nil }
            let place = HandlerContext(
                name: section.name, log: log, willRun: { output.flush() }, isCancelled: { interruption.isRequested })
            guard let handler = section.action.makeHandler(place) else { return nil }
            let chain = HandlerChain(
                handler: handler, kinds: Set(section.kinds), detectors: section.detectors.map { Set($0) })
            for decorator in section.decorators { chain.append(decorator.makeDecorator(in: context)) }
            return chain
        }
    }

    /// Adds the trace files that the configuration names, unless the command line names others.
    private static func complete(
        _ options: inout ReplayOptions, _ configuration: Configuration, _ path: String
    ) throws(StationError) {
        try configuration.requireDetector(path)
        guard options.paths.isEmpty, options.bindings.isEmpty else { return }
        let needs = configuration.needs
        for sensor in configuration.sensors {
            let kinds = needs.filter { $0.sensor == sensor.name }.map(\.kind)
            guard case .trace(let file, _) = sensor.source, !kinds.isEmpty else { continue }
            let kind = kinds.count == 1 ? kinds[0] : nil
            options.bindings.append(ReplayOptions.Binding(sensor: sensor.name, path: file, kind: kind))
        }
        guard !options.bindings.isEmpty else {
            throw StationError(.usage, "\(path.printable): no sensor has a trace; name one on the command line")
        }
    }

    private static func read(_ path: String) throws(StationError) -> Configuration {
        do throws(ConfigurationError) {
            return try Configuration.read(path: path)
        } catch {
            throw StationError(error)
        }
    }
}

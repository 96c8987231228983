import Binnacle
import Configuration
import Glibc
import Handlers
import LinuxSensors
import LinuxSystem
import PlainText
import Traces

/// What a running station is made of: an object for each section of its configuration.
///
/// A new one takes over from the one before it whatever sections say the same, with all that it has in memory. Making one
/// changes nothing that runs; only when it is complete does the daemon go over to it.
struct Assembly {
    let configuration: Configuration
    /// The sensors that detectors use, in the order of the configuration.
    private(set) var sensors: [Part<SensorSection, Sensor>] = []
    private(set) var motions: [Part<MotionSection, MotionManager>] = []
    private(set) var norths: [Part<NorthSection, NorthDetector>] = []
    /// The detectors of all sections; kept, because they are looked through at each delivery.
    private(set) var detectors: [any Detector] = []
    private(set) var streams: [SampleStream] = []
    private(set) var requests: [SensorRequest] = []
    private(set) var player: PacedSource?
    private(set) var simulation: SimulatedSource?
    /// What a person should know about it.
    private(set) var notices: [String] = []

    /// A section and what was made of it.
    struct Part<Section, Object: AnyObject> {
        let section: Section
        /// What detectors need of a sensor.
        var kinds: [SampleKind] = []
        let object: Object
    }

    var timed: [any TimedSource] {
        let sources: [(any TimedSource)?] = [player, simulation]
        return sources.compactMap { $0 }
    }

    /// Nothing at all: what the first assembly takes over from.
    init() {
        configuration = Configuration()
    }

    /// Puts together what a configuration says.
    ///
    /// - Parameters:
    ///   - configuration: Has a detector, and for each detector its sensors.
    ///   - old: What runs until now.
    ///   - now: The time, on CLOCK_MONOTONIC.
    ///   - interruption: Ends the reading of a recording.
    /// - Throws: ``StationError`` when a recording cannot be played.
    init(
        _ configuration: Configuration, after old: Assembly, now: Int64, interruption: Interruption
    ) throws(StationError) {
        (self.configuration, notices) = configuration.placed(today: .today)
        try makeSensors(old, now, interruption)
        let wanted = sensors.flatMap { part in part.kinds.map { (sensor: part.object, kind: $0) } }
        streams = SampleStream.ordered(wanted)
        makeDetectors(old)
        makeRequests()
        for handler in configuration.handlers {
            notices += handler.action.notices.map { "handler '\(handler.name)': \($0)" }
        }
    }

    // MARK: - Sensors

    private mutating func makeSensors(
        _ old: Assembly, _ now: Int64, _ interruption: Interruption
    ) throws(StationError) {
        for section in configuration.sensors {
            let kinds = configuration.kinds(of: section.name)
            guard !kinds.isEmpty else {
                notices.append("sensor '\(section.name)': no detector uses it: left out")
                continue
            }
            let known = old.sensors.first { $0.section == section && $0.kinds == kinds }?.object
            let sensor = known ?? Sensor(name: section.name, isSimulated: section.isSimulated)
            sensors.append(Part(section: section, kinds: kinds, object: sensor))
        }
        try makePlayer(old, interruption)
        for part in sensors { part.object.calibration = part.section.calibration }
        makeSimulation(old, now)
    }

    /// Recordings play together, on one timeline: when one of them changes, all of them begin anew.
    private mutating func makePlayer(_ old: Assembly, _ interruption: Interruption) throws(StationError) {
        let traces = sensors.filter(\.section.isTrace)
        guard !traces.isEmpty else { return }
        let before = old.sensors.filter(\.section.isTrace)
        if before.map(\.section) == traces.map(\.section), before.map(\.kinds) == traces.map(\.kinds) {
            player = old.player
            return
        }
        var options = ReplayOptions()
        let loops = traces.contains { if case .trace(_, loops: true) = $0.section.source { true } else { false } }
        for part in traces {
            guard case .trace(let file, _) = part.section.source else { continue }
            try Self.refuseWhatMayWait(file)
            options.bindings.append(
                ReplayOptions.Binding(
                    sensor: part.section.name, path: file,
                    kind: part.kinds.count == 1 ? part.kinds[0] : nil))
        }
        let needs = configuration.needs.filter { need in traces.contains { $0.section.name == need.sensor } }
        let reopen: PacedSource.Reopening = { [options] () throws(StationError) in
            guard loops else { return nil }
            var binding = try TraceBinding(options, interruption: interruption)
            return try binding.bind(needs)
        }
        var binding = try TraceBinding(options, interruption: interruption)
        let source = try binding.bind(needs)
        notices += binding.notices + binding.unused
        player = PacedSource(source, shift: .toClock, reopen: reopen)
        // The recording has sensors of its own making.
        sensors = sensors.map { part in
            guard part.section.isTrace,
                let sensor = source.streams.first(where: { $0.sensor.name == part.section.name })?.sensor
            else { return part }
            return Part(section: part.section, kinds: part.kinds, object: sensor)
        }
    }

    /// A pipe would have the event thread wait for whoever writes it.
    private static func refuseWhatMayWait(_ file: String) throws(StationError) {
        var status = stat()
        guard stat(file, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return }
        throw StationError(
            .usage, "\(file.printable): is no regular file; a live run plays files alone, 'binnacle replay' takes pipes"
        )
    }

    private mutating func makeSimulation(_ old: Assembly, _ now: Int64) {
        let simulated = sensors.compactMap {
            part -> (sensor: Sensor, kinds: [SampleKind], settings: SimulationSettings)? in
            guard case .simulated(let settings) = part.section.source else { return nil }
            return (part.object, part.kinds, settings)
        }
        guard !simulated.isEmpty else { return }
        let source = SimulatedSource(simulated, startNanoseconds: now, clock: SystemClock.monotonic)
        if let before = old.simulation { source.resume(before) }
        simulation = source
    }

    private mutating func makeRequests() {
        for part in sensors {
            guard let (interface, match) = part.section.source.device else { continue }
            requests.append(
                SensorRequest(
                    sensor: part.object, kinds: part.kinds, interface: interface, match: match,
                    settings: part.section.settings))
        }
    }

    // MARK: - Detectors

    private mutating func makeDetectors(_ old: Assembly) {
        for section in configuration.motions {
            let known = old.motions.first { $0.section == section && keepsStreams(of: $0.object) }
            motions.append(Part(section: section, object: known?.object ?? section.makeDetector(on: streams)))
        }
        for section in configuration.norths {
            let known = old.norths.first { $0.section == section && keepsStreams(of: $0.object) }
            norths.append(Part(section: section, object: known?.object ?? section.makeDetector(on: streams)))
        }
        detectors = motions.map(\.object) + norths.map(\.object)
    }

    /// A detector goes on when it and all its sensors are as they were.
    private func keepsStreams(of detector: any Detector) -> Bool {
        detector.streams.allSatisfy { stream in streams.contains(where: stream.isSame) }
    }
}

extension SensorSection {
    fileprivate var isTrace: Bool { if case .trace = source { true } else { false } }
    fileprivate var isSimulated: Bool { if case .simulated = source { true } else { false } }
}

package import Binnacle
package import Configuration
package import LinuxSensors
import LinuxSystem
import PlainText
package import Traces

/// The objects of a pipeline: sensors with their calibrations, streams, sources, and detectors.
///
/// A run makes an assembly from its configuration, and keeps the objects of unchanged sections with their state. A
/// replay makes one from a configuration or from the streams of its recordings, and the other subcommands make one
/// without detectors. Making one changes nothing that runs.
package struct Assembly {
    let configuration: Configuration
    private(set) var sensors: [Part] = []
    /// Sections of ``detectors``, in the same order.
    private var sections: [any DetectorSection] = []
    /// In the order in which they process a delivery.
    private(set) var detectors: [any EventDetector] = []
    package private(set) var streams: [SampleStream] = []
    package private(set) var requests: [SensorRequest] = []
    private(set) var player: PacedSource?
    private(set) var simulation: SimulatedSource?
    /// Recordings that play all sensors, once; `nil` otherwise.
    package private(set) var traces: TraceSource?
    /// All files that are read.
    package private(set) var inputs: [String] = []
    /// Warnings and assumptions, each a sentence.
    package private(set) var notices: [String] = []
    /// Assumptions about recordings, and contradictions to their headers.
    package private(set) var assumptions: [String] = []

    struct Part {
        let wanted: WantedSensor
        var object: Sensor
        var section: SensorSection { wanted.section }
    }

    var timed: [any TimedSource] {
        let sources: [(any TimedSource)?] = [player, simulation]
        return sources.compactMap { $0 }
    }

    /// The sections that recordings play in real time.
    var traceParts: [WantedSensor] { sensors.map(\.wanted).filter(\.section.isTrace) }

    /// The share of the recordings that has been read, from 0 to 1; `nil` when it is not known.
    package var fraction: Double? { traces?.fraction }
    /// Skipped samples of the recordings.
    package var repairs: TraceRepairs { traces?.repairs ?? TraceRepairs() }

    /// Creates an empty assembly, the predecessor of the first one.
    init() {
        configuration = Configuration()
    }

    /// Makes the objects of a configuration; without `traces`, the recordings of `old` keep playing.
    init(_ configuration: Configuration, after old: Assembly, now: Int64, traces: PlayedTraces?, notices: [String]) {
        let placed = configuration.placed(today: .today)
        self.configuration = placed.configuration
        self.notices = notices + placed.notices
        let wanted = configuration.wantedSensors
        self.notices += configuration.notices
        makeSensors(wanted, old, now, traces)
        makeDetectors(old)
    }

    /// Makes sensors without detectors and calibrations.
    package init(_ wanted: [WantedSensor]) throws(StationError) {
        configuration = Configuration()
        makeSensors(
            wanted, Assembly(), SystemClock.monotonic(),
            try PlayedTraces(wanted.filter(\.section.isTrace), needs: [], interruption: .never))
    }

    /// Makes all sensors of recordings, without detectors; an interruption ends waiting for a pipe.
    package init(playing set: TraceSet, interruption: Interruption) throws(StationError) {
        configuration = Configuration()
        inputs = set.files
        var binding = try TraceBinding(set, interruption: interruption)
        play(try binding.bindEverything())
        assumptions = binding.assumptions
        notices = binding.notices
    }

    /// Makes the detectors of a replay, whose recordings play all sensors.
    ///
    /// With an empty set, the recordings of the configuration are played. Without a configuration, detectors with
    /// default settings use the recordings' streams.
    init(
        replaying set: TraceSet, configuration path: String?, settings: [CommandLineSetting] = [],
        interruption: Interruption
    ) throws(StationError) {
        if let path {
            // A replay must not depend on the current day.
            let device = CalibrationDevice(ofRecordings: set.files)
            let (read, placeNotices) = try Configuration.load(path, settings: settings, device: device)
                .placed(today: nil)
            configuration = read
            let leftOut = read.notices
            var binding = try TraceBinding(try read.traces(set, path), interruption: interruption)
            play(try binding.bind(read.needs, optionalNeeds: read.optionalNeeds))
            assumptions = binding.assumptions
            notices = leftOut + binding.notices + binding.unused + placeNotices
        } else {
            var binding = try TraceBinding(set, interruption: interruption)
            let source = try binding.bindEverything()
            let magnetometer = source.firstStream(of: .magnetometer)
            guard let accelerometer = source.firstStream(of: .accelerometer) else {
                throw .usage("no accelerometer in the traces: both motion and heading need one; add its file")
            }
            let gyroscopes = source.streams.filter { $0.kind == .gyroscope }
            let gyroscope = gyroscopes.first { $0.sensor === accelerometer.sensor } ?? gyroscopes.first
            let (read, placeNotices) = try Configuration.detecting(
                source.streams, accelerometer: accelerometer, magnetometer: magnetometer, gyroscope: gyroscope,
                settings: settings
            ).placed(today: nil)
            configuration = read
            play(source)
            let used = read.needs + read.optionalNeeds
            let unused = streams.filter { stream in
                !used.contains { $0.sensor == stream.sensor.name && $0.kind == stream.kind }
            }.map {
                "\($0.kind.rawValue) '\($0.sensor.name.printable)': not used; a configuration can name a detector for it"
            }
            assumptions = binding.assumptions
            notices =
                binding.notices + unused + (magnetometer == nil ? ["no magnetometer in the traces: no heading"] : [])
                + read.notices + placeNotices
        }
        inputs = set.files + configuration.inputs
        makeDetectors(Assembly())
    }

    /// Makes the source of all samples, which waits on its own descriptor; `recording` is a decorator that replaces
    /// ``traces``.
    package func makeSource(
        playing recording: (any SampleSource)? = nil, finder: DeviceFinder = DeviceFinder()
    ) throws(StationError) -> StationSource {
        try mapError(StationError.init) { () throws(SystemError) in
            let waker = try Waker()
            if let recording = recording ?? traces { return StationSource(playing: recording, waker: waker) }
            let source = StationSource(waker: waker)
            let live = requests.isEmpty ? nil : try LiveSource(requests, finder: finder, waker: waker)
            source.change(live: live, timed: timed, streams: streams)
            return source
        }
    }

    /// Makes a router the delegate of all detectors except those of the desktop service, whose events were not
    /// requested.
    func report(to router: Router) {
        for detector in detectors where !configuration.desktopDetectors.contains(detector.name) {
            detector.report(to: router)
        }
    }

    /// What the detectors assume of their sensors, each subject once.
    var detectorAssumptions: [Assumption] {
        detectors.flatMap(\.assumptions).reduce(into: []) { all, found in
            if !all.contains(where: { $0.subject == found.subject }) { all.append(found) }
        }
    }

    func detector(_ name: String?) -> (any EventDetector)? { detectors.first { $0.name == name } }

    /// Whether all that a detector gets comes from devices; what a model or a recording shows is no machine's past.
    func isOfDevices(_ detector: any EventDetector) -> Bool {
        !detector.isSimulated
            && !detector.streams.contains { stream in
                sensors.contains { $0.section.isTrace && $0.object === stream.sensor }
            }
    }

    // MARK: - Sensors

    private mutating func makeSensors(
        _ wanted: [WantedSensor], _ old: Assembly, _ now: Int64, _ traces: PlayedTraces?
    ) {
        sensors = wanted.map { wanted in
            let mayBeMissing = configuration.isOptional(wanted.section)
            // Another object is searched for again, and its absence is then reported.
            let known = old.sensors.first { $0.wanted == wanted && (mayBeMissing || !$0.object.isAbsent) }
            let part =
                known
                ?? Part(
                    wanted: wanted,
                    object: Sensor(name: wanted.section.name, isSimulated: wanted.section.isSimulated))
            part.object.mayBeMissing = mayBeMissing
            return part
        }
        play(traces, old)
        makeSimulation(old, now)
        makeRequests()
        listen(to: SampleStream.ordered(sensors.flatMap(streams)))
    }

    /// The streams of a sensor; a model has all kinds, and the contents of a recording show its kinds.
    private func streams(of part: Part) -> [SampleStream] {
        let optionalKinds = part.wanted.optionalKinds.filter { kind in
            !part.section.isTrace
                || player?.streams.contains { $0.sensor === part.object && $0.kind == kind } ?? false
        }
        return part.wanted.kinds.map { SampleStream(sensor: part.object, kind: $0) }
            + optionalKinds.map { SampleStream(sensor: part.object, kind: $0, isOptional: true) }
    }

    private mutating func play(_ source: TraceSource) {
        traces = source
        listen(to: source.streams)
    }

    /// Uses streams, and sets the calibrations of their sensors.
    private mutating func listen(to streams: [SampleStream]) {
        self.streams = streams
        for sensor in streams.map(\.sensor) {
            sensor.calibration = configuration.sensors.first { $0.name == sensor.name }?.calibration
        }
    }

    /// Plays recordings on one timeline; if one of them changed, all start again.
    private mutating func play(_ traces: PlayedTraces?, _ old: Assembly) {
        guard let traces else {
            if sensors.contains(where: \.section.isTrace) { player = old.player }
            return
        }
        notices += traces.notices
        player = PacedSource(
            traces.source, speed: traces.speed, shiftsToClock: true, reopen: traces.reopen, mayReopen: traces.mayReopen)
        // The binding of the recordings has made sensors of its own.
        for index in sensors.indices where sensors[index].section.isTrace {
            let bound = traces.source.streams.first { $0.sensor.name == sensors[index].section.name }
            sensors[index].object = bound?.sensor ?? sensors[index].object
        }
    }

    private mutating func makeSimulation(_ old: Assembly, _ now: Int64) {
        let simulated = sensors.compactMap {
            part -> (sensor: Sensor, kinds: [SampleKind], settings: SimulationSettings)? in
            guard case .simulated(var settings) = part.section.source else { return nil }
            settings.latency = part.section.settings.latency
            return (part.object, part.wanted.kinds + part.wanted.optionalKinds, settings)
        }
        guard !simulated.isEmpty else { return }
        let source = SimulatedSource(simulated, startNanoseconds: now, clock: SystemClock.monotonic)
        if let before = old.simulation { source.resume(before) }
        simulation = source
    }

    private mutating func makeRequests() {
        requests = sensors.compactMap { $0.wanted.request(for: $0.object) }
    }

    // MARK: - Detectors

    private mutating func makeDetectors(_ old: Assembly) {
        for section in configuration.detectors {
            let asked = section.asked.compactMap(detector)
            let known = zip(old.sections, old.detectors).first { before, object in
                before.isSame(as: section) && keepsStreams(of: object)
                    && section.asked.compactMap(old.detector).elementsEqual(asked) { $0 === $1 }
            }
            sections.append(section)
            detectors.append(known?.1 ?? section.makeDetector(on: streams, asking: asked))
        }
    }

    /// Whether all sensors of a detector are unchanged, so that it keeps its state.
    private func keepsStreams(of detector: any Detector) -> Bool {
        detector.streams.allSatisfy { stream in streams.contains { $0.id == stream.id } }
    }
}

extension SensorSection {
    var isTrace: Bool { if case .trace = source { true } else { false } }
    fileprivate var isSimulated: Bool { if case .simulated = source { true } else { false } }
}

extension Configuration {
    /// A configuration of default detectors for the streams of a replay, with the settings of the command line.
    fileprivate static func detecting(
        _ streams: [SampleStream], accelerometer: SampleStream, magnetometer: SampleStream?,
        gyroscope: SampleStream?, settings: [CommandLineSetting]
    ) throws(StationError) -> Configuration {
        var names: [String] = []
        for name in streams.map(\.sensor.name) where !names.contains(name) { names.append(name) }
        // A placeholder: the real recordings are those of the command line.
        let source = "source = \"trace\"\nfile = \"/dev/null\""
        let configuration = try parse(
            text(
                detecting: names.map { ($0, source) }, accelerometer: accelerometer.sensor.name,
                magnetometer: magnetometer?.sensor.name, gyroscope: gyroscope?.sensor.name ?? "none"), settings,
            hasHeading: magnetometer != nil)
        for need in configuration.needs
        where !streams.contains(where: { $0.sensor.name == need.sensor && $0.kind == need.kind }) {
            let found = streams.map { "the \($0.kind.rawValue) of '\($0.sensor.name.printable)'" }
            throw .usage(
                "\(need.by) needs the \(need.kind.rawValue) of sensor '\(need.sensor.printable)'; the traces have "
                    + found.joined(separator: ", "))
        }
        return configuration
    }

    /// The recordings of the command line, or else those of the sections.
    fileprivate func traces(_ set: TraceSet, _ path: String) throws(StationError) -> TraceSet {
        try requireDetector(path)
        var set = set
        guard set.isEmpty else {
            for sensor in sensors where sensor.isTrace || kinds(of: sensor.name).contains(.accelerometer) {
                set.recordGravitySign(sensor, isReplaced: !sensor.isTrace)
            }
            return set
        }
        for sensor in sensors {
            let kinds = kinds(of: sensor.name)
            guard case .trace(let file, _) = sensor.source, !kinds.isEmpty else { continue }
            set.bind(sensor.name, to: file, kinds)
            set.recordGravitySign(sensor)
        }
        guard !set.bindings.isEmpty else {
            throw .usage("\(path.printable): no sensor has a trace; name one on the command line")
        }
        return set
    }
}

extension TraceSet {
    /// Records the sign of the accelerations of a section's recording, or of the device that a recording replaces.
    package mutating func recordGravitySign(_ section: SensorSection, isReplaced: Bool = false) {
        switch (section.settings.acceleration, isReplaced) {
        case (.gravity, false): gravitySensors.insert(section.name)
        case (_, false): otherSensors.insert(section.name)
        case (.gravity, true): gravityDevices.insert(section.name)
        case (_, true): otherDevices.insert(section.name)
        }
    }

    /// Replaces a sensor's device by a file; columns without a kind get the only wanted kind.
    mutating func bind(_ sensor: String, to path: String, _ kinds: [SampleKind]) {
        bindings.append(Binding(sensor: sensor, path: path, kind: kinds.count == 1 ? kinds[0] : nil))
    }
}

import Binnacle
import Configuration
import PlainText
import Traces

/// Runs the detectors of a configuration.
final class DetectionPart: DaemonPart {
    private unowned let daemon: Daemon
    private let demand: DemandPart
    /// What was already reported, by its subject.
    private var toldSubjects: Set<String> = []
    private var damage: StationError?

    private var assembly: Assembly { daemon.assembly }

    init(_ daemon: Daemon, _ demand: DemandPart) {
        self.daemon = daemon
        self.demand = demand
    }

    func apply(_ change: ConfigurationChange) {
        assembly.report(to: daemon.router)
        for detector in assembly.detectors where !detector.isDetecting && !isWaiting(detector) {
            detector.startDetection()
        }
    }

    func turn(_ answer: SampleAnswer, at now: Int64) {
        switch answer {
        case .samples: startDetectors()
        case .failed(_, let reason):
            if reason is TraceError || reason is StationError { damage = StationError(sourceFailure: reason) }
        case .ended: if let damage { daemon.session.end(damage) }
        case .pending: break
        }
    }

    func finishTurn(at now: Int64) {
        for detector in assembly.detectors {
            for found in detector.assumptions where toldSubjects.insert(found.subject).inserted {
                daemon.log.say(found.text, level: .warning)
            }
        }
    }

    /// Starts the detectors whose sensors were absent until now.
    private func startDetectors() {
        for detector in assembly.detectors
        where !detector.isDetecting && detector.streams.allSatisfy(\.sensor.isActive) {
            detector.startDetection()
        }
    }

    // MARK: - Status

    var problems: [String] {
        let sensors = daemon.router.sensors.filter { !$0.isActive && !$0.isAbsent && !demand.isIdle($0) }
        let inactive = sensors.map { sensor in
            "sensor '\(sensor.name)' is inactive" + (sensor.failure.map { ": \($0)" } ?? "")
        }
        let stopped = assembly.detectors.filter { detector in
            !daemon.pipeline.isWorking(detector) && !isWaiting(detector)
                && !detector.streams.contains { demand.isIdle($0.sensor) }
        }
        let isEmpty = assembly.detectors.isEmpty && assembly.configuration.sampledSensors.isEmpty
        return inactive + (isEmpty ? ["there is no detector"] : [])
            + stopped.map { "detector '\($0.name)' does not run" }
    }

    /// Whether a detector lacks only sensors that may be missing.
    private func isWaiting(_ detector: any EventDetector) -> Bool {
        let sensors = detector.streams.map(\.sensor)
        return demand.isWaiting(detector)
            || sensors.contains(where: \.isAbsent) && sensors.allSatisfy { $0.isActive || $0.isAbsent }
    }

    func status(at now: Int64) -> [(key: String, json: String)] {
        let statistics = daemon.pipeline.statistics
        return [
            ("sensors", JSONObject.list(daemon.router.sensors.map { object($0, statistics, now) })),
            ("detectors", JSONObject.list(assembly.detectors.map(object))),
        ]
    }

    private func object(_ sensor: Sensor, _ statistics: [StreamStatistics], _ now: Int64) -> String {
        var object = JSONObject()
        object.add("name", sensor.name)
        object.add("active", raw: String(sensor.isActive))
        if demand.isIdle(sensor) { object.add("idle", raw: "true") }
        if sensor.isSleeping { object.add("sleeping", raw: "true") }
        if sensor.isAbsent { object.add("waiting", raw: "true") }
        object.add("simulated", raw: String(sensor.isSimulated))
        // An optional stream that never delivered is left out: the device lacks it.
        let streams = statistics.filter {
            $0.stream.sensor === sensor && !($0.stream.isOptional && $0.sampleCount == 0)
        }
        object.add("streams", list: streams.map { self.object($0, now) })
        return object.text
    }

    private func object(_ statistics: StreamStatistics, _ now: Int64) -> String {
        let age = statistics.lastTimeNanoseconds.map { now - daemon.source.clockNanoseconds(of: $0) }
        var object = JSONObject()
        object.add("kind", statistics.stream.kind.rawValue)
        object.add("rate_hz", number: age.map { $0 > 2_000_000_000 ? 0 : statistics.rateHz } ?? nil, decimals: 2)
        object.add("last_sample_s", seconds: age)
        object.add("samples", raw: String(statistics.sampleCount))
        object.add("losses", raw: String(statistics.lossCount))
        object.add("lost_samples", raw: String(statistics.lostSampleCount))
        object.add("gaps", raw: String(statistics.gapCount))
        return object.text
    }

    private func object(_ detector: any EventDetector) -> String {
        var object = JSONObject()
        object.add("name", detector.name)
        object.add("kind", type(of: detector).kind)
        let isWorking = daemon.pipeline.isWorking(detector)
        object.add("running", raw: String(isWorking))
        if isWaiting(detector) { object.add("waiting", raw: "true") }
        // What a detector knew before it stopped is not how things are.
        guard isWorking else { return object.text }
        if let state = detector.state { object.add("state", state) }
        let figures = detector.figures
        if !figures.contains(where: { $0.name == .age }) {
            for figure in figures { object.add(figure.name, figure.value) }
        }
        if let state = detector.gyroscopeState, state.hasGyroscope { object.add("gyroscope", raw: Self.object(state)) }
        return object.text
    }

    private static func object(_ state: GyroscopeState) -> String {
        var object = JSONObject()
        let offset = state.memory.offset * (180 / .pi)
        object.add(
            "offset_dps", list: (0..<3).map { offset[$0].text(3) })
        object.add("offset_sigma_dps", number: state.sigmaDegrees, decimals: 3)
        if let errors = state.memory.errors {
            if errors.isScaleKnown {
                object.add("scale", number: errors.scale, decimals: 4)
                object.add("scale_sigma", number: errors.scaleSigma, decimals: 4)
            }
            if errors.isIronKnown {
                object.add(
                    "iron_uT", list: (0..<3).map { errors.iron[$0].text(1) })
                object.add("iron_sigma_uT", number: errors.ironSigma.max(), decimals: 1)
            }
        }
        // How long the heading has been derived from the gyroscope alone.
        if let seconds = state.secondsAlone { object.add("alone_s", number: seconds, decimals: 1) }
        return object.text
    }
}

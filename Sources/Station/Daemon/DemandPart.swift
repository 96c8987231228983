import Binnacle
import Configuration
import LinuxSensors
import LinuxSystem

/// Opens the devices that something needs, and closes the others.
final class DemandPart: DaemonPart {
    /// After a change the caller calls ``review()``.
    var demand = SensorDemand()

    private unowned let daemon: Daemon
    private let inbox: PartInbox<DemandPart>
    /// Sensors whose devices are closed because nothing needs them.
    private var idleSensors: [Sensor] = []
    /// Reads light, proximity and switches; `nil` when nothing needs them.
    private var watcher: AmbientWatcher?
    /// The generation of the watcher: messages of an earlier one are discarded.
    private var watcherNumber = 0
    /// The kinds that the watcher reads, and the detectors that receive them.
    private var watched: (kinds: Set<AmbientReading.Kind>, takers: [ObjectIdentifier]) = ([], [])
    /// Whether a device of each kind of single readings has been there since the start.
    private var kindsWithDevice: [AmbientReading.Kind: Bool] = [:]
    /// Receives each single reading in addition to the detectors.
    var readingObserver: ((AmbientReading.Outcome) -> Void)?

    private var assembly: Assembly { daemon.assembly }

    init(_ daemon: Daemon) {
        self.daemon = daemon
        inbox = PartInbox(daemon)
    }

    func isIdle(_ sensor: Sensor) -> Bool { idleSensors.contains { $0 === sensor } }

    func apply(_ change: ConfigurationChange) {
        let configuration = assembly.configuration
        demand.readers = assembly.detectors.map { detector in
            SensorDemand.Reader(
                name: detector.name, sensors: detector.streams.map(\.sensor.name), ambient: detector.ambientKinds,
                asked: configuration.detector(detector.name)?.asked ?? [],
                isHeard: configuration.isHeard(detector.name))
        }
        // A client may ask for samples at any time.
        demand.readers += configuration.sampledSensors.map { section in
            SensorDemand.Reader(
                name: "[sensor.\(section.name)]", sensors: [section.name], isHeard: configuration.socket != nil)
        }
        review()
    }

    func review() {
        // Recordings and models have no device to close.
        let sensors = assembly.requests.map(\.sensor)
        let names = demand.idle(among: sensors.map(\.name))
        let idle = sensors.filter { names.contains($0.name) }
        let resumed = idleSensors.filter { sensor in
            sensors.contains { $0 === sensor } && !names.contains(sensor.name)
        }
        idleSensors = idle
        daemon.source.live?.change(assembly.requests.filter { request in !idle.contains { $0 === request.sensor } })
        if !resumed.isEmpty { resume(resumed) }
        watch(demand.ambient)
    }

    /// Restarts detection for sensors that were closed: what the detectors know is older than the pause.
    private func resume(_ sensors: [Sensor]) {
        daemon.pipeline.resume(sensors)
        for detector in assembly.detectors
        where detector.isDetecting
            && detector.streams.contains(where: { stream in sensors.contains { $0 === stream.sensor } })
        {
            detector.stopDetection()
            if detector.streams.allSatisfy(\.sensor.isActive) { detector.startDetection() }
        }
    }

    // MARK: - Single readings

    /// Starts the watcher, again when there are new detectors, which then get the present values.
    private func watch(_ kinds: Set<AmbientReading.Kind>) {
        let takers = assembly.detectors.filter { !$0.ambientKinds.isEmpty }.map { ObjectIdentifier($0) }
        guard kinds != watched.kinds || takers != watched.takers else { return }
        watched = (kinds, takers)
        watcher?.stop()
        watcher = nil
        watcherNumber += 1
        guard !kinds.isEmpty else { return }
        let (inbox, number) = (inbox, watcherNumber)
        let ordered = AmbientReading.Kind.allCases.filter(kinds.contains)
        do throws(SystemError) {
            let next = try AmbientWatcher(ordered, root: daemon.options.root)
            try next.start { outcome in
                inbox.post { part in if number == part.watcherNumber { part.process(outcome) } }
            }
            watcher = next
        } catch {
            for kind in ordered { process(.failed(kind, SensorFailure(.inputOutput, error.description))) }
        }
    }

    private func process(_ outcome: AmbientReading.Outcome) {
        record(outcome)
        for detector in assembly.detectors
        where detector.ambientKinds.contains(outcome.kind) && !isWaiting(detector) {
            detector.process(outcome)
        }
        readingObserver?(outcome)
    }

    private func record(_ outcome: AmbientReading.Outcome) {
        switch outcome {
        case .read: kindsWithDevice[outcome.kind] = true
        case .failed(let kind, let error):
            let isMissing = (error as? any DeviceFailure)?.isMissingDevice ?? false
            kindsWithDevice[kind] = kindsWithDevice[kind] ?? false || !isMissing
        }
    }

    /// Whether a default detector of single readings has no device yet.
    func isWaiting(_ detector: any EventDetector) -> Bool {
        !detector.ambientKinds.isEmpty && detector.streams.isEmpty
            && assembly.configuration.defaultDetectors.contains(detector.name)
            && detector.ambientKinds.allSatisfy { kindsWithDevice[$0] == false }
    }

    func end(_ stage: EndStage, until deadline: Int64) {
        if case .begin = stage { watcher?.stop() }
    }
}

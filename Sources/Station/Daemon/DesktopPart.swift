import Binnacle
import BinnacleHeading
import Configuration
import DesktopBus
import LinuxSensors
import LinuxSystem
import PlainText

/// The service on the system bus: reports available sensors, the values of detectors, and each event as a signal.
///
/// It queries the detectors after each turn; they do not know the bus. Values are sent when they change.
package final class DesktopPart: DaemonPart {
    private struct Service {
        let bus: DesktopBus
        var readings = DesktopValues()
        /// Whether clients see the service.
        var hasBegun = false
        /// On CLOCK_MONOTONIC: then clients see the service even if the search for devices has not ended.
        let beginDeadline = SystemClock.monotonic() + 1_000_000_000
        /// The source's change count at the last search for devices.
        var changeCount: Int?
        /// When devices that cannot be read are tried again, on CLOCK_MONOTONIC; `nil` while there are none.
        var retryNanoseconds: Int64?
        /// The pause before that.
        var retryPause = DesktopPart.retryPauses.lowerBound
        /// Time of the last heading sent, on CLOCK_MONOTONIC; `nil` before the first.
        var headingNanoseconds: Int64?
    }

    private unowned let daemon: Daemon
    private let inbox: PartInbox<DesktopPart>
    private let demand: DemandPart
    private var service: Service?
    private var search = RepeatedWork.none
    /// Kinds of single readings with a device; `nil` until the first search has ended.
    private var ambientPresent: Set<AmbientReading.Kind>?
    /// Sources of the values sent; this part owns the detectors of single readings.
    private var detectors: [DesktopSensor: any EventDetector] = [
        .light: AmbientLightDetector(), .proximity: ProximityDetector(),
    ]
    /// Sensors of the detectors with samples, and the requests for their devices.
    private var sampled: [DesktopSensor: (sensors: [Sensor], requests: [SensorRequest])] = [:]

    private static let ambient: [DesktopSensor: AmbientReading.Kind] = [.light: .light, .proximity: .proximity]
    /// Minimum turn and interval between two headings sent: each wakes all clients that have claimed the compass.
    private static let headingSteps = (degrees: 0.5, nanoseconds: Int64(100_000_000))
    /// The first and the longest pause between two trials of a device that cannot be read.
    private static let retryPauses: ClosedRange<Int64> = 10_000_000_000...300_000_000_000
    /// Maximum age of a held heading, in seconds; after it the heading is reported as unknown.
    private static let longestHold = 1.0

    init(_ daemon: Daemon, _ demand: DemandPart) {
        self.daemon = daemon
        self.demand = demand
        inbox = PartInbox(daemon)
        for detector in detectors.values { detector.startDetection() }
        demand.readingObserver = { [unowned self] in process($0) }
    }

    // MARK: - The service

    /// Starts, changes or ends the service; its connection and its claims survive a reload.
    func apply(_ change: ConfigurationChange) {
        guard let section = change.after.configuration.dbus else {
            guard let service else { return }
            service.bus.finish()
            self.service = nil
            // Another service finds and claims everything from the beginning.
            demand.demand = SensorDemand()
            ambientPresent = nil
            return
        }
        if let service {
            service.bus.change(section.settings)
        } else {
            do throws(SystemError) {
                service = Service(bus: try DesktopBus(section.settings, surroundings: surroundings))
            } catch {
                daemon.log.say("D-Bus: there is no service: \(error)", level: .error)
            }
            searchDevices()
        }
        use(change.after)
        service?.changeCount = nil
    }

    private var surroundings: DesktopBus.Surroundings {
        var surroundings = DesktopBus.Surroundings()
        let inbox = inbox
        surroundings.say = { text, level in inbox.post { $0.daemon.log.say(text, level: level) } }
        surroundings.wantedChanged = { claimed in inbox.post { $0.claim(claimed) } }
        surroundings.status = { reply in inbox.post { reply($0.daemon.statusLine()) } }
        surroundings.dropped = { count in
            inbox.post { part in
                let reason = "the system bus did not take them in time"
                part.daemon.router.report(EventDrops.event(count: count, handler: "dbus", reason: reason))
            }
        }
        surroundings.version = Version.current
        return surroundings
    }

    /// Sends each event as a signal, where `[dbus]` asks for that.
    var chains: [HandlerChain] {
        guard let bus = service?.bus, daemon.assembly.configuration.dbus?.settings.broadcastsEvents ?? false else {
            return []
        }
        return [HandlerChain(handler: ClosureHandler { bus.publish($0) })]
    }

    func end(_ stage: EndStage, until deadline: Int64) {
        switch stage {
        case .begin: service?.bus.finish()
        case .servers: _ = service?.bus.waitForEnd(until: deadline)
        default: break
        }
    }

    // MARK: - Devices

    private func use(_ assembly: Assembly) {
        let configuration = assembly.configuration
        let sections: [(DesktopSensor, (any DetectorSection)?)] = [
            (.accelerometer, configuration.desktopOrientation), (.compass, configuration.desktopNorth),
        ]
        demand.demand.origins = Self.ambient.mapValues { .ambient($0) }
        for (sensor, section) in sections {
            let detector = assembly.detector(section?.name)
            detectors[sensor] = detector
            let needed = (detector?.streams ?? []).filter { !$0.isOptional && $0.kind != .gyroscope }.map(\.sensor)
            let sensors = assembly.sensors.map(\.object).filter { sensor in needed.contains { $0 === sensor } }
            sampled[sensor] = (
                sensors, assembly.requests.filter { request in sensors.contains { $0 === request.sensor } }
            )
            demand.demand.origins[sensor] = detector.map { .detector($0.name) }
        }
    }

    private func claim(_ sensors: DesktopSensors) {
        guard service != nil else { return }
        restart(sensors.subtracting(demand.demand.claimed))
        demand.demand.claim(sensors)
        demand.review()
    }

    /// Reports to the demand which sensors have devices.
    private func searchDevices(at now: Int64) {
        let live = daemon.source.live
        var found: DesktopSensors = []
        for (sensor, parts) in sampled where !parts.sensors.isEmpty {
            // Recordings and models need no device.
            found.set(sensor, parts.requests.isEmpty || live?.hasDevices(for: parts.requests[...]) ?? false)
        }
        for (sensor, kind) in Self.ambient { found.set(sensor, ambientPresent?.contains(kind) ?? false) }
        restart(found.subtracting(demand.demand.available))
        if demand.demand.find(found, inactive: inactive, at: now) { demand.review() }
    }

    private var inactive: DesktopSensors {
        var inactive: DesktopSensors = []
        for (sensor, parts) in sampled { inactive.set(sensor, parts.sensors.contains { !$0.isActive }) }
        return inactive
    }

    /// Runs on another thread, because a driver may block for any time.
    private func searchDevices() {
        guard service != nil, search.mayBegin() else { return }
        let (root, kinds) = (daemon.options.root, Array(Self.ambient.values))
        do throws(SystemError) {
            try inbox.run {
                AmbientWatcher.present(kinds, root: root)
            } then: {
                $0.finishSearch($1)
            }
            search = .running
        } catch {
            ambientPresent = ambientPresent ?? []
        }
    }

    private func finishSearch(_ present: Set<AmbientReading.Kind>) {
        let isOutdated = search.end()
        guard service != nil else { return }
        ambientPresent = present
        if isOutdated { searchDevices() }
        searchDevices(at: SystemClock.monotonic())
    }

    // MARK: - Values

    private func process(_ outcome: AmbientReading.Outcome) {
        switch outcome {
        case .failed: searchDevices()
        case .read(_, _):
            for (sensor, kind) in Self.ambient where outcome.kind == kind && demand.demand.isRead(sensor) {
                detectors[sensor]?.process(outcome)
            }
        }
    }

    /// Restarts the detectors of single readings, because their last values are old.
    private func restart(_ sensors: DesktopSensors) {
        for sensor in Self.ambient.keys where sensors.contains(sensor) {
            detectors[sensor]?.stopDetection()
            detectors[sensor]?.startDetection()
        }
    }

    var deadline: Int64? {
        guard let service else { return nil }
        let begin = service.hasBegun ? nil : service.beginDeadline
        return [demand.demand.trialEnd, begin, service.retryNanoseconds].compactMap { $0 }.min()
    }

    /// Reports devices that came or went, and sends changed values.
    func finishTurn(at now: Int64) {
        guard var service else { return }
        let count = daemon.source.live?.deviceChangeCount ?? 1
        if count != service.changeCount {
            let isFirst = service.changeCount == nil
            service.changeCount = count
            if !isFirst { searchDevices() }
            searchDevices(at: now)
        }
        let isSettled = daemon.source.live?.isSettled ?? true
        if demand.demand.endTrial(inactive: inactive, isSettled: isSettled, at: now) { demand.review() }
        retry(&service, at: now)
        let next = values(after: &service, at: now)
        if next != service.readings {
            service.readings = next
            service.bus.publish(next)
        }
        let isSearched = count > 0 && ambientPresent != nil && demand.demand.trialEnd == nil
        if !service.hasBegun, isSearched || now >= service.beginDeadline {
            service.hasBegun = true
            service.bus.begin()
        }
        self.service = service
    }

    /// Tries devices again that could not be read: programs claim only what they see, so no claim would find out that one works now.
    private func retry(_ service: inout Service, at now: Int64) {
        let failed = demand.demand.available.intersection(inactive).subtracting(demand.demand.claimed)
        guard !failed.isEmpty else {
            (service.retryNanoseconds, service.retryPause) = (nil, Self.retryPauses.lowerBound)
            return
        }
        guard demand.demand.trialEnd == nil else {
            // A time that passes during a trial would be a deadline that no wait is left for.
            service.retryNanoseconds = nil
            return
        }
        guard let due = service.retryNanoseconds else {
            service.retryNanoseconds = now + service.retryPause
            return
        }
        guard now >= due else { return }
        service.retryNanoseconds = nil
        service.retryPause = min(2 * service.retryPause, Self.retryPauses.upperBound)
        if demand.demand.find(demand.demand.available, inactive: inactive, at: now) { demand.review() }
    }

    private func values(after service: inout Service, at now: Int64) -> DesktopValues {
        var next = service.readings
        next.present = demand.demand.available.subtracting(inactive)
        var known: DesktopSensors = []
        for (sensor, detector) in detectors
        where next.present.contains(sensor) && demand.demand.claimed.contains(sensor) && detector.isDetecting {
            let figures = detector.figures
            if sensor == .compass {
                known.set(sensor, Self.show(figures, in: &next, &service.headingNanoseconds, at: now))
            } else {
                known.set(sensor, next.show(detector.state, figures, as: sensor))
            }
        }
        // A program that reads a property alone must not take an old value for a present one.
        if !next.present.contains(.accelerometer) { (next.orientation, next.tilt) = (.undefined, .undefined) }
        if !next.present.contains(.proximity) { next.isNear = false }
        if !next.present.intersection(demand.demand.claimed).contains(.compass) { next.headingDegrees = -1 }
        demand.demand.show(known, present: next.present, held: DesktopSensors(.compass))
        next.fresh = demand.demand.fresh
        return next
    }

    /// Updates the heading if it has turned far enough; returns whether there is a valid one.
    private static func show(
        _ figures: [Figure], in readings: inout DesktopValues, _ lastNanoseconds: inout Int64?, at now: Int64
    ) -> Bool {
        guard let heading = figures.number(.heading), figures.number(.age) ?? 0 <= longestHold else {
            readings.headingDegrees = -1
            return false
        }
        guard figures.number(.age) == nil else { return false }
        let degrees = Angle.normalizedDegrees(heading - (figures.number(.declination) ?? 0))
        let turn = abs((degrees - readings.headingDegrees).remainder(dividingBy: 360))
        let isDue = lastNanoseconds.map { now - $0 >= headingSteps.nanoseconds } ?? true
        let isStep = turn >= headingSteps.degrees && isDue
        if readings.headingDegrees < 0 || isStep {
            lastNanoseconds = now
            readings.headingDegrees = degrees
        }
        return true
    }

    // MARK: - Status

    var problems: [String] { service?.bus.statistics.failure.map { ["D-Bus: \($0)"] } ?? [] }

    func status(at now: Int64) -> [(key: String, json: String)] {
        guard let statistics = service?.bus.statistics else { return [("dbus", "null")] }
        var object = JSONObject()
        object.add("names", list: statistics.names.sorted().map(JSONObject.quoted))
        object.add("failure", statistics.failure)
        var claims = JSONObject()
        for sensor in DesktopSensor.allCases {
            claims.add(sensor.rawValue.lowercased(), raw: String(statistics.claims[sensor] ?? 0))
        }
        object.add("claims", raw: claims.text)
        object.add("broadcast", raw: String(statistics.broadcastCount))
        object.add("dropped", raw: String(statistics.droppedCount))
        return [("dbus", object.text)]
    }
}

extension DesktopValues {
    /// Copies a detector's state and figures; returns whether its value is known.
    fileprivate mutating func show(_ state: String?, _ figures: [Figure], as sensor: DesktopSensor) -> Bool {
        switch sensor {
        case .accelerometer:
            let tilt = figures.value(.tilt).flatMap { ScreenTilt(rawValue: $0.description) } ?? .undefined
            if let found = state.flatMap(ScreenOrientation.init) { orientation = found }
            if tilt != .undefined { self.tilt = tilt }
            // Of a screen that lies flat only the tilt is known.
            return tilt != .undefined
        case .light:
            guard let level = figures.number(.illuminance) ?? figures.number(.brightness) else { return false }
            lightLevel = level
            lightUnit = figures.number(.illuminance) == nil ? .percent : .lux
            return true
        case .proximity:
            guard let state else { return false }
            isNear = state == Proximity.near.rawValue
            return true
        case .compass: return false
        }
    }
}

extension [Figure] {
    fileprivate func value(_ name: Figure.Name) -> Figure.Value? { first { $0.name == name }?.value }

    fileprivate func number(_ name: Figure.Name) -> Double? {
        guard case .number(let value, _)? = value(name) else { return nil }
        return value
    }
}

import Binnacle
import Configuration
import DesktopBus
import LinuxSensors
import LinuxSystem
import PlainText

/// The service on the system bus: which sensors are there, what detectors show, and each event as a signal.
///
/// The detectors are asked after each turn; they know nothing of the bus. Values are sent when they change.
final class DesktopPart: DaemonPart {
    /// The service while there is one, and what belongs to it.
    private struct Service {
        let bus: DesktopBus
        var readings = DesktopValues()
        /// Whether clients find it.
        var hasBegun = false
        /// When clients find it although the machine has not answered.
        let beginDeadline = SystemClock.monotonic() + 1_000_000_000
        /// The source's count of changes when the machine was looked at last.
        var changeCount: Int?
        /// When the last heading was sent, on CLOCK_MONOTONIC.
        var headingNanoseconds = Int64.min
    }

    private unowned let daemon: Daemon
    private let inbox: PartInbox<DesktopPart>
    private let demand: DemandPart
    private var service: Service?
    /// The search for devices of single readings on another thread.
    private var search = RepeatedWork.none
    /// The single readings for which the machine has devices; `nil` until it was searched for them.
    private var ambientPresent: Set<AmbientReading.Kind>?
    /// The detectors whose values are sent; those of single readings are the service's own.
    private var detectors: [DesktopSensor: any EventDetector] = [
        .light: AmbientLightDetector(), .proximity: ProximityDetector(),
    ]
    /// The sensors of the detectors with samples, and the requests for their devices.
    private var sampled: [DesktopSensor: (sensors: [Sensor], requests: [SensorRequest])] = [:]

    /// The sensors of single readings.
    private static let ambient: [DesktopSensor: AmbientReading.Kind] = [.light: .light, .proximity: .proximity]
    /// The least turn and the least time between two headings: each wakes every program that has claimed the compass.
    private static let headingSteps = (degrees: 0.5, nanoseconds: Int64(100_000_000))
    /// How old a heading may be that is held, in seconds; an older one is not told any more.
    private static let longestHold = 1.0

    init(_ daemon: Daemon, _ demand: DemandPart) {
        self.daemon = daemon
        self.demand = demand
        inbox = PartInbox(daemon)
        for detector in detectors.values { detector.startDetection() }
        demand.readingObserver = { [unowned self] in process($0) }
    }

    // MARK: - The service

    /// Starts, changes or ends the service; its connection and its claims outlive a reload.
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
                part.daemon.router.report(
                    Event(
                        kind: .eventsDropped, timeNanoseconds: 0,
                        figures: [
                            Figure(.handler, .text("dbus")), Figure(.count, .integer(Int64(count))),
                            Figure(.reason, .text("the system bus did not take them in time")),
                        ]))
            }
        }
        surroundings.version = Version.current
        return surroundings
    }

    /// Each event as a signal, where the section asks for that.
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

    /// Looks which devices there are.
    private func searchDevices(at now: Int64) {
        let live = daemon.source.live
        var found: DesktopSensors = []
        for (sensor, parts) in sampled where !parts.sensors.isEmpty {
            // What is played is there.
            found.set(sensor, parts.requests.isEmpty || live?.hasDevices(for: parts.requests[...]) ?? false)
        }
        for (sensor, kind) in Self.ambient { found.set(sensor, ambientPresent?.contains(kind) ?? false) }
        restart(found.subtracting(demand.demand.available))
        if demand.demand.find(found, inactive: inactive, at: now) { demand.review() }
    }

    /// The sensors of the desktop of which a sensor is not active.
    private var inactive: DesktopSensors {
        var inactive: DesktopSensors = []
        for (sensor, parts) in sampled { inactive.set(sensor, parts.sensors.contains { !$0.isActive }) }
        return inactive
    }

    /// Searches for light and proximity devices on a thread of its own: a driver may take any time.
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

    /// Gives the service's own detectors a single reading.
    private func process(_ outcome: AmbientReading.Outcome) {
        switch outcome {
        case .failed: searchDevices()
        case .read(_, _):
            for (sensor, kind) in Self.ambient where outcome.kind == kind && demand.demand.isRead(sensor) {
                detectors[sensor]?.process(outcome)
            }
        }
    }

    /// Begins again with single readings that are taken from now on: the last values are old.
    private func restart(_ sensors: DesktopSensors) {
        for sensor in Self.ambient.keys where sensors.contains(sensor) {
            detectors[sensor]?.stopDetection()
            detectors[sensor]?.startDetection()
        }
    }

    var deadline: Int64? {
        guard let service else { return nil }
        let begin = service.hasBegun ? nil : service.beginDeadline
        return [demand.demand.trialEnd, begin].compactMap { $0 }.min()
    }

    /// Follows devices that come and go, and sends what has changed.
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

    /// What the sensors show now.
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
        demand.demand.show(known, present: next.present, held: DesktopSensors(.compass))
        next.fresh = demand.demand.fresh
        return next
    }

    /// Shows a heading that has turned far enough; returns whether there is a valid one.
    private static func show(
        _ figures: [Figure], in readings: inout DesktopValues, _ lastNanoseconds: inout Int64, at now: Int64
    ) -> Bool {
        guard let heading = figures.number(.heading), figures.number(.age) ?? 0 <= longestHold else {
            readings.headingDegrees = -1
            return false
        }
        guard figures.number(.age) == nil else { return false }
        let degrees = Angle.normalizedDegrees(heading - (figures.number(.declination) ?? 0))
        let turn = abs((degrees - readings.headingDegrees).remainder(dividingBy: 360))
        let isStep = turn >= headingSteps.degrees && now - lastNanoseconds >= headingSteps.nanoseconds
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
    /// Shows the state and the figures of a detector; returns whether its value is known.
    fileprivate mutating func show(_ state: String?, _ figures: [Figure], as sensor: DesktopSensor) -> Bool {
        switch sensor {
        case .accelerometer:
            let tilt = figures.value(.tilt).flatMap { ScreenTilt(rawValue: $0.description) } ?? .undefined
            if let found = state.flatMap(ScreenOrientation.init) { orientation = found }
            if tilt != .undefined { self.tilt = tilt }
            // Flat on a table only the tilt is known.
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

    /// The number that a figure is; `nil` without one.
    fileprivate func number(_ name: Figure.Name) -> Double? {
        guard case .number(let value, _)? = value(name) else { return nil }
        return value
    }
}

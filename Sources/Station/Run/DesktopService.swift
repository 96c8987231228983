import Binnacle
import Configuration
import DesktopBus
import LinuxSensors
import LinuxSystem

/// Serves the bus on the event thread: which sensors are there, and what detectors show.
///
/// The detectors are asked after each turn; they know nothing of the bus. Values are sent when they change.
final class DesktopService {
    let bus: DesktopBus
    /// The sensors that programs have claimed.
    var claimed: DesktopSensors = [] {
        didSet { restart(claimed.subtracting(oldValue)) }
    }
    /// The single readings for which the machine has devices; `nil` until it was searched for them.
    var readingsPresent: Set<AmbientReading.Kind>?
    /// Whether a thread searches for them, and whether to search again after that.
    var isSearching = false
    var wantsAnotherSearch = false
    /// The source's count of changes that the search and the demand were made for.
    var deviceChangeCount = -1
    /// The detectors whose values are sent; those of single readings are the service's own.
    private var detectors: [DesktopSensor: any EventDetector] = [
        .light: AmbientLightDetector(), .proximity: ProximityDetector(),
    ]
    /// The sensors of the detectors with samples, and the requests for their devices.
    private var sampled: [DesktopSensor: (sensors: [Sensor], requests: [SensorRequest])] = [:]
    /// The detectors that these ask.
    private var asked: [DesktopSensor: [any EventDetector]] = [:]
    private var readings = DesktopReadings()
    private(set) var hasBegun = false
    /// The sensors that are read for a moment to see whether they work, and until when, on CLOCK_MONOTONIC.
    private(set) var tried: DesktopSensors = []
    private(set) var trialEnd: Int64 = .max
    /// When clients find the service although the machine has not answered.
    let beginDeadline = SystemClock.monotonic() + 1_000_000_000
    /// When the last heading was sent, on CLOCK_MONOTONIC.
    private var headingNanoseconds = Int64.min
    /// The sensors for which there are devices.
    private var there: DesktopSensors = []

    /// The sensors of single readings.
    private static let ambient: [(sensor: DesktopSensor, kind: AmbientReading.Kind)] = [
        (.light, .light), (.proximity, .proximity),
    ]
    /// The least turn and the least time between two headings: each wakes every program that has claimed the compass.
    private static let headingSteps = (degrees: 0.5, nanoseconds: Int64(100_000_000))
    /// How long a sensor is tried.
    private static let longestTrial: Int64 = 1_000_000_000
    /// How old a heading may be that is held, in seconds; an older one is not told any more.
    private static let longestHold = 1.0

    init(_ bus: DesktopBus) {
        self.bus = bus
        for detector in detectors.values { detector.startDetection() }
    }

    /// Uses the detectors of an assembly.
    func use(_ assembly: Assembly) {
        let configuration = assembly.configuration
        for (sensor, section) in [
            (DesktopSensor.accelerometer, configuration.desktopOrientation as (any DetectorSection)?),
            (.compass, configuration.desktopNorth),
        ] {
            let detector = assembly.detector(section?.name)
            detectors[sensor] = detector
            asked[sensor] = section?.asked.compactMap(assembly.detector)
            let needed = (detector?.streams ?? []).filter { !$0.isOptional && $0.kind != .gyroscope }.map(\.sensor)
            let sensors = assembly.sensors.map(\.object).filter { sensor in needed.contains { $0 === sensor } }
            sampled[sensor] = (
                sensors, assembly.requests.filter { request in sensors.contains { $0 === request.sensor } }
            )
        }
    }

    /// The detectors whose devices are read because of claims.
    var claimedDetectors: [any EventDetector] {
        sampled.keys.filter(isClaimed).flatMap { sensor in
            [detectors[sensor]].compactMap { $0 } + (asked[sensor] ?? [])
        }
    }

    /// The readings that are taken because of claims.
    var claimedReadings: Set<AmbientReading.Kind> { Set(Self.ambient.filter { isClaimed($0.sensor) }.map(\.kind)) }

    /// Whether a sensor is read: it is claimed, or tried.
    private func isClaimed(_ sensor: DesktopSensor) -> Bool {
        claimed.union(tried).contains(sensor) && there.contains(sensor)
    }

    /// Looks which devices there are.
    ///
    /// - Returns: Whether that has changed.
    func look(_ live: LiveSource?) -> Bool {
        var found: DesktopSensors = []
        var tried: DesktopSensors = []
        for (sensor, parts) in sampled where !parts.sensors.isEmpty {
            // What is played is there.
            let isThere = parts.requests.isEmpty || live?.hasDevices(for: parts.requests[...]) ?? false
            found.set(sensor, isThere)
            // What failed before may work now that a device has changed.
            tried.set(sensor, isThere && (!there.contains(sensor) || !parts.sensors.allSatisfy(\.isActive)))
        }
        for (sensor, kind) in Self.ambient { found.set(sensor, readingsPresent?.contains(kind) ?? false) }
        restart(found.subtracting(there))
        guard found != there || !tried.isEmpty else { return false }
        there = found
        if !tried.isEmpty {
            self.tried.formUnion(tried)
            trialEnd = SystemClock.monotonic() + Self.longestTrial
        }
        return true
    }

    /// Ends the trial of sensors that have been opened, or had the time.
    ///
    /// - Returns: Whether it has ended.
    func endTrial(_ live: LiveSource?, at now: Int64) -> Bool {
        guard !tried.isEmpty else { return false }
        let isActive = sampled.allSatisfy { sensor, parts in
            !tried.contains(sensor) || parts.sensors.allSatisfy(\.isActive)
        }
        guard now >= trialEnd || isActive && live?.isSettled ?? true else { return false }
        tried = []
        trialEnd = .max
        return true
    }

    /// Begins again with sensors that are read from now on: their last values are old.
    private func restart(_ sensors: DesktopSensors) {
        readings.fresh.subtract(sensors)
        for (sensor, _) in Self.ambient where sensors.contains(sensor) {
            detectors[sensor]?.stopDetection()
            detectors[sensor]?.startDetection()
        }
    }

    /// Takes a single reading.
    func take(_ outcome: AmbientReading.Outcome) {
        guard case .read = outcome else { return }
        for (sensor, kind) in Self.ambient where outcome.kind == kind && isClaimed(sensor) {
            detectors[sensor]?.process(outcome)
        }
    }

    /// Sends what has changed.
    ///
    /// - Parameters:
    ///   - isSearched: Whether the machine was searched for devices.
    ///   - now: The time, on CLOCK_MONOTONIC.
    func update(isSearched: Bool, at now: Int64) {
        var next = readings
        next.present = there
        for (sensor, parts) in sampled where parts.sensors.contains(where: { !$0.isActive }) {
            next.present.set(sensor, false)
        }
        next.fresh.formIntersection(claimed.intersection(next.present))
        for (sensor, detector) in detectors
        where next.present.contains(sensor) && claimed.contains(sensor) && detector.isDetecting {
            let figures = detector.figures
            if sensor == .compass {
                update(&next, heading: figures, at: now)
            } else if next.show(detector.state, figures, as: sensor) {
                next.fresh.set(sensor, true)
            }
        }
        if next != readings {
            readings = next
            bus.publish(next)
        }
        guard !hasBegun else { return }
        if isSearched && readingsPresent != nil && tried.isEmpty || now >= beginDeadline {
            hasBegun = true
            bus.begin()
        }
    }

    private func update(_ next: inout DesktopReadings, heading figures: [Figure], at now: Int64) {
        guard let heading = figures.number(.heading), figures.number(.age) ?? 0 <= Self.longestHold else {
            next.headingDegrees = -1
            return
        }
        guard figures.number(.age) == nil else { return }
        next.fresh.set(.compass, true)
        let degrees = Angle.normalizedDegrees(heading - (figures.number(.declination) ?? 0))
        if next.headingDegrees >= 0 {
            let turn = abs((degrees - next.headingDegrees).remainder(dividingBy: 360))
            guard turn >= Self.headingSteps.degrees, now - headingNanoseconds >= Self.headingSteps.nanoseconds else {
                return
            }
        }
        headingNanoseconds = now
        next.headingDegrees = degrees
    }
}

extension DesktopReadings {
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

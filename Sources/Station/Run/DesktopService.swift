import Binnacle
import Configuration
import DesktopBus
import LinuxSensors
import LinuxSystem

/// Serves the bus on the event thread: which sensors are there, and what detectors and readings show.
///
/// The detectors are asked after each turn; they know nothing of the bus. Values are sent when they change.
final class DesktopService {
    let bus: DesktopBus
    /// The sensors that programs have claimed.
    var claimed: DesktopSensors = [] {
        didSet { restart(claimed.subtracting(oldValue)) }
    }
    /// The single readings for which the machine has devices; `nil` until it was searched for them.
    var readingsPresent: Set<ReadingKind>?
    /// Whether a thread searches for them, and whether to search again after that.
    var isSearching = false
    var wantsAnotherSearch = false
    /// The source's count of changes that the search and the demand were made for.
    var deviceChangeCount = -1
    private(set) var screen: OrientationDetector?
    private(set) var north: NorthDetector?
    /// The sensors of both, and the requests for their devices.
    private var screenParts: (sensors: [Sensor], requests: [SensorRequest]) = ([], [])
    private var northParts: (sensors: [Sensor], requests: [SensorRequest]) = ([], [])
    /// Decides what is near, as the detector of a section does.
    private let proximity = ProximityDetector()
    private var readings = DesktopReadings()
    private(set) var hasBegun = false
    /// The sensors that are read for a moment to see whether they work, and until when, on CLOCK_MONOTONIC.
    private(set) var tried: DesktopSensors = []
    private(set) var trialEnd: Int64 = .max
    /// When clients find the service although the machine has not answered.
    let beginDeadline = SystemClock.monotonic() + 1_000_000_000
    /// The stamp of the heading that was sent last.
    private var headingNanoseconds = Int64.min

    /// The least turn and the least time between two headings: each wakes every program that has claimed the compass.
    private static let headingSteps = (degrees: 0.5, nanoseconds: Int64(100_000_000))
    /// How long a sensor is tried.
    private static let longestTrial: Int64 = 1_000_000_000
    /// How old a heading may be that is held; an older one is not told any more.
    private static let longestHold = Duration.seconds(1)

    init(_ bus: DesktopBus) {
        self.bus = bus
        proximity.startDetection()
    }

    /// Takes the detectors of an assembly.
    func use(_ assembly: Assembly) {
        let configuration = assembly.configuration
        screen = assembly.orientations.first { $0.section.name == configuration.desktopOrientation?.name }?.object
        north = assembly.norths.first { $0.section.name == configuration.desktopNorth?.name }?.object
        func parts(_ detector: (any Detector)?) -> ([Sensor], [SensorRequest]) {
            let needed = (detector?.streams ?? []).filter { !$0.isOptional && $0.kind != .gyroscope }.map(\.sensor)
            let sensors = assembly.sensors.map(\.object).filter { sensor in needed.contains { $0 === sensor } }
            return (sensors, assembly.requests.filter { request in sensors.contains { $0 === request.sensor } })
        }
        screenParts = parts(screen)
        northParts = parts(north)
    }

    /// The detectors whose devices are read because of claims.
    var claimedDetectors: [any Detector] {
        var found: [any Detector] = []
        if isClaimed(.accelerometer), let screen {
            found.append(screen)
            if let hinge = screen.hinge { found.append(hinge) }
        }
        if isClaimed(.compass), let north { found.append(north) }
        return found
    }

    /// The readings that are taken because of claims.
    var claimedReadings: Set<ReadingKind> {
        var kinds: Set<ReadingKind> = []
        if isClaimed(.light) { kinds.insert(.light) }
        if isClaimed(.proximity) { kinds.insert(.proximity) }
        return kinds
    }

    /// Whether a sensor is read: it is claimed, or tried.
    private func isClaimed(_ sensor: DesktopSensor) -> Bool {
        claimed.union(tried).contains(sensor) && there.contains(sensor)
    }

    /// The sensors for which there are devices.
    private var there: DesktopSensors = []

    /// Looks which devices there are.
    ///
    /// - Returns: Whether that has changed.
    func look(_ live: LiveSource?) -> Bool {
        var found: DesktopSensors = []
        func has(_ parts: (sensors: [Sensor], requests: [SensorRequest])) -> Bool {
            guard !parts.sensors.isEmpty else { return false }
            // What is played is there.
            return parts.requests.isEmpty || live?.hasDevices(for: parts.requests[...]) ?? false
        }
        found.set(.accelerometer, has(screenParts))
        found.set(.compass, has(northParts))
        found.set(.light, readingsPresent?.contains(.light) ?? false)
        found.set(.proximity, readingsPresent?.contains(.proximity) ?? false)
        let new = found.subtracting(there)
        restart(new)
        // What failed before may work now that a device has changed.
        var tried = new
        for (sensor, parts) in sampled
        where found.contains(sensor) && parts.sensors.contains(where: { !$0.isActive }) { tried.set(sensor, true) }
        tried.formIntersection([DesktopSensors(.accelerometer), DesktopSensors(.compass)])
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

    private var sampled: [(sensor: DesktopSensor, parts: (sensors: [Sensor], requests: [SensorRequest]))] {
        [(.accelerometer, screenParts), (.compass, northParts)]
    }

    /// Begins again with sensors that are read from now on: their last values are old.
    private func restart(_ sensors: DesktopSensors) {
        readings.fresh.subtract(sensors)
        if sensors.contains(.proximity) {
            proximity.stopDetection()
            proximity.startDetection()
        }
    }

    /// Takes a single reading.
    func take(_ outcome: ReadingOutcome) {
        guard case .read(let reading, let time) = outcome else { return }
        var next = readings
        switch reading {
        case .light(let level, let unit):
            guard level.isFinite, level >= 0, isClaimed(.light) else { return }
            (next.lightLevel, next.lightUnit) = (level, unit)
            next.fresh.set(.light, true)
        case .proximity(let strength):
            guard isClaimed(.proximity) else { return }
            proximity.take(strength: strength, at: time)
            guard let found = proximity.proximity else { return }
            next.isNear = found == .near
            next.fresh.set(.proximity, true)
        case .tabletMode: return
        }
        send(next)
    }

    /// Sends what has changed.
    ///
    /// - Parameter isSearched: Whether the machine was searched for devices.
    func update(isSearched: Bool) {
        var next = readings
        next.present = there
        for (sensor, parts) in sampled where parts.sensors.contains(where: { !$0.isActive }) {
            next.present.set(sensor, false)
        }
        next.fresh.formIntersection(claimed.intersection(next.present))
        if next.present.contains(.accelerometer), claimed.contains(.accelerometer), let screen, screen.isDetecting {
            if screen.orientation != .undefined { next.orientation = screen.orientation }
            if screen.tilt != .undefined { next.tilt = screen.tilt }
            // Flat on a table only the tilt is known.
            next.fresh.set(.accelerometer, screen.tilt != .undefined)
        }
        if next.present.contains(.compass), claimed.contains(.compass), let north, north.isDetecting {
            update(&next, north.heading)
        }
        if next != readings { send(next) }
        guard !hasBegun else { return }
        if isSearched && readingsPresent != nil && tried.isEmpty || SystemClock.monotonic() >= beginDeadline {
            hasBegun = true
            bus.begin()
        }
    }

    private func update(_ next: inout DesktopReadings, _ heading: HeadingEvent?) {
        guard let heading, heading.age <= Self.longestHold else {
            next.headingDegrees = -1
            return
        }
        guard !heading.isStale else { return }
        next.fresh.set(.compass, true)
        let degrees = heading.magneticHeadingDegrees
        if next.headingDegrees >= 0 {
            let turn = abs((degrees - next.headingDegrees).remainder(dividingBy: 360))
            guard turn >= Self.headingSteps.degrees,
                heading.timeNanoseconds - headingNanoseconds >= Self.headingSteps.nanoseconds
            else { return }
        }
        headingNanoseconds = heading.timeNanoseconds
        next.headingDegrees = degrees
    }

    private func send(_ next: DesktopReadings) {
        readings = next
        bus.publish(next)
    }
}

import Binnacle
import DesktopBus

/// Decides which sensors and single readings are read, and which sensors the desktop sees.
///
/// What nothing wants is not read: a detector is wanted when a handler, the store or the socket hears it, when a program of the
/// desktop has claimed what it finds, or when a wanted detector asks it. A state machine without devices and clocks.
struct SensorDemand {
    /// A detector, as far as it decides what is read.
    struct Reader: Equatable {
        let name: String
        var sensors: [String] = []
        /// What it takes of single readings.
        var ambient: Set<AmbientReading.Kind> = []
        /// The names of the detectors that it asks.
        var asked: [String] = []
        /// Whether something takes what it finds.
        var isHeard = false
    }

    /// What a sensor of the desktop is made of.
    enum Origin: Equatable {
        /// The values of the detector of that name.
        case detector(String)
        /// Single readings.
        case ambient(AmbientReading.Kind)
    }

    /// The detectors, in their order.
    var readers: [Reader] = []
    /// What the desktop's sensors are made of; a sensor without an entry is not there.
    var origins: [DesktopSensor: Origin] = [:]
    private(set) var claimed: DesktopSensors = []
    /// The sensors of the desktop for which there are devices.
    private(set) var available: DesktopSensors = []
    /// The sensors that are read for a moment to see whether they work.
    private(set) var tried: DesktopSensors = []
    /// When the trial ends, on CLOCK_MONOTONIC; `nil` without one.
    private(set) var trialEnd: Int64?
    /// The claimed sensors that have delivered since they were last switched on: their values are no old ones.
    private(set) var fresh: DesktopSensors = []

    /// How long a sensor is tried.
    static let longestTrial: Int64 = 1_000_000_000

    // MARK: - What happened

    /// Programs have claimed other sensors; the values of new ones are old.
    mutating func claim(_ sensors: DesktopSensors) {
        fresh.subtract(sensors.subtracting(claimed))
        claimed = sensors
    }

    /// There are devices for some sensors of the desktop; returns whether something else is to be read.
    ///
    /// Those that are inactive are tried, because they may work now.
    mutating func find(_ found: DesktopSensors, inactive: DesktopSensors, at now: Int64) -> Bool {
        let new = found.subtracting(available)
        fresh.subtract(new)
        // A single reading is its own trial.
        let sampled = origins.keys.filter { if case .detector = origins[$0] { true } else { false } }
        let trial = sampled.reduce(into: DesktopSensors()) { trial, sensor in
            trial.set(sensor, new.contains(sensor) || found.contains(sensor) && inactive.contains(sensor))
        }
        guard found != available || !trial.isEmpty else { return false }
        available = found
        if !trial.isEmpty {
            tried.formUnion(trial)
            trialEnd = now + Self.longestTrial
        }
        return true
    }

    /// Ends the trial of sensors that have been opened, or had the time; returns whether something else is to be read.
    mutating func endTrial(inactive: DesktopSensors, isSettled: Bool, at now: Int64) -> Bool {
        guard let end = trialEnd, now >= end || isSettled && tried.isDisjoint(with: inactive) else { return false }
        tried = []
        trialEnd = nil
        return true
    }

    /// Records which sensors of the desktop have a value now; those that are held may lack it for a moment, as a heading does.
    mutating func show(_ known: DesktopSensors, present: DesktopSensors, held: DesktopSensors) {
        fresh.formIntersection(claimed.intersection(present).intersection(held))
        fresh.formUnion(known)
    }

    // MARK: - What follows

    /// The names of the detectors whose sensors are read.
    var wanted: Set<String> {
        let desired = claimed.union(tried).intersection(available)
        var names = Set(readers.filter(\.isHeard).map(\.name))
        for case (let sensor, .detector(let name)) in origins where desired.contains(sensor) { names.insert(name) }
        for reader in readers where names.contains(reader.name) { names.formUnion(reader.asked) }
        return names
    }

    /// The single readings that are taken.
    var ambient: Set<AmbientReading.Kind> {
        let wanted = wanted
        var kinds = readers.filter { wanted.contains($0.name) }.reduce(into: Set()) { $0.formUnion($1.ambient) }
        for case (let sensor, .ambient(let kind)) in origins where isRead(sensor) { kinds.insert(kind) }
        return kinds
    }

    /// Whether a sensor of the desktop is read because of a claim.
    func isRead(_ sensor: DesktopSensor) -> Bool { claimed.intersection(available).contains(sensor) }

    /// Those of some sensors that nothing wants.
    func idle(among sensors: [String]) -> Set<String> {
        let wanted = wanted
        return Set(sensors).subtracting(readers.filter { wanted.contains($0.name) }.flatMap(\.sensors))
    }
}

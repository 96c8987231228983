package import Binnacle
package import DesktopBus

/// Decides which sensors and single readings are read, and which sensors clients of the desktop service see.
///
/// A detector is wanted when a handler, the store or the socket receives its events, when a client of the desktop
/// service has claimed its sensor, or when a wanted detector asks it. Other devices stay closed. A state machine
/// without devices and clocks.
package struct SensorDemand {
    /// The properties of a detector that decide what is read.
    package struct Reader: Equatable {
        package let name: String
        var sensors: [String] = []
        /// The kinds of single readings that it uses.
        var ambient: Set<AmbientReading.Kind> = []
        var asked: [String] = []
        /// Whether its events have a receiver.
        package var isHeard = false

        package init(
            name: String, sensors: [String] = [], ambient: Set<AmbientReading.Kind> = [], asked: [String] = [],
            isHeard: Bool = false
        ) {
            self.name = name
            self.sensors = sensors
            self.ambient = ambient
            self.asked = asked
            self.isHeard = isHeard
        }
    }

    /// The source of a sensor of the desktop service.
    package enum Origin: Equatable {
        /// The values of the detector of that name.
        case detector(String)
        case ambient(AmbientReading.Kind)
    }

    package var readers: [Reader] = []
    /// The sources of the desktop service's sensors; a sensor without an entry does not exist.
    package var origins: [DesktopSensor: Origin] = [:]
    private(set) var claimed: DesktopSensors = []
    /// The desktop service's sensors that have devices.
    package private(set) var available: DesktopSensors = []
    /// Sensors that are read for a moment to find out whether they work.
    package private(set) var tried: DesktopSensors = []
    /// End of the trial, on CLOCK_MONOTONIC; `nil` without one.
    package private(set) var trialEnd: Int64?
    /// Claimed sensors that have delivered since they were last enabled, so that their values are current.
    package private(set) var fresh: DesktopSensors = []

    /// Maximum duration of a trial, in nanoseconds.
    package static let longestTrial: Int64 = 1_000_000_000

    package init() {}

    // MARK: - Inputs

    /// Sets the claimed sensors; values of newly claimed ones are outdated.
    package mutating func claim(_ sensors: DesktopSensors) {
        fresh.subtract(sensors.subtracting(claimed))
        claimed = sensors
    }

    /// Sets the sensors that have devices; returns whether the demand changes.
    ///
    /// Inactive ones are tried, because they may work now.
    package mutating func find(_ found: DesktopSensors, inactive: DesktopSensors, at now: Int64) -> Bool {
        let new = found.subtracting(available)
        fresh.subtract(new)
        // A single reading shows by itself whether its device works.
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

    /// Ends the trial when all tried sensors are open, or at its deadline; returns whether the demand changes.
    package mutating func endTrial(inactive: DesktopSensors, isSettled: Bool, at now: Int64) -> Bool {
        guard let end = trialEnd, now >= end || isSettled && tried.isDisjoint(with: inactive) else { return false }
        tried = []
        trialEnd = nil
        return true
    }

    /// Records which sensors have a value now; a held one, such as a heading, may lack it for a moment.
    package mutating func show(_ known: DesktopSensors, present: DesktopSensors, held: DesktopSensors) {
        fresh.formIntersection(claimed.intersection(present).intersection(held))
        fresh.formUnion(known)
    }

    // MARK: - Results

    /// Names of the detectors whose sensors are read.
    package var wanted: Set<String> {
        let desired = claimed.union(tried).intersection(available)
        var names = Set(readers.filter(\.isHeard).map(\.name))
        for case (let sensor, .detector(let name)) in origins where desired.contains(sensor) { names.insert(name) }
        for reader in readers where names.contains(reader.name) { names.formUnion(reader.asked) }
        return names
    }

    /// Kinds of single readings that are read.
    package var ambient: Set<AmbientReading.Kind> {
        let wanted = wanted
        var kinds = readers.filter { wanted.contains($0.name) }.reduce(into: Set()) { $0.formUnion($1.ambient) }
        for case (let sensor, .ambient(let kind)) in origins where isRead(sensor) { kinds.insert(kind) }
        return kinds
    }

    /// Whether a sensor is read because of a claim.
    package func isRead(_ sensor: DesktopSensor) -> Bool { claimed.intersection(available).contains(sensor) }

    /// The sensors of a list that nothing wants.
    package func idle(among sensors: [String]) -> Set<String> {
        let wanted = wanted
        return Set(sensors).subtracting(readers.filter { wanted.contains($0.name) }.flatMap(\.sensors))
    }
}

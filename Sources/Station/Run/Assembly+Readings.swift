import Binnacle
import Configuration
import LinuxSensors

/// Single readings, which are no samples.
extension Assembly {
    /// What has to be read for the detectors.
    ///
    /// - Parameter isWanted: Whether something wants what a detector finds.
    /// - Returns: The kinds of readings.
    func readingKinds(where isWanted: (any Detector) -> Bool) -> Set<ReadingKind> {
        var kinds: Set<ReadingKind> = []
        if lights.contains(where: { isWanted($0.object) }) { kinds.insert(.light) }
        if proximities.contains(where: { isWanted($0.object) }) { kinds.insert(.proximity) }
        if hinges.contains(where: { $0.section.hasSwitch && isWanted($0.object) }) { kinds.insert(.tabletMode) }
        return kinds
    }

    /// Gives a reading to the detectors that it is for.
    func take(_ outcome: ReadingOutcome) {
        switch outcome {
        case .read(.light(let level, let unit), let time):
            for part in lights { part.object.take(level: level, unit: unit, at: time) }
        case .read(.proximity(let strength), let time):
            for part in proximities { part.object.take(strength: strength, at: time) }
        case .read(.tabletMode(let isFolded), let time):
            for part in hinges where part.section.hasSwitch {
                part.object.switchDidChange(isFolded: isFolded, at: time)
            }
        case .failed(.light, let failure): for part in lights { part.object.didFail(because: failure) }
        case .failed(.proximity, let failure): for part in proximities { part.object.didFail(because: failure) }
        case .failed(.tabletMode, let failure):
            for part in hinges where part.section.hasSwitch { part.object.switchDidFail(because: failure) }
        }
    }

    /// The detectors that readings are for.
    var readers: [ObjectIdentifier] {
        lights.map { ObjectIdentifier($0.object) } + proximities.map { ObjectIdentifier($0.object) }
            + hinges.filter(\.section.hasSwitch).map { ObjectIdentifier($0.object) }
    }
}

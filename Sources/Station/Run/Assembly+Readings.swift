import Binnacle
import Configuration
import LinuxSensors

/// Single readings, which are no samples.
extension Assembly {
    /// What has to be read for the detectors.
    var readingKinds: [ReadingKind] {
        var kinds: [ReadingKind] = []
        if !lights.isEmpty { kinds.append(.light) }
        if !proximities.isEmpty { kinds.append(.proximity) }
        if hinges.contains(where: \.section.hasSwitch) { kinds.append(.tabletMode) }
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

    /// Whether the same detectors have the same readings as in another assembly.
    func hasReadings(of other: Assembly) -> Bool {
        func objects(_ assembly: Assembly) -> [ObjectIdentifier] {
            assembly.lights.map { ObjectIdentifier($0.object) }
                + assembly.proximities.map { ObjectIdentifier($0.object) }
                + assembly.hinges.filter(\.section.hasSwitch).map { ObjectIdentifier($0.object) }
        }
        return objects(self) == objects(other)
    }
}

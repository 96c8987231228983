package import Binnacle
package import PlainText

extension LogLevel {
    /// The level of a kind of event, unless somebody chooses another.
    ///
    /// - Parameter kind: What happened.
    /// - Returns: What failed or was lost is a warning, and an error when nothing is left to detect with; what repeats,
    ///   or comes with each turn of the device, is for debugging; the rest is information.
    package static func usual(for kind: EventKind) -> LogLevel {
        switch kind {
        case .sensorsNoneLeft:
            .error
        case .gap, .samplesLost, .sensorInactive, .sensorsOneLeft, .detectorFailed, .detectorUnavailable,
            .commandFailed, .eventsDropped, .handlerFailed, .storeFailed, .headingLost, .interferenceBegan,
            .calibrationNeeded:
            .warning
        case .heading, .motionMoving, .northFacing:
            .debug
        case .motionBegan, .motionEnded, .shake, .freeFall, .shock, .northFaced, .northLeft, .sensorActive,
            .quorumReached, .commandFinished, .handlerRecovered, .storeRecovered, .headingFound, .sectorEntered,
            .sectorLeft, .interferenceEnded, .calibrationRestored:
            .info
        }
    }
}

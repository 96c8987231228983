public import Binnacle

/// How urgent a line of the log is; the raw values are those of syslog and of the journal.
public enum LogLevel: Int32, Sendable, CaseIterable {
    /// The system is unusable.
    case emergency
    /// Somebody has to act at once.
    case alert
    /// Something essential does not work.
    case critical
    /// Something does not work.
    case error
    /// Something may go wrong.
    case warning
    /// Something remarkable that is as it should be.
    case notice
    /// Something that is as it should be.
    case info
    /// What helps to find a fault.
    case debug

    /// The word that `journalctl --priority` takes.
    public var name: String {
        switch self {
        case .emergency: "emerg"
        case .alert: "alert"
        case .critical: "crit"
        case .error: "err"
        case .warning: "warning"
        case .notice: "notice"
        case .info: "info"
        case .debug: "debug"
        }
    }

    /// Finds the level of a word.
    public init?(name: String) {
        guard let level = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = level
    }

    /// The level of a kind of event, unless somebody chooses another.
    ///
    /// - Parameter kind: What happened.
    /// - Returns: What failed or was lost is a warning, and an error when nothing is left to detect with; what repeats,
    ///   or comes with each turn of the device, is for debugging; the rest is information.
    public static func usual(for kind: EventKind) -> LogLevel {
        switch kind {
        case .sensorsNoneLeft:
            .error
        case .headingLost, .gap, .samplesLost, .sensorInactive, .sensorsOneLeft, .detectorFailed,
            .detectorUnavailable, .commandFailed, .eventsDropped, .handlerFailed, .storeFailed:
            .warning
        case .heading, .motionMoving, .northFacing:
            .debug
        case .motionBegan, .motionEnded, .shake, .freeFall, .shock, .headingFound, .northFaced, .northLeft,
            .sensorActive,
            .quorumReached, .commandFinished, .handlerRecovered, .storeRecovered:
            .info
        }
    }
}

/// How urgent a line of the log is; the raw values are those of syslog and of the journal.
package enum LogLevel: Int32, Sendable, CaseIterable {
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
    package var name: String {
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
    package init?(name: String) {
        guard let level = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = level
    }
}

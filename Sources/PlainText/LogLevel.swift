/// The severity of a log line; the raw values are those of syslog and of the journal.
package enum LogLevel: Int32, Sendable, CaseIterable {
    /// The system is unusable.
    case emergency
    /// Immediate action is needed.
    case alert
    /// An essential function failed.
    case critical
    /// A function failed.
    case error
    /// A function may fail.
    case warning
    /// A significant normal event.
    case notice
    /// A normal event.
    case info
    /// Information for debugging.
    case debug

    /// The name for `journalctl --priority`.
    package var name: String {
        ["emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"][Int(rawValue)]
    }

    package init?(name: String) {
        guard let level = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = level
    }
}

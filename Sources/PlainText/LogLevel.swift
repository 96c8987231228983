/// The severity of a log line; the raw values are those of syslog and of the journal.
package enum LogLevel: Int32, Sendable, CaseIterable {
    case emergency, alert, critical, error, warning, notice, info, debug

    /// The name for `journalctl --priority`.
    package var name: String {
        ["emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"][Int(rawValue)]
    }

    package init?(name: String) {
        guard let level = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = level
    }
}

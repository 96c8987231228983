package import Binnacle
package import LinuxSystem
package import PlainText

/// Writes each event to systemd's journal, with a field for each of its values.
package final class JournalHandler: EventHandler {
    private let name: String
    private let journal: JournalSocket
    private let level: (EventKind) -> LogLevel
    private let didFail: (SystemError) -> Void
    private let didRecover: () -> Void
    private var hasFailed = false

    /// Creates a handler; `didFail` is called for the first error, and for the first one after a success, before which `didRecover` is.
    package init(
        name: String, journal: JournalSocket, level: @escaping (EventKind) -> LogLevel,
        didFail: @escaping (SystemError) -> Void, didRecover: @escaping () -> Void = {}
    ) {
        self.name = name
        self.journal = journal
        self.level = level
        self.didFail = didFail
        self.didRecover = didRecover
    }

    package func handle(_ event: Event) {
        do throws(SystemError) {
            try journal.write(Self.fields(event, handler: name, level: level(event.kind)))
            if hasFailed { didRecover() }
            hasFailed = false
        } catch {
            if !hasFailed { didFail(error) }
            hasFailed = true
        }
    }

    private static func fields(_ event: Event, handler: String, level: LogLevel) -> [(name: String, value: String)] {
        let own = [
            ("MESSAGE", TextHandler.words(event)), ("PRIORITY", String(level.rawValue)),
            ("MESSAGE_ID", event.kind.row.messageID), ("SYSLOG_IDENTIFIER", "binnacle"),
            ("BINNACLE_LOG", handler),
        ]
        return own + EventVariables.all(of: event)
    }
}

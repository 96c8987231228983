package import Binnacle
package import LinuxSystem
package import PlainText

/// Writes each event into systemd's journal, with a field for everything that the event says.
package final class JournalHandler: EventHandler {
    private let name: String
    private let journal: JournalSocket
    private let level: (EventKind) -> LogLevel
    private let didFail: (SystemError) -> Void
    private var hasFailed = false

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - name: The handler's name, which stands in each entry.
    ///   - journal: The journal.
    ///   - level: How much a kind of event matters.
    ///   - didFail: Told once when the journal takes no entry, and again after it has taken some.
    package init(
        name: String, journal: JournalSocket, level: @escaping (EventKind) -> LogLevel,
        didFail: @escaping (SystemError) -> Void
    ) {
        self.name = name
        self.journal = journal
        self.level = level
        self.didFail = didFail
    }

    /// Writes the event.
    package func handle(_ event: Event) {
        do throws(SystemError) {
            try journal.write(Self.fields(event, handler: name, level: level(event.kind)))
            hasFailed = false
        } catch {
            if !hasFailed { didFail(error) }
            hasFailed = true
        }
    }

    /// The entry's fields.
    static func fields(_ event: Event, handler: String, level: LogLevel) -> [(name: String, value: String)] {
        let own = [
            ("MESSAGE", TextHandler.words(event)), ("PRIORITY", String(level.rawValue)),
            ("MESSAGE_ID", event.kind.row.messageID), ("SYSLOG_IDENTIFIER", "binnacle"),
            ("BINNACLE_LOG", handler),
        ]
        return own + EventVariables.all(of: event)
    }
}

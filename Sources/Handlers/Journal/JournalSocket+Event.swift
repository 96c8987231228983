package import Binnacle
package import LinuxSystem
package import PlainText

extension JournalSocket {
    /// Writes an event of a handler, with a field for each of its values.
    package func write(_ event: Event, of handler: String, level: LogLevel) throws(SystemError) {
        let own = [
            ("MESSAGE", TextHandler.words(event)), ("PRIORITY", String(level.rawValue)),
            ("MESSAGE_ID", event.kind.row.messageID), ("SYSLOG_IDENTIFIER", "binnacle"),
            ("BINNACLE_LOG", handler),
        ]
        try write(own + EventVariables.all(of: event))
    }
}

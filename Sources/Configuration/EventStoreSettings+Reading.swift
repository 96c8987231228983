import EventSocket
import Glibc
package import Store
import TableReading

extension EventStoreSettings {
    init?(reading table: TableReader) {
        let path = table.path("path")
        guard path != nil || table.entry("path") == nil else { return nil }
        if let path, let node = table.entry("path")?.node {
            table.warnIfUnusable(path, node, type: (S_IFREG, "file"))
        }
        self.init(path: path ?? Self.standardPath)
        table.read(Self.rows, into: &self)
    }

    /// The default path: in the service's folder, or in the user's.
    package static var standardPath: String {
        withoutConfiguration ?? ofService
    }

    /// The path of a daemon without a configuration: in systemd's folder, or the user's; `nil` for root, whose path
    /// would be the service's.
    package static var withoutConfiguration: String? {
        let own = SocketPath.ownVariable
        // systemd separates several folders with colons.
        if let folder = own("STATE_DIRECTORY")?.split(separator: ":").first { return folder + "/events.db" }
        return geteuid() == 0 ? nil : SocketPath.ownStateFolder().map { $0 + "/events.db" }
    }

    /// The path to read without a daemon: the user's if it exists, else the service's.
    package static var readablePath: String {
        let own = standardPath
        return access(own, F_OK) != 0 && access(ofService, F_OK) == 0 ? ofService : own
    }

    private static let ofService = "/var/lib/binnacle/events.db"

    private static let rows: [SettingRow<EventStoreSettings>] = [
        SettingRow(
            "synchronous", \.synchronous, .choice,
            """
            The events that a power cut may lose. Appended events survive the end of the process in any case.

              "normal"  the events of about the last second
              "full"  nothing that was handed on: each group of events is on the disk before that, which wears flash \
            memory more and takes as long as the disk does
            """),
        SettingRow("keep_days", \.keepDays, .number(in: 0.001...100_000), "How long events are kept."),
        SettingRow("keep_events", \.keepEvents, .integer(in: 1...1_000_000_000), "How many events are kept."),
        SettingRow(
            "keep_mb", \.keepMegabytes, .number(in: 1...1_000_000),
            """
            How large the database and its log may get together; in a flood it may be a quarter more for a moment. What waits for a handler of this configuration is removed only when the \
            database is too large and nothing else is left to remove; "events.dropped" then reports it.
            """),
    ]

    static let row = SectionRow(
        "store", shown: "store",
        """
        Keeps the events on the disk. Without this section nothing is kept, and SQLite is not loaded.

        Events are appended before the socket and the handlers that acknowledge them get them. Such a handler, with command, http, \
        mqtt or file, gets each at least once and in order, also when Binnacle is killed meanwhile or the broker is away: what it \
        has not acknowledged waits in the store. "binnacle events" reads the events back.
        """,
        keys: [
            Key(
                "path", .usual("\"\(ofService)\""), usual: "events.db in the service's own folder, /var/lib/binnacle",
                "The database. A path that does not begin with / is relative to the folder of the file that has it.")
        ] + rows.map { $0.key(EventStoreSettings(path: ofService)) } + [SectionSwitch.enabled])
}

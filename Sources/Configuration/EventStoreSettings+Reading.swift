import EventSocket
import Glibc
package import Store
import TableReading

extension EventStoreSettings {
    /// The section's keys.
    static let keys = ["path", "synchronous", "keep_days", "keep_events", "keep_mb"]

    /// Reads the section; `nil` when it cannot be used, which is then reported.
    ///
    /// - Parameters:
    ///   - table: Its keys.
    ///   - folder: What a path is relative to: nothing, or a path that ends with a slash.
    init?(reading table: TableReader, folder: String) {
        let path = table.string("path")
        guard path != nil || table.entry("path") == nil else { return nil }
        self.init(path: path.map { $0.hasPrefix("/") ? $0 : folder + $0 } ?? Self.standardPath)
        synchronous = table.choice("synchronous", as: Synchronous.self) ?? synchronous
        keepDays = table.number("keep_days", in: 0.001...100_000) ?? keepDays
        keepEvents = table.integer("keep_events", in: 1...1_000_000_000) ?? keepEvents
        keepMegabytes = table.number("keep_mb", in: 1...1_000_000) ?? keepMegabytes
    }

    /// Where events are kept when nobody says so: in the service's folder, or in the person's.
    package static var standardPath: String {
        let own = SocketPath.ownVariable
        // systemd separates several folders with colons.
        if let folder = own("STATE_DIRECTORY")?.split(separator: ":").first { return folder + "/events.db" }
        guard geteuid() != 0 else { return ofService }
        if let folder = own("XDG_STATE_HOME") { return folder + "/binnacle/events.db" }
        return own("HOME").map { $0 + "/.local/state/binnacle/events.db" } ?? ofService
    }

    private static let ofService = "/var/lib/binnacle/events.db"
}

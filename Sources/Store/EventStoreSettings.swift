/// `[store]`: where events are kept, how safely, and how long.
package struct EventStoreSettings: Sendable, Equatable {
    /// How much is written to the disk before an event is handed on.
    package enum Synchronous: String, Sendable, CaseIterable {
        /// What was appended survives the end of the process at once, and a power cut within a second.
        case normal
        /// What was appended survives a power cut.
        case full
    }

    /// The database file.
    package var path: String
    /// How safely.
    package var synchronous: Synchronous = .normal
    /// How old events get, in days.
    package var keepDays: Double = 30
    /// How many events are kept.
    package var keepEvents: Int = 1_000_000
    /// How large the file gets, in MB of a million bytes.
    package var keepMegabytes: Double = 100

    /// Settings with the defaults.
    package init(path: String) {
        self.path = path
    }
}

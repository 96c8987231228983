import LinuxSystem

/// The section `[store]`: the file of events, the safety of commits, and the limits.
package struct EventStoreSettings: Sendable, Equatable {
    /// What is written to the disk before an event is passed on.
    package enum Synchronous: String, Sendable, CaseIterable {
        /// A stored event survives the end of the process at once, and a power cut after a second.
        case normal
        /// A stored event survives a power cut.
        case full
    }

    package var path: String
    package var synchronous: Synchronous = .normal
    /// Maximum age of events, in days.
    package var keepDays: Double = 30
    package var keepEvents: Int = 1_000_000
    /// Maximum size of the file and its log, in MB of a million bytes.
    package var keepMegabytes: Double = 100

    package init(path: String) {
        self.path = path
    }

    /// The file, and those that SQLite and daemons may keep beside it.
    package var files: [String] { [path, path + FilePlace.lockSuffix] + FilePlace.companions.map { path + $0.0 } }

    /// The share of the size for the log, in bytes: an eighth, from 128 KiB to 16 MiB.
    var logBytes: Int { Int(min(max(keepMegabytes * 1e6 / 8, 131_072), 16_777_216)) }

    /// Maximum size of the pages in use, in bytes; the margin is for free pages and those that one group adds.
    var pageBytes: Double { keepMegabytes * 1e6 - Double(logBytes) - 131_072 }
}

/// The state and the counts of a store.
package struct EventStoreStatistics: Sendable, Equatable {
    /// The state of one handler's deliveries.
    package struct Handler: Sendable, Equatable {
        package var name: String
        /// Whether the configuration has a handler of this name that acknowledges, as far as that is known.
        package var isExpected: Bool
        /// Whether a handler of this name is attached.
        package var isAttached: Bool
        /// The cursor: the ticket up to which all deliveries are acknowledged.
        package var position: Int64
        package var waitingCount: Int
        /// The number of deliveries that the handler has not acknowledged.
        package var unacknowledgedCount: Int
        /// The number of deliveries that were removed before the handler had them.
        package var removedCount: Int
    }

    package var path: String
    /// Why nothing can be stored, and the remedy; `nil` without a failure.
    package var failure: String?
    /// The size of the file and its log, in bytes.
    package var fileBytes: Int64 = 0
    /// The number of events in the file; `nil` during the count, or without a file.
    package var eventCount: Int?
    /// The time of the oldest event, in nanoseconds since 1970.
    package var oldestWallNanoseconds: Int64?
    /// The time of the newest event, in nanoseconds since 1970.
    package var newestWallNanoseconds: Int64?
    /// The highest sequence number of any event.
    package var lastSequence: UInt64 = 0
    package var queueCount = 0
    /// The number of events dropped because the queue was full.
    package var droppedCount = 0
    /// The number of events passed on without being stored.
    package var notStoredCount = 0
    /// The number of unreadable rows in the file.
    package var unreadableCount = 0
    /// The number of waiting deliveries removed to keep the file within its limits.
    package var removedDeliveryCount = 0
    package var handlers: [Handler] = []

    /// Creates statistics in which all counts are zero.
    package init(path: String) {
        self.path = path
    }
}

package struct StoreClock: Sendable {
    /// The wall clock, in nanoseconds since 1970; it may be set at any time.
    package let wall: @Sendable () -> Int64
    /// A clock that is never set, in nanoseconds.
    package let monotonic: @Sendable () -> Int64

    /// The system's clocks, or others for a test.
    package init(
        wall: @escaping @Sendable () -> Int64 = SystemClock.realtime,
        monotonic: @escaping @Sendable () -> Int64 = SystemClock.monotonic
    ) {
        self.wall = wall
        self.monotonic = monotonic
    }
}

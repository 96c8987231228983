import LinuxSystem

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

/// How a store is, for whoever asks.
package struct EventStoreStatistics: Sendable, Equatable {
    /// How one handler's deliveries are.
    package struct Handler: Sendable, Equatable {
        /// The handler's name.
        package var name: String
        /// Whether there is a handler of this name.
        package var isAttached: Bool
        /// The ticket up to which it is done with everything that it was given.
        package var position: Int64
        /// How many deliveries it has not been given yet.
        package var waitingCount: Int
        /// How many it has been given and is not done with.
        package var unacknowledgedCount: Int
    }

    /// The file.
    package var path: String
    /// Why nothing can be stored, and what to do; `nil` when all is well.
    package var failure: String?
    /// How large the file and its log are, in bytes.
    package var fileBytes: Int64 = 0
    /// How many events are in the file; `nil` while they are counted, or when there is no file.
    package var eventCount: Int?
    /// When the oldest of them happened, in nanoseconds since 1970.
    package var oldestWallNanoseconds: Int64?
    /// When the newest of them happened.
    package var newestWallNanoseconds: Int64?
    /// The highest number that an event had.
    package var lastSequence: UInt64 = 0
    /// How many events and deliveries wait to be stored.
    package var queueCount = 0
    /// How many were dropped because too many waited.
    package var droppedCount = 0
    /// How many events went on without being stored.
    package var notStoredCount = 0
    /// How many rows of the file could not be read.
    package var unreadableCount = 0
    /// How many waiting deliveries were removed to keep the file within its limits.
    package var removedDeliveryCount = 0
    /// The handlers, in the order of their names.
    package var handlers: [Handler] = []

    /// Creates statistics of nothing.
    package init(path: String) {
        self.path = path
    }
}

/// The clocks that a store goes by.
package struct StoreClock: Sendable {
    /// The wall clock, in nanoseconds since 1970; it may be set to anything at any time.
    package let wall: @Sendable () -> Int64
    /// A clock that is never set.
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

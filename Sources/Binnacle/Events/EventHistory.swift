/// Where past events can be read.
package protocol EventHistory: Sendable {
    /// What the numbers of the events belong to: another identity means that counting started again.
    var identity: String { get }
    /// Reads events in the order of their numbers, without making the caller wait; the reply is called once, on any thread.
    func read(_ query: EventQuery, reply: @escaping @Sendable (EventPage) -> Void)
}

/// Which events of a history a reader wants.
package struct EventQuery: Sendable, Equatable {
    /// The number of the event behind which to begin; 0 is the beginning.
    package var after: UInt64
    /// Begins with the first event since this time of the wall clock, in nanoseconds since 1970.
    ///
    /// What follows that event is read whatever its time, because a clock may be set back; a query for a page behind it
    /// has no time.
    package var sinceNanoseconds: Int64?
    /// Which kinds and sensors.
    package var filter: EventFilter
    /// The most events to read at once.
    package var limit: Int

    package init(
        after: UInt64 = 0, sinceNanoseconds: Int64? = nil, filter: EventFilter = EventFilter(), limit: Int = 256
    ) {
        self.after = after
        self.sinceNanoseconds = sinceNanoseconds
        self.filter = filter
        self.limit = limit
    }
}

/// A part of a history.
package struct EventPage: Sendable {
    /// The events, as the lines that ``Event/json`` writes.
    package var lines: [EventLine]
    /// The number up to which everything has been looked through; the next page begins behind it.
    package var through: UInt64
    /// The number of the oldest event that is still there, whatever was asked for; what is older was removed.
    package var first: UInt64
    /// Numbers that no event has, as far as the history knows.
    package var gaps: [ClosedRange<UInt64>] = []
    /// The numbers between the events that were looked through that no row has: they could not be stored.
    package var missing: [ClosedRange<UInt64>] = []
    /// Whether there is nothing behind it yet.
    package var isLast: Bool
    /// Whether it reaches the event with which ``EventQuery/sinceNanoseconds`` begins, also if the filter leaves that out.
    package var hasBegun = false
    /// The number of rows that are no events, and were left out.
    package var unreadableCount = 0
    /// Why the history cannot be read; then the rest says nothing.
    package var failure: String?
    /// Whether the history is closed, because the daemon ends: what was asked for is there, for the next one to ask.
    package var isClosed = false

    /// Takes numbers that no event has from those that are missing; `gaps` rise.
    package mutating func removeUnused(_ gaps: [ClosedRange<UInt64>]) {
        missing = missing.flatMap { $0.subtracting(gaps) }
    }

    package init(
        lines: [EventLine] = [], through: UInt64 = 0, first: UInt64 = 0, isLast: Bool = true, failure: String? = nil
    ) {
        self.lines = lines
        self.through = through
        self.first = first
        self.isLast = isLast
        self.failure = failure
    }
}

/// An event as it is written to files and sockets.
package struct EventLine: Sendable, Equatable {
    /// The event's number.
    package let sequence: UInt64
    /// One JSON object, without the line's end.
    package let json: String

    package init(sequence: UInt64, json: String) {
        self.sequence = sequence
        self.json = json
    }
}

extension ClosedRange<UInt64> {
    /// The parts of it that are in none of some ranges, which rise.
    package func subtracting(_ ranges: [ClosedRange<UInt64>]) -> [ClosedRange<UInt64>] {
        var rest = [self]
        for range in ranges where range.overlaps(self) {
            guard let last = rest.popLast() else { break }
            if last.lowerBound < range.lowerBound { rest.append(last.lowerBound...range.lowerBound - 1) }
            if last.upperBound > range.upperBound { rest.append(range.upperBound + 1...last.upperBound) }
        }
        return rest
    }
}

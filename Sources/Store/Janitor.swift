import Binnacle

/// Keeps the file within its limits, and nothing is removed before its time: a step of a few milliseconds at a time.
struct Janitor {
    /// What is looked after next.
    private enum Stage {
        case count, size, age, space
    }

    /// How many events are in the file; `nil` until they are counted.
    private(set) var eventCount: Int?
    /// When the limits are looked after the next time, on the monotonic clock, when nothing happens before.
    private(set) var nextNanoseconds: Int64 = .min
    /// What is being done; `nil` when there is nothing to do.
    private var stage: Stage?
    /// The number up to which events are counted, and how many there are up to there.
    private var counted: (through: Int64, count: Int) = (.min, 0)
    /// The number up to which nothing is left to remove by age, but events with a time in the future.
    private var ageScanned: Int64 = .min
    /// `nil` until a file was opened.
    private var marks: RetentionMarks?
    /// When the newest event of the runs before happened, by the wall clock.
    private var newestWallBeforeRun: Int64?
    private let startedNanoseconds: Int64
    private let clock: StoreClock
    private let reports: StoreReports

    private static let intervalNanoseconds: Int64 = 3_600_000_000_000
    /// How many rows are removed in one transaction.
    private static let rowsPerStep = 512
    /// How many rows are counted at once.
    private static let rowsPerCount = 4096
    /// Events with times that are further ahead of the wall clock than this are not believed.
    private static let futureNanoseconds: Int64 = 86_400_000_000_000
    /// How long a run does not believe that all events of the runs before it are too old.
    private static let doubtNanoseconds: Int64 = 3_600_000_000_000

    init(_ clock: StoreClock, _ reports: StoreReports) {
        self.clock = clock
        self.reports = reports
        startedNanoseconds = clock.monotonic()
    }

    /// Begins with a file that was opened.
    mutating func connect(to file: StoreFile) throws(SQLiteError) {
        try readEndTimes(of: file)
        if marks == nil {
            newestWallBeforeRun = reports.statistics.newestWallNanoseconds
            marks = RetentionMarks(startingBehind: file.lastSequence, at: startedNanoseconds)
        }
        (eventCount, counted) = (nil, (.min, 0))
        begin()
    }

    /// Begins to look after the limits.
    mutating func begin() {
        guard stage == nil else { return }
        stage = .count
        ageScanned = .min
    }

    /// Whether there is something to do at once.
    var isBusy: Bool { stage != nil }

    /// Notes events that came to the file; while the events are being counted, these will be, too.
    mutating func didStore(_ count: Int, _ events: [PublishedEvent]) {
        eventCount? += count
        guard let first = events.first, let last = events.last else { return }
        let oldest = reports.statistics.oldestWallNanoseconds
        reports.statistics.oldestWallNanoseconds = oldest ?? first.event.wallNanoseconds
        reports.statistics.newestWallNanoseconds = last.event.wallNanoseconds
    }

    /// Notes the last number, to know later how old it is.
    mutating func note(_ sequence: UInt64, at now: Int64) {
        marks?.note(sequence, at: now)
        if now >= nextNanoseconds { begin() }
    }

    /// Does a step, when there is something to do.
    ///
    /// - Returns: Whether the file was changed.
    mutating func step(
        in file: StoreFile, _ settings: EventStoreSettings, _ deliveries: Deliveries, at now: Int64
    ) throws(SQLiteError) -> Bool {
        let isDone: Bool
        switch stage {
        case .count: isDone = try keepCount(in: file, settings, deliveries)
        case .size: isDone = try keepSize(in: file, settings, deliveries)
        case .age: isDone = try keepAge(in: file, settings, deliveries, at: now)
        case .space: isDone = try !file.giveBack()
        case nil: return false
        }
        guard isDone else { return true }
        switch stage {
        case .count: stage = .size
        case .size: stage = .age
        case .age: stage = .space
        case .space, nil:
            stage = nil
            nextNanoseconds = now + Self.intervalNanoseconds
            try readEndTimes(of: file)
        }
        return false
    }

    private func readEndTimes(of file: StoreFile) throws(SQLiteError) {
        let times = try file.endTimes()
        reports.statistics.oldestWallNanoseconds = times.oldest
        reports.statistics.newestWallNanoseconds = times.newest
    }

    // MARK: - The limits

    /// Counts the events, and removes the oldest of them when they are too many.
    ///
    /// - Returns: Whether nothing is left to do, as with the other limits.
    private mutating func keepCount(
        in file: StoreFile, _ settings: EventStoreSettings, _ deliveries: Deliveries
    ) throws(SQLiteError) -> Bool {
        guard let count = eventCount else {
            let rows = try file.oldestEvents(behind: counted.through, limit: Self.rowsPerCount)
            counted = (rows.last?.sequence ?? counted.through, counted.count + rows.count)
            if rows.count < Self.rowsPerCount { eventCount = counted.count }
            return false
        }
        if count > settings.keepEvents {
            eventCount = try count - file.removeOldestEvents(min(Self.rowsPerStep, count - settings.keepEvents))
            return false
        }
        // A handler that does not exist may never come for what waits for it.
        for lane in deliveries.lanes.values where isForNobody(lane, deliveries) {
            let excess = lane.waitingInFile - settings.keepEvents
            guard excess > 0 else { continue }
            let oldest = try file.oldestDeliveries(of: lane.name, limit: min(Self.rowsPerStep, excess)).map(\.ticket)
            guard !oldest.isEmpty else { continue }
            try removeWaiting(oldest, of: lane, from: file, "more than \(settings.keepEvents) wait for it")
            return false
        }
        return true
    }

    /// Removes events while the file is too large, oldest first; then what waits for handlers.
    private mutating func keepSize(
        in file: StoreFile, _ settings: EventStoreSettings, _ deliveries: Deliveries
    ) throws(SQLiteError) -> Bool {
        guard Double(try file.usedBytes()) > settings.keepMegabytes * 1e6 else { return true }
        let count = try file.removeOldestEvents(Self.rowsPerStep)
        if count > 0 {
            eventCount? -= count
            return false
        }
        // What a handler has right now is little, and nearly done.
        let handedCount = deliveries.lanes.values.map(\.unacknowledged.count).reduce(0, +)
        let oldest = try file.oldestDeliveries(limit: Self.rowsPerStep + handedCount)
        var isDone = true
        for lane in deliveries.lanes.values {
            let waiting = oldest.filter { $0.handler == lane.name && !lane.unacknowledged.contains($0.ticket) }
            guard !waiting.isEmpty else { continue }
            try removeWaiting(
                waiting.map(\.ticket), of: lane, from: file, "the store is larger than \(settings.keepMegabytes) MB")
            isDone = false
        }
        return isDone
    }

    /// Removes events that are too old, and what waits that long for handlers that do not exist.
    ///
    /// From the oldest number on, events are removed until one is young enough. An event with a time in the future is
    /// passed over, so that it does not protect those behind it.
    private mutating func keepAge(
        in file: StoreFile, _ settings: EventStoreSettings, _ deliveries: Deliveries, at now: Int64
    ) throws(SQLiteError) -> Bool {
        let age = Int64(min(settings.keepDays * 86_400e9, 9e18))
        let wall = clock.wall()
        let (limit, isOverflow) = wall.subtractingReportingOverflow(age)
        guard !isOverflow, !isClockDoubtful(at: now, limit: limit) else { return true }
        let removable = Int64(clamping: marks?.removable(olderThan: age, at: now) ?? 0)
        let rows = try file.oldestEvents(behind: ageScanned, limit: Self.rowsPerStep)
        let end = rows.firstIndex { row in
            let time = row.wall ?? .max
            let isYoung =
                time >= limit && time.subtractingReportingOverflow(wall).partialValue <= Self.futureNanoseconds
            return isYoung || row.sequence > removable
        }
        if let last = rows[..<(end ?? rows.count)].last?.sequence {
            eventCount? -= try file.removeEvents(behind: ageScanned, through: last, before: limit)
            ageScanned = last
        }
        guard end != nil || rows.count < Self.rowsPerStep else { return false }
        for lane in deliveries.lanes.values where isForNobody(lane, deliveries) && lane.waitingInFile > 0 {
            let old = try file.oldestDeliveries(of: lane.name, limit: Self.rowsPerStep)
                .prefix { ($0.wall ?? .max) < limit && $0.ticket < deliveries.firstTicket }.map(\.ticket)
            guard !old.isEmpty else { continue }
            try removeWaiting(old, of: lane, from: file, "they are older than \(settings.keepDays) days")
            return false
        }
        return true
    }

    /// Whether the wall clock may be far ahead, because it says that all events of the runs before are too old.
    ///
    /// A board without a battery for its clock may start at any time; within an hour it should know the right one.
    private func isClockDoubtful(at now: Int64, limit: Int64) -> Bool {
        guard let newest = newestWallBeforeRun, newest < limit else { return false }
        return now - startedNanoseconds < Self.doubtNanoseconds
    }

    /// Whether a lane's handler does not exist, and will not.
    private func isForNobody(_ lane: DeliveryLane, _ deliveries: Deliveries) -> Bool {
        guard lane.deliver == nil, let expected = deliveries.expectedHandlers else { return false }
        return !expected.contains(lane.name)
    }

    private func removeWaiting(
        _ tickets: [Int64], of lane: DeliveryLane, from file: StoreFile, _ reason: String
    ) throws(SQLiteError) {
        try file.transaction { () throws(SQLiteError) in
            for ticket in tickets { try file.removeDelivery(ticket) }
        }
        let waitingCount = lane.forgetWaiting(tickets)
        reports.statistics.removedDeliveryCount += waitingCount
        reports.drop(lane.name, reason, count: waitingCount)
    }
}

/// Knows how old the events of this run are at least, by the monotonic clock.
///
/// The wall clock may be set forward by decades, when a board without a battery for its clock learns the time; the
/// events of this run are not older for that.
package struct RetentionMarks {
    private var marks: [(sequence: UInt64, nanoseconds: Int64)]
    private static let intervalNanoseconds: Int64 = 3_600_000_000_000

    /// Begins a run.
    ///
    /// - Parameters:
    ///   - sequence: The last number before it.
    ///   - monotonicNanoseconds: The time.
    package init(startingBehind sequence: UInt64, at monotonicNanoseconds: Int64) {
        marks = [(sequence, monotonicNanoseconds)]
    }

    /// Notes the last number, about once an hour.
    package mutating func note(_ sequence: UInt64, at monotonicNanoseconds: Int64) {
        guard let last = marks.last, monotonicNanoseconds - last.nanoseconds >= Self.intervalNanoseconds else { return }
        marks.append((sequence, monotonicNanoseconds))
    }

    /// The number up to which events may be so old that they are removed.
    ///
    /// - Parameters:
    ///   - ageNanoseconds: How old that is.
    ///   - monotonicNanoseconds: The time.
    /// - Returns: The number.
    package mutating func removable(olderThan ageNanoseconds: Int64, at monotonicNanoseconds: Int64) -> UInt64 {
        // Events of the runs before may be of any age; a mark holds until the next one is old enough.
        while marks.count > 1, monotonicNanoseconds - marks[1].nanoseconds >= ageNanoseconds { marks.removeFirst() }
        return marks[0].sequence
    }
}

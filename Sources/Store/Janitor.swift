import Binnacle

/// Keeps the file within its limits, in steps of a few milliseconds.
struct Janitor {
    private enum Stage {
        case count(behind: Int64, sum: Int)
        /// Removes events beyond the limits.
        case number, size
        /// Removes events beyond the maximum age, after a sequence number.
        case age(behind: Int64)
        /// Returns free pages to the disk.
        case space
    }

    /// The number of events in the file; `nil` until they are counted.
    private(set) var eventCount: Int?
    /// When the limits are checked at the latest, on the monotonic clock.
    private(set) var nextNanoseconds: Int64 = .min
    /// The current stage; `nil` without work.
    private var stage: Stage?
    /// The last event of earlier runs; `nil` until a file was opened.
    private var before: (sequence: Int64, wallNanoseconds: Int64?)?
    private let startedNanoseconds: Int64
    private let clock: StoreClock
    private let reports: StoreReports

    private static let intervalNanoseconds: Int64 = 3_600_000_000_000
    /// Maximum number of rows removed in one transaction.
    private static let rowsPerStep = 512
    private static let rowsPerCount = 4096
    /// The number of steps for as many rows as a group of events.
    private static let stepsPerGroup = 3
    /// Times further ahead of the wall clock than this are wrong.
    private static let futureNanoseconds: Int64 = 86_400_000_000_000
    /// The time after the start in which a run distrusts a clock by which all events are too old.
    private static let doubtNanoseconds: Int64 = 3_600_000_000_000

    init(_ clock: StoreClock, _ reports: StoreReports) {
        self.clock = clock
        self.reports = reports
        startedNanoseconds = clock.monotonic()
    }

    mutating func connect(to file: StoreFile) throws(StoreFailure) {
        try readEndTimes(of: file)
        before = before ?? (Int64(file.lastSequence), reports.statistics.newestWallNanoseconds)
        eventCount = nil
        stage = .count(behind: .min, sum: 0)
    }

    mutating func begin() {
        if stage == nil { stage = .number }
    }

    var isBusy: Bool { stage != nil }

    /// Records stored events; events stored during the initial count are included in it.
    mutating func didStore(_ count: Int, _ events: [PublishedEvent]) {
        eventCount? += count
        guard let first = events.first, let last = events.last else { return }
        let oldest = reports.statistics.oldestWallNanoseconds
        reports.statistics.oldestWallNanoseconds = oldest ?? first.event.wallNanoseconds
        reports.statistics.newestWallNanoseconds = last.event.wallNanoseconds
    }

    /// Performs one step of the work; returns whether the file may have changed.
    mutating func step(
        in file: StoreFile, _ settings: EventStoreSettings, _ deliveries: Deliveries, at now: Int64
    ) throws(StoreFailure) -> Bool {
        if stage == nil, now >= nextNanoseconds { begin() }
        guard let stage else { return false }
        switch stage {
        case .count(let first, let sum):
            let rows = try file.oldestEvents(behind: first, limit: Self.rowsPerCount)
            let count = sum + rows.count
            if let last = rows.last, rows.count == Self.rowsPerCount {
                self.stage = .count(behind: last.sequence, sum: count)
            } else {
                eventCount = count
                self.stage = .number
            }
        case .number:
            if try keepNumber(in: file, settings, deliveries) { return true }
            self.stage = .size
        case .size:
            if try keepSize(in: file, settings, deliveries) { return true }
            self.stage = .age(behind: .min)
        case .age(let first):
            if try keepAge(in: file, settings, deliveries, behind: first, at: now) { return true }
            self.stage = .space
        case .space:
            if try file.giveBack() { return true }
            self.stage = nil
            nextNanoseconds = now + Self.intervalNanoseconds
            try readEndTimes(of: file)
        }
        return false
    }

    /// Removes as much as a group of events has added if the file is too large; ``step(in:_:_:at:)`` does the rest.
    mutating func keepPace(
        in file: StoreFile, _ settings: EventStoreSettings, _ deliveries: Deliveries
    ) throws(StoreFailure) {
        // During the count no counted event may be removed.
        guard eventCount != nil else { return begin() }
        for _ in 0..<Self.stepsPerGroup {
            guard try keepSize(in: file, settings, deliveries) else { return }
        }
        begin()
    }

    private func readEndTimes(of file: StoreFile) throws(StoreFailure) {
        (reports.statistics.oldestWallNanoseconds, reports.statistics.newestWallNanoseconds) = try file.endTimes()
    }

    // MARK: - The limits

    /// Removes the oldest events beyond the maximum number, and then the deliveries of handlers that are not configured.
    ///
    /// Like the functions for the other limits, returns whether there may be more to remove.
    private mutating func keepNumber(
        in file: StoreFile, _ settings: EventStoreSettings, _ deliveries: Deliveries
    ) throws(StoreFailure) -> Bool {
        if let count = eventCount, count > settings.keepEvents {
            eventCount = try count - file.removeOldestEvents(min(Self.rowsPerStep, count - settings.keepEvents))
            return true
        }
        for queue in deliveries.abandonedQueues where queue.waitingInFile > settings.keepEvents {
            let excess = min(Self.rowsPerStep, queue.waitingInFile - settings.keepEvents)
            let oldest = try file.oldestDeliveries(of: queue.name, limit: excess).map(\.ticket)
            if try remove(oldest, of: queue, from: file, "more than \(settings.keepEvents) wait for it") { return true }
        }
        return false
    }

    /// Removes events while the file is too large, oldest first, and then waiting deliveries.
    private mutating func keepSize(
        in file: StoreFile, _ settings: EventStoreSettings, _ deliveries: Deliveries
    ) throws(StoreFailure) -> Bool {
        guard Double(try file.usedBytes()) > settings.pageBytes else { return false }
        let count = try file.removeOldestEvents(Self.rowsPerStep)
        if count > 0 {
            eventCount? -= count
            return true
        }
        // The deliveries that handlers have are few and nearly finished.
        let handedCount = deliveries.queues.values.map(\.unacknowledged.count).reduce(0, +)
        let oldest = try file.oldestDeliveries(limit: Self.rowsPerStep + handedCount)
        var mayBeMore = false
        for queue in deliveries.queues.values {
            let waiting = oldest.filter { $0.handler == queue.name && !queue.unacknowledged.contains($0.ticket) }
            let reason = "the store is larger than \(settings.keepMegabytes) MB"
            if try remove(waiting.map(\.ticket), of: queue, from: file, reason) { mayBeMore = true }
        }
        return mayBeMore
    }

    /// Removes events that are too old, and deliveries of that age for handlers that are not configured.
    ///
    /// Events are removed from the oldest sequence number on until one is young enough. An event with a time in the future goes with
    /// the next one that is too old: it does not protect that one, and no hole is left, which would look like events that could not
    /// be stored. Events of this run are at most as old as the run, even if the
    /// wall clock was set since.
    private mutating func keepAge(
        in file: StoreFile, _ settings: EventStoreSettings, _ deliveries: Deliveries, behind first: Int64,
        at now: Int64
    ) throws(StoreFailure) -> Bool {
        let age = Int64(min(settings.keepDays * 86_400e9, 9e18))
        let wall = clock.wall()
        let (limit, isOverflow) = wall.subtractingReportingOverflow(age)
        guard let before, !isOverflow, !isClockDoubtful(at: now, limit: limit) else { return false }
        let isRunOld = now - startedNanoseconds >= age
        let rows = try file.oldestEvents(behind: first, limit: Self.rowsPerStep)
        let end = rows.firstIndex { row in
            let time = row.wall ?? .max
            let isYoung =
                time >= limit && time.subtractingReportingOverflow(wall).partialValue <= Self.futureNanoseconds
            return isYoung || (row.sequence > before.sequence && !isRunOld)
        }
        let candidates = rows[..<(end ?? rows.count)]
        if let old = candidates.last(where: { ($0.wall ?? .max) < limit }) {
            eventCount? -= try file.removeEvents(through: old.sequence)
        }
        if let last = candidates.last { stage = .age(behind: last.sequence) }
        if end == nil && rows.count == Self.rowsPerStep { return true }
        for queue in deliveries.abandonedQueues where queue.waitingInFile > 0 {
            let old = try file.oldestDeliveries(of: queue.name, limit: Self.rowsPerStep)
                .prefix { ($0.wall ?? .max) < limit && ($0.ticket < deliveries.firstTicket || isRunOld) }
            let reason = "they are older than \(settings.keepDays) days"
            if try remove(old.map(\.ticket), of: queue, from: file, reason) { return true }
        }
        return false
    }

    /// Whether the wall clock may be far ahead, because by it all events of earlier runs are too old.
    ///
    /// A board without a battery for its clock may start with any time; within an hour it should have the right one.
    private func isClockDoubtful(at now: Int64, limit: Int64) -> Bool {
        guard let newest = before?.wallNanoseconds, newest < limit else { return false }
        return now - startedNanoseconds < Self.doubtNanoseconds
    }

    /// Removes and reports the waiting deliveries of a handler; `false` when there are none.
    private func remove(
        _ tickets: [Int64], of queue: DeliveryQueue, from file: StoreFile, _ reason: String
    ) throws(StoreFailure) -> Bool {
        guard !tickets.isEmpty else { return false }
        try file.transaction { () throws(StoreFailure) in
            for ticket in tickets { try file.removeDelivery(ticket) }
        }
        let waitingCount = queue.forgetWaiting(tickets)
        reports.removeDeliveries(of: queue.name, reason, count: waitingCount)
        return true
    }
}

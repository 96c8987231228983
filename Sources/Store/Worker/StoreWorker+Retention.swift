import Binnacle

extension StoreWorker {
    /// How many rows are removed in one transaction: a few milliseconds' work.
    private static let rowsPerStep = 512
    /// How many rows are counted at once.
    private static let rowsPerCount = 16_384
    /// How far the wall clock may be behind the events' times before those are not believed.
    private static let futureNanoseconds: Int64 = 86_400_000_000_000

    /// How long a run does not believe that nothing of the runs before it is young enough.
    private static let doubtNanoseconds: Int64 = 3_600_000_000_000

    /// Does one step to keep the file within its limits, when there is something to do.
    ///
    /// - Parameter now: What time it is on the monotonic clock.
    func keepWithinLimits(at now: Int64) {
        retention.ages.note(highestSequence, at: now)
        if now >= retention.nextNanoseconds { retention.begin() }
        guard failure == nil, let file, let stage = retention.stage else { return }
        let isDone = attempt { () throws(SQLiteError) in
            switch stage {
            case .count: try keepCount(in: file)
            case .size: try keepSize(in: file)
            case .age: try keepAge(in: file, at: now)
            case .space: try !file.giveBack()
            }
        }
        guard isDone ?? true else { return didChange() }
        retention.proceed(at: now)
        if !retention.isBusy { didKeepWithinLimits() }
    }

    private func didKeepWithinLimits() {
        guard let file else { return }
        let times = attempt { () throws(SQLiteError) in try file.endTimes() }
        if let times {
            (statistics.oldestWallNanoseconds, statistics.newestWallNanoseconds) = (times.oldest, times.newest)
        }
    }

    // MARK: - The limits

    /// Counts the events, and removes those that are too many, oldest first.
    ///
    /// - Returns: Whether nothing is left to do; so do the others.
    private func keepCount(in file: StoreFile) throws(SQLiteError) -> Bool {
        guard let count = retention.eventCount else {
            let (count, last) = try file.countEvents(behind: retention.counted.through, limit: Self.rowsPerCount)
            retention.didCount(count, through: count < Self.rowsPerCount ? nil : last)
            return false
        }
        if count > settings.keepEvents {
            try remove(
                Array(
                    file.oldestEvents(behind: .min, limit: min(Self.rowsPerStep, count - settings.keepEvents))
                        .map(\.sequence)), from: file)
            return false
        }
        // Nobody may ever come for what waits for a handler that is not there.
        for lane in lanes.values where isForNobody(lane) && lane.waitingInFile > settings.keepEvents {
            guard let number = lane.number else { continue }
            let excess = min(Self.rowsPerStep, lane.waitingInFile - settings.keepEvents)
            let oldest = try file.oldestDeliveries(of: number, limit: excess).map(\.id)
            guard !oldest.isEmpty else { continue }
            try removeWaiting(oldest, of: lane, from: file, "more than \(settings.keepEvents) wait for it")
            return false
        }
        return true
    }

    /// Removes events while the file is too large, oldest first; then what waits for handlers.
    private func keepSize(in file: StoreFile) throws(SQLiteError) -> Bool {
        guard Double(try file.usedBytes()) > settings.keepMegabytes * 1e6 else { return true }
        let events = try file.oldestEvents(behind: .min, limit: Self.rowsPerStep).map(\.sequence)
        if !events.isEmpty {
            try remove(events, from: file)
            return false
        }
        // Those that a handler has right now are few, and nearly done.
        let handedCount = lanes.values.map(\.unacknowledged.count).reduce(0, +)
        let oldest = try file.oldestDeliveries(limit: Self.rowsPerStep + handedCount)
        var isDone = true
        for lane in lanes.values {
            let waiting = oldest.filter {
                $0.handler == lane.number && !lane.unacknowledged.contains($0.id - ticketShift)
            }
            guard !waiting.isEmpty else { continue }
            try removeWaiting(
                waiting.map(\.id), of: lane, from: file, "the store is larger than \(settings.keepMegabytes) MB")
            isDone = false
        }
        return isDone
    }

    /// Removes events that are too old, and what waits that long for handlers that are not there.
    ///
    /// The order of the numbers is that of the events; that of the wall clock's times need not be. From the oldest number
    /// on, events are removed until one is young enough. One that claims to come from the future keeps those behind it
    /// from nothing.
    private func keepAge(in file: StoreFile, at now: Int64) throws(SQLiteError) -> Bool {
        let age = Int64(min(settings.keepDays * 86_400e9, 9e18))
        let wall = clock.wall()
        let limit = wall.subtractingReportingOverflow(age)
        guard !limit.overflow, !isClockDoubtful(at: now, limit: limit.partialValue) else { return true }
        let removable = retention.ages.removable(olderThan: age, at: now)
        let rows = try file.oldestEvents(behind: retention.ageScanned, limit: Self.rowsPerStep)
        var old: [Int64] = []
        var isDone = rows.count < Self.rowsPerStep
        for row in rows {
            let time = row.wall ?? .max
            if row.sequence > Int64(clamping: removable)
                || (time >= limit.partialValue
                    && time.subtractingReportingOverflow(wall).partialValue <= Self.futureNanoseconds)
            {
                isDone = true
                break
            }
            if time < limit.partialValue { old.append(row.sequence) }
            retention.ageScanned = row.sequence
        }
        try remove(old, from: file)
        guard isDone else { return false }
        return try keepAgeOfDeliveries(in: file, before: limit.partialValue)
    }

    /// Whether the wall clock may be far ahead: it says that nothing happened for as long as events are kept.
    ///
    /// A board without a clock of its own may begin with any time; within an hour it should have learned what time it is.
    private func isClockDoubtful(at now: Int64, limit: Int64) -> Bool {
        guard let newest = newestWallBeforeRun, newest < limit else { return false }
        return now - startedNanoseconds < Self.doubtNanoseconds
    }

    private func keepAgeOfDeliveries(in file: StoreFile, before limit: Int64) throws(SQLiteError) -> Bool {
        for lane in lanes.values where isForNobody(lane) && lane.waitingInFile > 0 {
            guard let number = lane.number else { continue }
            let old = try file.oldestDeliveries(of: number, limit: Self.rowsPerStep)
                .prefix { ($0.wallNanoseconds ?? .max) < limit && $0.id - ticketShift < firstTicket }
                .map(\.id)
            guard !old.isEmpty else { continue }
            try removeWaiting(old, of: lane, from: file, "they are older than \(settings.keepDays) days")
            return false
        }
        return true
    }

    /// Whether a lane's handler is not there, and will not be.
    private func isForNobody(_ lane: DeliveryLane) -> Bool {
        guard lane.deliver == nil, let expectedHandlers else { return false }
        return !expectedHandlers.contains(lane.name)
    }

    // MARK: - Removing

    private func remove(_ sequences: [Int64], from file: StoreFile) throws(SQLiteError) {
        guard !sequences.isEmpty else { return }
        try file.removeEvents(sequences)
        retention.didRemove(sequences.count)
    }

    private func removeWaiting(
        _ ids: [Int64], of lane: DeliveryLane, from file: StoreFile, _ reason: String
    ) throws(SQLiteError) {
        try file.database.transaction { () throws(SQLiteError) in
            for id in ids { try file.removeDelivery(id) }
        }
        let waitingCount = lane.forgetWaiting(ids.map { $0 - ticketShift })
        statistics.removedDeliveryCount += waitingCount
        tellDrop(lane.name, reason, count: waitingCount)
    }
}

import Binnacle
import LinuxSystem

extension StoreWorker {
    /// Stores what was collected, and hands it on: only what is stored, or what cannot be.
    func commit() {
        guard !group.isEmpty else { return }
        defer {
            inbox.finish(group.count)
            group.removeAll(keepingCapacity: group.capacity <= Self.groupCapacity)
        }
        let isStored = storeGroup()
        var events: [PublishedEvent] = []
        for case .event(let event) in group {
            events.append(event)
            highestSequence = max(highestSequence, event.event.sequence)
        }
        if !events.isEmpty {
            if isStored {
                if statistics.oldestWallNanoseconds == nil {
                    statistics.oldestWallNanoseconds = events.first?.event.wallNanoseconds
                }
                statistics.newestWallNanoseconds = events.last?.event.wallNanoseconds
            } else {
                statistics.notStoredCount += events.count
                failure?.notStoredCount += events.count
            }
            listeners.publish(events)
        }
        handOn(isStored: isStored)
        // Counting goes on behind the file's numbers now: nothing comes any more that has one of those.
        if !awaitsHigherNumbers, salvage == nil { tellLateRecovery() }
    }

    /// Tries to store the group, twice when the first attempt has led to another file.
    private func storeGroup() -> Bool {
        for _ in 0..<2 {
            guard failure == nil, let file else { return false }
            guard file.whereabouts == .inPlace else {
                fileHasMoved()
                continue
            }
            do throws(SQLiteError) {
                let count = try file.database.transaction { () throws(SQLiteError) in
                    try removeDone(from: file)
                    return try insertGroup(into: file)
                }
                didRemoveDone()
                didChange()
                retention.didAppend(count.new)
                statistics.notStoredCount += count.refused
                if salvage != nil || lateRecovery != nil { notStoredBeforeRecovery += count.refused }
                return true
            } catch {
                for lane in lanes.values { lane.number = nil }
                failed(error)
            }
        }
        return false
    }

    /// Inserts the group into the file.
    ///
    /// - Returns: How many events are new in it, and how many have a number that is another one's, or none that fits.
    private func insertGroup(into file: StoreFile) throws(SQLiteError) -> (new: Int, refused: Int) {
        var count = 0
        var refusedCount = 0
        for entry in group {
            switch entry {
            case .event(let event):
                let isNew = isFree(event.event.sequence) ? try file.append(event) : false
                if isNew { count += 1 } else { refusedCount += 1 }
            case .delivery(let event, let ticket, let lane):
                try file.insert(ticket + ticketShift, of: number(of: lane, in: file), event)
            }
        }
        return (count, refusedCount)
    }

    /// Whether a number is none of those that a file turned out to hold, or to have held, when it came late.
    private func isFree(_ sequence: UInt64) -> Bool {
        takenSequence == 0 || sequence > takenSequence
    }

    /// The number of a lane's handler, within a transaction.
    func number(of lane: DeliveryLane, in file: StoreFile) throws(SQLiteError) -> Int64 {
        if let number = lane.number { return number }
        let number = try file.handlerNumber(lane.name)
        lane.number = number
        return number
    }

    /// Takes note that the file has something that the disk may not have.
    func didChange() {
        let now = clock.monotonic()
        if changedNanoseconds == nil { changedNanoseconds = now }
        lastChangeNanoseconds = now
    }

    // MARK: - What is done

    /// Removes the deliveries that are done, within a transaction.
    func removeDone(from file: StoreFile) throws(SQLiteError) {
        for lane in lanes.values where !lane.done.isEmpty {
            for ticket in lane.done { try file.removeDelivery(ticket + ticketShift) }
            try file.setPosition(lane.position + ticketShift, of: number(of: lane, in: file))
        }
    }

    /// Takes note that they are removed.
    func didRemoveDone() {
        for lane in lanes.values where !lane.done.isEmpty { lane.forgetDone(lane.done) }
        acknowledgedNanoseconds = nil
    }

    /// Removes the deliveries that are done, when nothing else is to be stored.
    func storeAcknowledged() {
        guard failure == nil, let file, lanes.values.contains(where: { !$0.done.isEmpty }) else { return }
        let isDone: Void? = attempt { () throws(SQLiteError) in
            try file.database.transaction { () throws(SQLiteError) in try removeDone(from: file) }
        }
        acknowledgedNanoseconds = nil
        guard isDone != nil else { return }
        didRemoveDone()
        didChange()
    }
}

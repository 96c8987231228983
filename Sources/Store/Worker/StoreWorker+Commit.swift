import Binnacle

extension StoreWorker {
    /// Stores what was collected, and hands it on: only what is stored, or what cannot be.
    func commit() {
        guard !group.isEmpty else { return }
        defer {
            inbox.didDo(group.count)
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
                retention.didAppend(count)
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
    /// - Returns: How many events are new in it.
    private func insertGroup(into file: StoreFile) throws(SQLiteError) -> Int {
        var count = 0
        var refusedCount = 0
        for entry in group {
            switch entry {
            case .event(let event):
                if try file.append(event) { count += 1 } else { refusedCount += 1 }
            case .delivery(let delivery, let lane):
                try file.insert(delivery.ticket + ticketShift, of: number(of: lane, in: file), delivery.event)
            }
        }
        statistics.notStoredCount += refusedCount
        return count
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
        if changedNanoseconds == nil { changedNanoseconds = clock.monotonic() }
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

import Binnacle

extension StoreWorker {
    /// The most rows that are read and handed over at once.
    private static let rowsPerReading = 64
    /// The most tickets that are remembered because the file cannot forget them.
    private static let doneCapacity = 4096

    /// The lane of a handler, made when there is none.
    func lane(_ name: String) -> DeliveryLane {
        if let lane = lanes[name] { return lane }
        let lane = DeliveryLane(name: name)
        lanes[name] = lane
        return lane
    }

    /// Gives a handler what waits for it, and what comes.
    func attach(_ name: String, limit: Int, deliver: @escaping @Sendable ([Delivery]) -> Void) {
        let lane = lane(name)
        if lane.deliver != nil { lane.takeBack() }
        lane.limit = max(1, limit)
        lane.deliver = deliver
        handOver(lane)
    }

    /// Gives a handler nothing more.
    func detach(_ name: String) {
        guard let lane = lanes[name] else { return }
        lane.deliver = nil
        lane.takeBack()
    }

    /// Takes note that a handler is done with a delivery.
    func acknowledge(_ name: String, _ ticket: Int64) {
        guard let lane = lanes[name], lane.acknowledge(ticket) else { return }
        if acknowledgedNanoseconds == nil, !lane.done.isEmpty { acknowledgedNanoseconds = clock.monotonic() }
        if lane.waitingCount > 0 {
            // What waits comes before what is collected.
            handOver(lane)
        }
    }

    /// Hands the group's deliveries on to those who have room for them.
    func handOn(isStored: Bool) {
        var ready: [ObjectIdentifier: (lane: DeliveryLane, deliveries: [Delivery])] = [:]
        for case .delivery(let event, let ticket, let lane) in group {
            let delivery = Delivery(event: event.event, ticket: ticket)
            if !isStored {
                remember(delivery, lane)
            } else if lane.waitingCount > 0 || lane.room == 0 {
                lane.waitingInFile += 1
            } else {
                lane.readTicket = delivery.ticket
                lane.hand(delivery.ticket)
                ready[ObjectIdentifier(lane), default: (lane, [])].deliveries.append(delivery)
            }
        }
        for (lane, deliveries) in ready.values { lane.deliver?(deliveries) }
        guard !isStored else { return }
        for lane in lanes.values { handOver(lane) }
    }

    private func remember(_ delivery: Delivery, _ lane: DeliveryLane) {
        guard !lane.remember(delivery) else { return }
        statistics.droppedCount += 1
        tellDrop(lane.name, "more than \(DeliveryLane.memoryCapacity) events wait for it while the store does not work")
    }

    /// Hands a handler what waits for it, as far as it has room: first what is in the file, then what is in none.
    func handOver(_ lane: DeliveryLane) {
        while lane.room > 0 {
            if lane.waitingInFile > 0, file != nil {
                guard lane.done.count < Self.doneCapacity || failure == nil else { break }
                handOverFromFile(lane)
                continue
            }
            let deliveries = lane.takeFromMemory()
            guard !deliveries.isEmpty else { break }
            lane.deliver?(deliveries)
        }
    }

    /// Reads some rows and hands them over.
    private func handOverFromFile(_ lane: DeliveryLane) {
        guard let file else { return }
        let behind = lane.readTicket == .min ? Int64.min : lane.readTicket + ticketShift
        let limit = min(lane.room, Self.rowsPerReading)
        let rows = attempt { () throws(SQLiteError) in
            try file.deliveries(of: number(of: lane, in: file), behind: behind, limit: limit)
        }
        guard let rows else {
            // When the file was exchanged for another one, the lane knows it already. One that cannot be read must not keep
            // back what is in memory.
            if self.file === file { closeFile() }
            return
        }
        if rows.isEmpty { lane.waitingInFile = 0 }
        var deliveries: [Delivery] = []
        for row in rows {
            let ticket = row.id - ticketShift
            lane.readTicket = ticket
            guard !lane.unacknowledged.contains(ticket), !lane.done.contains(ticket) else { continue }
            lane.waitingInFile = max(0, lane.waitingInFile - 1)
            lane.hand(ticket)
            if let event = row.event {
                deliveries.append(Delivery(event: event, ticket: ticket))
            } else {
                // It must not stand in the way of those behind it.
                _ = lane.acknowledge(ticket)
                statistics.unreadableCount += 1
                tellDrop(lane.name, "its row in the store cannot be read")
            }
        }
        if !deliveries.isEmpty { lane.deliver?(deliveries) }
    }

    /// Tells of events that a handler will not get, once a second.
    func tellDrop(_ name: String?, _ reason: String, count: Int = 1) {
        guard count > 0 else { return }
        let key = "\(name ?? ""): \(reason)"
        let drops = drops[key] ?? EventDrops(handler: name, reason: reason, report: listeners.report)
        self.drops[key] = drops
        drops.add(count)
        if droppedNanoseconds == nil { droppedNanoseconds = clock.monotonic() }
    }

    /// Tells of those that nobody was told of yet.
    func tellDrops() {
        droppedNanoseconds = nil
        for drops in drops.values { drops.tellRest() }
    }
}

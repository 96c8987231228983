import Binnacle

/// What one handler has still to do: in the file, in memory, and with the handler itself.
final class DeliveryLane {
    /// The handler's name.
    let name: String
    /// Its number in the file.
    var number: Int64?
    /// The most deliveries that the handler has at a time.
    var limit = 1
    /// Takes deliveries; `nil` while there is no handler.
    var deliver: (([Delivery]) -> Void)?
    /// How many rows of the file wait for the handler.
    var waitingInFile = 0
    /// The ticket behind which the next row is read.
    var readTicket: Int64 = .min
    /// Tickets of rows that the handler is done with, and that the file still has.
    private(set) var done: Set<Int64> = []
    /// Tickets that the handler has.
    private(set) var unacknowledged: Set<Int64> = []
    /// Tickets that a handler had which is told nothing more, and may still be done with.
    private var returned: Set<Int64> = []
    /// Deliveries that are in no file, in their order; the handler has the first of them.
    private(set) var memory: [Delivery] = []
    private var handedMemoryCount = 0
    private var highestTicket: Int64 = 0
    private let storedPosition: Int64

    /// The most deliveries that are in no file.
    static let memoryCapacity = 4096

    /// Creates a lane for a handler that has nothing to do.
    ///
    /// - Parameters:
    ///   - name: The handler's name.
    ///   - position: The ticket up to which it was done with everything before.
    init(name: String, position: Int64 = 0) {
        self.name = name
        storedPosition = position
    }

    /// How many more the handler may be given.
    var room: Int { deliver == nil ? 0 : max(0, limit - unacknowledged.count) }

    /// How many deliveries wait in memory.
    var waitingInMemory: Int { memory.count - handedMemoryCount }

    /// How many deliveries the handler has not been given.
    var waitingCount: Int { waitingInFile + waitingInMemory }

    /// The ticket up to which the handler is done with everything that it was given.
    var position: Int64 {
        let oldest = [unacknowledged.min(), returned.min()].compactMap { $0 }.min()
        return oldest.map { $0 - 1 } ?? max(storedPosition, highestTicket)
    }

    /// Keeps a delivery that no file has.
    ///
    /// - Returns: Whether there was room for it.
    func remember(_ delivery: Delivery) -> Bool {
        guard waitingInMemory < Self.memoryCapacity else { return false }
        memory.append(delivery)
        return true
    }

    /// Takes from memory what the handler has room for.
    func takeFromMemory() -> [Delivery] {
        let taken = memory[handedMemoryCount...].prefix(room)
        handedMemoryCount += taken.count
        for delivery in taken { hand(delivery.ticket) }
        return Array(taken)
    }

    /// Takes note that the handler has a delivery.
    func hand(_ ticket: Int64) {
        unacknowledged.insert(ticket)
        returned.remove(ticket)
        highestTicket = max(highestTicket, ticket)
    }

    /// Takes note that the handler is done with a delivery, or the one before it that was told nothing more.
    ///
    /// - Returns: Whether it had it.
    func acknowledge(_ ticket: Int64) -> Bool {
        guard unacknowledged.remove(ticket) != nil else { return acknowledgeReturned(ticket) }
        if let index = memory[..<handedMemoryCount].firstIndex(where: { $0.ticket == ticket }) {
            memory.remove(at: index)
            handedMemoryCount -= 1
        } else {
            done.insert(ticket)
        }
        return true
    }

    /// A handler that goes finishes what it has begun, and its successor must not do that again.
    private func acknowledgeReturned(_ ticket: Int64) -> Bool {
        guard returned.remove(ticket) != nil else { return false }
        if let index = memory.firstIndex(where: { $0.ticket == ticket }) {
            memory.remove(at: index)
        } else {
            waitingInFile = max(0, waitingInFile - 1)
            done.insert(ticket)
        }
        return true
    }

    /// Forgets what the file does not have any more.
    func forgetDone(_ tickets: Set<Int64>) {
        done.subtract(tickets)
    }

    /// Forgets rows that waited and were removed: nobody can be done with them any more.
    ///
    /// - Parameter tickets: What the handler does not have now.
    /// - Returns: How many of them waited; those that are done did not.
    func forgetWaiting(_ tickets: [Int64]) -> Int {
        let count = tickets.count { !done.contains($0) }
        returned.subtract(tickets)
        done.subtract(tickets)
        waitingInFile = max(0, waitingInFile - count)
        return count
    }

    /// Forgets what a handler had that is told nothing more, unless it is in memory or in the file.
    ///
    /// - Parameter holds: Whether a ticket's row is in the file.
    /// - Throws: What `holds` throws.
    func forgetReturned<Failure>(unless holds: (Int64) throws(Failure) -> Bool) throws(Failure) {
        for ticket in returned where !memory.contains(where: { $0.ticket == ticket }) {
            if try !holds(ticket) { returned.remove(ticket) }
        }
    }

    /// Begins anew with the first delivery that is not acknowledged, for the next handler of this name.
    func takeBack() {
        waitingInFile += unacknowledged.count - handedMemoryCount
        handedMemoryCount = 0
        returned.formUnion(unacknowledged)
        unacknowledged.removeAll()
        readTicket = .min
    }

    /// Takes note that everything in memory is in the file now.
    func didStoreMemory() {
        waitingInFile += waitingInMemory
        memory.removeAll()
        handedMemoryCount = 0
    }
}

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

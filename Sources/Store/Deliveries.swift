import Binnacle

/// Hands deliveries to their handlers: at least once, in order, and no more at a time than a handler has room for.
///
/// A handler gets first what waits in the file, and then what waits in memory because no file took it.
struct Deliveries {
    /// What each handler has still to do, by the handlers' names.
    private(set) var lanes: [String: DeliveryLane] = [:]
    /// The handlers that exist or will; `nil` until they are known.
    var expectedHandlers: Set<String>?
    /// Since when the file has deliveries that are done.
    private(set) var doneNanoseconds: Int64?
    /// The first ticket of this run.
    private(set) var firstTicket: Int64 = 1
    private var nextTicket: Int64 = 1
    /// The ``StoreFile/ticketShift`` of the file.
    private var ticketShift: Int64 = 0
    private let reports: StoreReports

    /// The most rows that are read and handed over at once.
    private static let rowsPerReading = 64
    /// The most done tickets that are remembered while the file cannot forget them.
    private static let doneCapacity = 4096

    init(_ reports: StoreReports) {
        self.reports = reports
    }

    /// The lane of a handler, made when there is none.
    mutating func lane(_ name: String) -> DeliveryLane {
        if let lane = lanes[name] { return lane }
        let lane = DeliveryLane(name: name)
        lanes[name] = lane
        return lane
    }

    /// A ticket for a new delivery.
    mutating func makeTicket() -> Int64 {
        defer { nextTicket += 1 }
        return nextTicket
    }

    // MARK: - Handlers

    /// Gives a handler what waits for it, and what comes.
    mutating func attach(_ name: String, limit: Int, deliver: @escaping ([Delivery]) -> Void) {
        let lane = lane(name)
        if lane.deliver != nil { lane.takeBack() }
        lane.limit = max(1, limit)
        lane.deliver = deliver
    }

    /// Gives a handler nothing more.
    func detach(_ name: String) {
        lanes[name]?.deliver = nil
        lanes[name]?.takeBack()
    }

    /// Gives no handler anything more, because the store closes.
    func detachAll() {
        for lane in lanes.values { lane.deliver = nil }
    }

    /// Notes that a handler is done with a delivery.
    mutating func acknowledge(_ name: String, _ ticket: Int64, at now: Int64) {
        guard let lane = lanes[name], lane.acknowledge(ticket), !lane.done.isEmpty else { return }
        doneNanoseconds = doneNanoseconds ?? now
    }

    // MARK: - The file

    /// Finds out what waits for each handler in a file that was opened.
    mutating func connect(to file: StoreFile) throws(SQLiteError) {
        let last = try file.lastDelivery()
        if nextTicket == 1 {
            nextTicket = last + 1
            firstTicket = nextTicket
        } else {
            // Tickets were given out before this file could be read. The deliveries in memory get rows above its own.
            let lowest = lanes.values.compactMap(\.memory.first?.ticket).min() ?? nextTicket
            ticketShift = max(ticketShift, last - lowest + 1)
        }
        file.ticketShift = ticketShift
        for lane in lanes.values { lane.begin(waitingInFile: 0) }
        for handler in try file.handlers() {
            let lane = lanes[handler.name] ?? DeliveryLane(name: handler.name, position: handler.position)
            lanes[handler.name] = lane
            var handedCount = 0
            for ticket in lane.unacknowledged.union(lane.done) where try file.holdsDelivery(ticket) { handedCount += 1 }
            lane.begin(waitingInFile: handler.deliveryCount - handedCount)
        }
        for lane in lanes.values {
            try lane.forgetReturned { ticket throws(SQLiteError) in try file.holdsDelivery(ticket) }
        }
    }

    /// Takes into memory what waits in a file that was removed while it was open, as far as there is room.
    func moveToMemory(from file: StoreFile) throws(SQLiteError) {
        for lane in lanes.values {
            let count = lane.waitingCount
            let limit = DeliveryLane.memoryCapacity + lane.done.count + lane.unacknowledged.count
            let rows = try file.deliveries(for: lane.name, behind: nil, limit: limit)
            lane.prependToMemory(
                rows.compactMap { row in row.event.map { Delivery(event: $0, ticket: row.ticket) } })
            let lostCount = count - lane.waitingInMemory
            if lostCount > 0 { drop(lostCount, of: lane, "the event store was removed while they waited for it") }
        }
    }

    /// Removes what is done from the file, within a transaction; then ``didRemoveDone()`` has to be called.
    func removeDone(from file: StoreFile) throws(SQLiteError) {
        for lane in lanes.values where !lane.done.isEmpty {
            for ticket in lane.done { try file.removeDelivery(ticket) }
            try file.setPosition(lane.position, of: lane.name)
        }
    }

    /// Whether the file has deliveries that are done.
    var hasDone: Bool { lanes.values.contains { !$0.done.isEmpty } }

    /// Notes that the transaction was committed.
    mutating func didRemoveDone() {
        for lane in lanes.values { lane.forgetDone() }
        doneNanoseconds = nil
    }

    /// Stores what is in memory, within a transaction; then ``didStoreMemory()`` has to be called.
    func storeMemory(in file: StoreFile) throws(SQLiteError) {
        for lane in lanes.values {
            for delivery in lane.memory {
                try file.insert(delivery.ticket, for: lane.name, PublishedEvent(delivery.event))
            }
        }
    }

    /// Notes that the transaction was committed.
    func didStoreMemory() {
        for lane in lanes.values { lane.didStoreMemory() }
    }

    // MARK: - Handing over

    /// Hands new deliveries to the handlers that have room for them; the others wait.
    ///
    /// - Parameters:
    ///   - items: The deliveries, and events among them.
    ///   - isStored: Whether they are in the file.
    func handOn(_ items: [Committer.Item], isStored: Bool) {
        var ready: [ObjectIdentifier: (lane: DeliveryLane, deliveries: [Delivery])] = [:]
        for case .delivery(let published, let ticket, let lane) in items {
            let delivery = Delivery(event: published.event, ticket: ticket)
            if !isStored {
                if !lane.remember(delivery) {
                    let capacity = DeliveryLane.memoryCapacity
                    drop(1, of: lane, "more than \(capacity) events wait for it while the store does not work")
                }
            } else if lane.waitingCount > 0 || lane.room == 0 {
                lane.waitingInFile += 1
            } else {
                lane.readTicket = ticket
                lane.hand(ticket)
                ready[ObjectIdentifier(lane), default: (lane, [])].deliveries.append(delivery)
            }
        }
        for (lane, deliveries) in ready.values { lane.deliver?(deliveries) }
    }

    private func drop(_ count: Int, of lane: DeliveryLane, _ reason: String) {
        reports.statistics.droppedCount += count
        reports.drop(lane.name, reason, count: count)
    }

    /// Hands over what waits, as far as the handlers have room.
    ///
    /// - Parameters:
    ///   - file: The file, when it can be read.
    ///   - isWritable: Whether the file can forget what is done.
    /// - Throws: ``SQLiteError``.
    func handOver(from file: StoreFile?, isWritable: Bool) throws(SQLiteError) {
        for lane in lanes.values {
            while lane.room > 0, lane.waitingCount > 0 {
                if lane.waitingInFile > 0, let file {
                    guard isWritable || lane.done.count < Self.doneCapacity else { break }
                    try handOverRows(of: lane, from: file)
                } else {
                    let deliveries = lane.takeFromMemory()
                    guard !deliveries.isEmpty else { break }
                    lane.deliver?(deliveries)
                }
            }
        }
    }

    private func handOverRows(of lane: DeliveryLane, from file: StoreFile) throws(SQLiteError) {
        let limit = min(lane.room, Self.rowsPerReading)
        let rows = try file.deliveries(for: lane.name, behind: lane.readTicket, limit: limit)
        if rows.isEmpty { lane.waitingInFile = 0 }
        var deliveries: [Delivery] = []
        for row in rows {
            lane.readTicket = row.ticket
            guard !lane.unacknowledged.contains(row.ticket), !lane.done.contains(row.ticket) else { continue }
            lane.waitingInFile = max(0, lane.waitingInFile - 1)
            lane.hand(row.ticket)
            if let event = row.event {
                deliveries.append(Delivery(event: event, ticket: row.ticket))
            } else {
                // It must not block those behind it.
                _ = lane.acknowledge(row.ticket)
                reports.statistics.unreadableCount += 1
                reports.drop(lane.name, "its row in the store cannot be read")
            }
        }
        if !deliveries.isEmpty { lane.deliver?(deliveries) }
    }
}

/// What one handler has still to do: in the file, in memory, and handed to it.
final class DeliveryLane {
    /// The handler's name.
    let name: String
    /// The most deliveries that the handler has at a time.
    var limit = 1
    /// Takes deliveries; `nil` while there is no handler.
    var deliver: (([Delivery]) -> Void)?
    /// How many rows of the file wait for the handler.
    var waitingInFile = 0
    /// The ticket behind which the next row is read; `nil` is the beginning.
    var readTicket: Int64?
    /// Tickets of rows that the handler is done with, and that the file still has.
    private(set) var done: Set<Int64> = []
    /// Tickets that the handler has.
    private(set) var unacknowledged: Set<Int64> = []
    /// Tickets that a detached handler had, and may still finish.
    private var returned: Set<Int64> = []
    /// Deliveries that are in no file: first those that the handler has.
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

    /// Begins with another file.
    func begin(waitingInFile count: Int) {
        waitingInFile = max(0, count)
        readTicket = nil
    }

    // MARK: - Handing over

    /// Notes that the handler has a delivery.
    func hand(_ ticket: Int64) {
        unacknowledged.insert(ticket)
        returned.remove(ticket)
        highestTicket = max(highestTicket, ticket)
    }

    /// Notes that the handler is done with a delivery, or the detached one that had it before.
    ///
    /// - Returns: Whether one of them had it.
    func acknowledge(_ ticket: Int64) -> Bool {
        let wasHanded = unacknowledged.remove(ticket) != nil
        // A detached handler finishes what it has begun, and its successor must not do that again.
        guard wasHanded || returned.remove(ticket) != nil else { return false }
        if let index = memory.firstIndex(where: { $0.ticket == ticket }) {
            memory.remove(at: index)
            if wasHanded { handedMemoryCount -= 1 }
        } else {
            if !wasHanded { waitingInFile = max(0, waitingInFile - 1) }
            done.insert(ticket)
        }
        return true
    }

    /// Begins anew with the first delivery that is not acknowledged, for the next handler of this name.
    func takeBack() {
        waitingInFile += unacknowledged.count - handedMemoryCount
        handedMemoryCount = 0
        returned.formUnion(unacknowledged)
        unacknowledged.removeAll()
        readTicket = nil
    }

    // MARK: - Memory

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

    /// Puts the rows of a file before what is in memory, and forgets the file.
    func prependToMemory(_ rows: [Delivery]) {
        let all = rows.filter { !done.contains($0.ticket) } + memory
        let handed = all.filter { unacknowledged.contains($0.ticket) }
        memory = handed + all.filter { !unacknowledged.contains($0.ticket) }.prefix(Self.memoryCapacity)
        handedMemoryCount = handed.count
        done.removeAll()
        begin(waitingInFile: 0)
    }

    /// Notes that everything in memory is in the file now.
    func didStoreMemory() {
        waitingInFile += waitingInMemory
        memory.removeAll()
        handedMemoryCount = 0
    }

    // MARK: - Forgetting

    /// Forgets what is done, because the file has forgotten it.
    func forgetDone() {
        done.removeAll()
    }

    /// Forgets rows that waited and were removed.
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

    /// Forgets what a detached handler had, unless it is in memory or in the file.
    ///
    /// - Parameter holds: Whether a ticket's row is in the file.
    /// - Throws: What `holds` throws.
    func forgetReturned<Failure>(unless holds: (Int64) throws(Failure) -> Bool) throws(Failure) {
        for ticket in returned where !memory.contains(where: { $0.ticket == ticket }) {
            if try !holds(ticket) { returned.remove(ticket) }
        }
    }
}

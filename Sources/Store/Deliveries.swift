import Binnacle

/// Passes deliveries to their handlers: at least once, in order, and up to a handler's limit at a time.
///
/// A handler first gets the deliveries in the file, then those kept in memory because they could not be stored.
struct Deliveries {
    private(set) var queues: [String: DeliveryQueue] = [:]
    /// The configured handlers; `nil` until they are known.
    var expectedHandlers: Set<String>?
    /// Whether the configured handler of a name accepts an event that waits for it.
    var accepts: @Sendable (_ handler: String, Event) -> Bool = { _, _ in true }
    /// Whether the queues have the counts of a file.
    private(set) var isConnected = false
    /// Since when the file has acknowledged deliveries.
    private(set) var doneNanoseconds: Int64?
    /// The first ticket of this run; those of the runs before are smaller.
    private(set) var firstTicket: Int64 = 1
    private var hasReadFile = false
    private var nextTicket: Int64 = 1
    private var ticketShift: Int64 = 0
    private let reports: StoreReports

    /// Maximum number of rows read and passed on at once.
    private static let rowsPerReading = 64
    /// Maximum number of acknowledged tickets of a handler while the file cannot be written to.
    private static let doneCapacity = 4096

    init(_ reports: StoreReports) {
        self.reports = reports
    }

    /// The queue of a handler, created on demand.
    mutating func queue(_ name: String) -> DeliveryQueue {
        if let queue = queues[name] { return queue }
        let queue = DeliveryQueue(name: name)
        queues[name] = queue
        return queue
    }

    mutating func makeTicket() -> Int64 {
        defer { nextTicket += 1 }
        return nextTicket
    }

    // MARK: - Handlers

    mutating func attach(_ name: String, limit: Int, deliver: @escaping ([Delivery]) -> Void) {
        let queue = queue(name)
        if queue.deliver != nil { queue.rewind() }
        queue.limit = max(1, limit)
        queue.deliver = deliver
    }

    func detach(_ name: String) {
        queues[name]?.deliver = nil
        queues[name]?.rewind()
    }

    /// Stops passing deliveries, because the store closes.
    func detachAll() {
        for queue in queues.values { queue.deliver = nil }
    }

    mutating func acknowledge(_ name: String, _ ticket: Int64, at now: Int64) {
        guard let queue = queues[name], queue.acknowledge(ticket), !queue.done.isEmpty else { return }
        doneNanoseconds = doneNanoseconds ?? now
    }

    /// The queues of handlers that are not configured, whose deliveries may wait forever.
    var abandonedQueues: [DeliveryQueue] {
        guard let expectedHandlers else { return [] }
        return queues.values.filter { $0.deliver == nil && !expectedHandlers.contains($0.name) }
    }

    // MARK: - The file

    mutating func connect(to file: StoreFile) throws(StoreFailure) {
        isConnected = false
        let last = try file.lastDelivery()
        if nextTicket == 1 {
            nextTicket = last + 1
            firstTicket = nextTicket
        } else {
            // Tickets were issued before this file could be read. The deliveries in memory get higher row numbers than the
            // file's.
            let lowest = queues.values.compactMap(\.memory.first?.ticket).min() ?? nextTicket
            ticketShift = max(ticketShift, last - lowest + 1)
            if !hasReadFile { firstTicket = last - ticketShift + 1 }
        }
        hasReadFile = true
        file.ticketShift = ticketShift
        for queue in queues.values { queue.begin(waitingInFile: 0) }
        for handler in try file.handlers() {
            let queue = queues[handler.name] ?? DeliveryQueue(name: handler.name, position: handler.position)
            queues[handler.name] = queue
            var handedCount = 0
            for ticket in queue.unacknowledged.union(queue.done) where try file.holdsDelivery(ticket) {
                handedCount += 1
            }
            queue.begin(waitingInFile: handler.deliveryCount - handedCount)
            queue.recall(try file.previous(of: handler.name))
        }
        for queue in queues.values {
            try queue.forgetReturned { ticket throws(StoreFailure) in try file.holdsDelivery(ticket) }
        }
        isConnected = true
    }

    /// Reports the deliveries lost with a damaged file that was set aside.
    mutating func dropWaiting(_ salvage: StoreSalvage, _ reason: String) {
        var counts = salvage.deliveryCounts
        if isConnected {
            // The handlers still have some of them, and will finish those.
            counts = Dictionary(uniqueKeysWithValues: queues.values.map { ($0.name, $0.waitingInFile) })
            for queue in queues.values { queue.begin(waitingInFile: 0) }
            isConnected = false
        }
        for (handler, count) in counts.sorted(by: { ($0.key ?? "") < ($1.key ?? "") }) {
            reports.removeDeliveries(of: handler, reason, count: count)
        }
    }

    /// Removes acknowledged deliveries, within a transaction; ``didRemoveDone()`` has to be called after the commit.
    func removeDone(from file: StoreFile) throws(StoreFailure) {
        for queue in queues.values where !queue.done.isEmpty {
            for ticket in queue.done { try file.removeDelivery(ticket) }
            try file.setPosition(queue.position, of: queue.name)
            if let previous = queue.previous { try file.setPrevious(previous, of: queue.name) }
        }
    }

    var hasDone: Bool { queues.values.contains { !$0.done.isEmpty } }

    mutating func didRemoveDone() {
        for queue in queues.values { queue.didRemoveDone() }
        doneNanoseconds = nil
    }

    /// Stores the deliveries in memory, within a transaction; ``didStoreMemory()`` has to be called after the commit.
    func storeMemory(in file: StoreFile) throws(StoreFailure) {
        for queue in queues.values {
            for delivery in queue.memory {
                try file.insert(delivery.ticket, for: queue.name, PublishedEvent(delivery.event))
            }
        }
    }

    func didStoreMemory() {
        for queue in queues.values { queue.didStoreMemory() }
    }

    // MARK: - Handing over

    /// Passes new deliveries to the handlers with capacity; the others wait, except for those to the log.
    mutating func handOn(_ deliveries: [Delivery], isStored: Bool) {
        var ready: [String: [Delivery]] = [:]
        for delivery in deliveries {
            guard let handler = delivery.handler else { continue }
            let queue = queue(handler)
            if !isStored {
                guard !queue.remember(delivery) else { continue }
                let capacity = DeliveryQueue.memoryCapacity
                reports.statistics.droppedCount += 1
                reports.drop(queue.name, "more than \(capacity) events wait for it while the store does not work")
            } else if queue.waitingCount > 0 || queue.room == 0 {
                queue.waitingInFile += 1
            } else {
                queue.readTicket = delivery.ticket
                queue.hand(delivery.ticket, delivery.event)
                ready[handler, default: []].append(delivery)
            }
        }
        for (handler, deliveries) in ready { queue(handler).give(deliveries) }
    }

    /// Passes waiting deliveries to the handlers with capacity; acknowledged deliveries are removed only from a writable file.
    func handOver(from file: StoreFile?, isWritable: Bool) throws(StoreFailure) {
        for queue in queues.values {
            while queue.room > 0, queue.waitingCount > 0 {
                if queue.waitingInFile > 0, let file {
                    guard isWritable || queue.done.count < Self.doneCapacity else { break }
                    try handOverRows(of: queue, from: file)
                } else {
                    let deliveries = queue.removeFromMemory()
                    guard !deliveries.isEmpty else { break }
                    give(deliveries, to: queue)
                }
            }
        }
    }

    private func handOverRows(of queue: DeliveryQueue, from file: StoreFile) throws(StoreFailure) {
        let limit = min(queue.room, Self.rowsPerReading)
        let rows = try file.deliveries(for: queue.name, behind: queue.readTicket, limit: limit)
        if rows.isEmpty { queue.waitingInFile = 0 }
        var deliveries: [Delivery] = []
        for row in rows {
            queue.readTicket = row.ticket
            guard !queue.unacknowledged.contains(row.ticket), !queue.done.contains(row.ticket) else { continue }
            queue.waitingInFile = max(0, queue.waitingInFile - 1)
            queue.hand(row.ticket, row.event)
            if let event = row.event {
                var delivery = Delivery(event: event, ticket: row.ticket)
                delivery.isOfEarlierRun = row.ticket < firstTicket
                deliveries.append(delivery)
            } else {
                // An unreadable row must not block the rows after it.
                _ = queue.acknowledge(row.ticket)
                reports.statistics.unreadableCount += 1
                reports.drop(queue.name, "its row in the store cannot be read")
            }
        }
        give(deliveries, to: queue)
    }

    /// Passes a handler what it accepts of its waiting deliveries, and removes the others.
    private func give(_ deliveries: [Delivery], to queue: DeliveryQueue) {
        var accepted: [Delivery] = []
        for delivery in deliveries {
            guard !accepts(queue.name, delivery.event) else {
                accepted.append(delivery)
                continue
            }
            _ = queue.acknowledge(delivery.ticket)
            reports.removeDeliveries(of: queue.name, "its `on` or `detector` does not name them any more", count: 1)
        }
        queue.give(accepted)
    }
}

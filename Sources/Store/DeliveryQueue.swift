import Binnacle

/// The deliveries of one handler: in the file, in memory, and handed over.
final class DeliveryQueue {
    let name: String
    /// Maximum number of unacknowledged deliveries.
    var limit = 1
    /// Takes deliveries; `nil` while no handler is attached.
    var deliver: (([Delivery]) -> Void)? {
        didSet { knowsPrevious = false }
    }
    /// The event of the newest delivery that was acknowledged.
    private(set) var previous: EventNumber?
    private var previousTicket = Int64.min
    /// Whether the handler was told that.
    private var knowsPrevious = false
    /// The events of the deliveries that were handed over.
    private var numbers: [Int64: EventNumber] = [:]
    /// The number of rows that the handler was not given.
    var waitingInFile = 0
    /// The ticket behind which the next row is read; `nil` is the beginning.
    var readTicket: Int64?
    /// Acknowledged tickets whose rows are still in the file.
    private(set) var done: Set<Int64> = []
    /// Tickets that the handler has.
    private(set) var unacknowledged: Set<Int64> = []
    /// Tickets that a detached handler had, and may still acknowledge.
    private var returned: Set<Int64> = []
    /// Deliveries that could not be stored: first those that the handler has.
    private(set) var memory: [Delivery] = []
    private var handedMemoryCount = 0
    private var highestTicket: Int64 = 0
    private let storedPosition: Int64

    static let memoryCapacity = 4096

    /// Creates a queue without deliveries; `position` is the handler's cursor in the file.
    init(name: String, position: Int64 = 0) {
        self.name = name
        storedPosition = position
    }

    /// How many more deliveries the handler may be given.
    var room: Int { deliver == nil ? 0 : max(0, limit - unacknowledged.count) }

    var waitingInMemory: Int { memory.count - handedMemoryCount }

    /// The number of deliveries that the handler was not given.
    var waitingCount: Int { waitingInFile + waitingInMemory }

    /// The cursor: the ticket up to which everything that was handed over is acknowledged.
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

    /// Recalls the newest event that was acknowledged in an earlier run.
    func recall(_ previous: EventNumber?) {
        self.previous = self.previous ?? previous
    }

    /// Gives the handler deliveries that are noted as given.
    func give(_ deliveries: [Delivery]) {
        guard let deliver, !deliveries.isEmpty else { return }
        var deliveries = deliveries
        if !knowsPrevious { deliveries[0].previous = previous }
        knowsPrevious = true
        deliver(deliveries)
    }

    /// Notes that the handler was given a delivery of an event; `nil` for one that cannot be read.
    func hand(_ ticket: Int64, _ event: Event?) {
        numbers[ticket] = event.map { EventNumber($0) }
        unacknowledged.insert(ticket)
        returned.remove(ticket)
        highestTicket = max(highestTicket, ticket)
    }

    /// Notes the acknowledgement of the handler, or of the detached one before it; `false` when neither had the delivery.
    func acknowledge(_ ticket: Int64) -> Bool {
        let wasHanded = unacknowledged.remove(ticket) != nil
        // A detached handler finishes what it has begun, and its successor must not do that again.
        guard wasHanded || returned.remove(ticket) != nil else { return false }
        if let number = numbers.removeValue(forKey: ticket), ticket > previousTicket {
            (previous, previousTicket) = (number, ticket)
        }
        if let index = memory.firstIndex(where: { $0.ticket == ticket }) {
            memory.remove(at: index)
            if wasHanded { handedMemoryCount -= 1 }
        } else {
            if !wasHanded { waitingInFile = max(0, waitingInFile - 1) }
            done.insert(ticket)
        }
        return true
    }

    /// Sets the queue back to the first delivery that is not acknowledged, for the next handler of this name.
    func rewind() {
        waitingInFile += unacknowledged.count - handedMemoryCount
        handedMemoryCount = 0
        returned.formUnion(unacknowledged)
        unacknowledged.removeAll()
        readTicket = nil
    }

    // MARK: - Memory

    /// Keeps a delivery that could not be stored; `false` when there is no room for it.
    func remember(_ delivery: Delivery) -> Bool {
        guard waitingInMemory < Self.memoryCapacity else { return false }
        memory.append(delivery)
        return true
    }

    /// Takes from memory what the handler has room for.
    func removeFromMemory() -> [Delivery] {
        let taken = memory[handedMemoryCount...].prefix(room)
        handedMemoryCount += taken.count
        for delivery in taken { hand(delivery.ticket, delivery.event) }
        return Array(taken)
    }

    /// Notes that everything in memory was stored.
    func didStoreMemory() {
        waitingInFile += waitingInMemory
        memory.removeAll()
        handedMemoryCount = 0
    }

    // MARK: - Removed rows

    /// Notes that the rows of all acknowledged deliveries were removed.
    func didRemoveDone() { done.removeAll() }

    /// Forgets rows that were removed to keep the file within its limits, none of which the handler has now.
    ///
    /// Returns how many of them were not acknowledged.
    func forgetWaiting(_ tickets: [Int64]) -> Int {
        let count = tickets.count { !done.contains($0) }
        returned.subtract(tickets)
        done.subtract(tickets)
        for ticket in tickets { numbers[ticket] = nil }
        waitingInFile = max(0, waitingInFile - count)
        return count
    }

    /// Forgets the tickets of a detached handler that are neither in memory nor in the file.
    func forgetReturned(unless holds: (Int64) throws(StoreFailure) -> Bool) throws(StoreFailure) {
        for ticket in returned where !memory.contains(where: { $0.ticket == ticket }) {
            guard try !holds(ticket) else { continue }
            returned.remove(ticket)
            numbers[ticket] = nil
        }
    }
}

import Binnacle

/// The deliveries of one handler: in the file, in memory, and with the handler.
final class DeliveryQueue {
    let name: String
    var limit = 1
    /// Receives deliveries; `nil` while no handler is attached.
    var deliver: (([Delivery]) -> Void)? {
        didSet { knowsPrevious = false }
    }
    /// The event of the newest acknowledged delivery.
    private(set) var previous: EventNumber?
    private var previousTicket = Int64.min
    /// Whether that event was passed to the handler.
    private var knowsPrevious = false
    /// The events of the deliveries that the handler has.
    private var numbers: [Int64: EventNumber] = [:]
    /// The number of rows that wait for the handler.
    var waitingInFile = 0
    /// The ticket after which the next row is read; `nil` is the beginning.
    var readTicket: Int64?
    /// Acknowledged tickets whose rows are still in the file.
    private(set) var done: Set<Int64> = []
    private(set) var unacknowledged: Set<Int64> = []
    /// Tickets that a detached handler had and may still acknowledge.
    private var returned: Set<Int64> = []
    /// Deliveries that could not be stored; those that the handler has come first.
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

    /// The number of further deliveries that the handler accepts.
    var room: Int { deliver == nil ? 0 : max(0, limit - unacknowledged.count) }

    var waitingInMemory: Int { memory.count - handedMemoryCount }

    /// The number of deliveries that wait for the handler.
    var waitingCount: Int { waitingInFile + waitingInMemory }

    /// The cursor: the ticket up to which all deliveries are acknowledged.
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

    /// Loads the newest event that was acknowledged in an earlier run.
    func recall(_ previous: EventNumber?) {
        self.previous = self.previous ?? previous
    }

    /// Passes recorded deliveries to the handler.
    func give(_ deliveries: [Delivery]) {
        guard let deliver, !deliveries.isEmpty else { return }
        var deliveries = deliveries
        if !knowsPrevious { deliveries[0].previous = previous }
        knowsPrevious = true
        deliver(deliveries)
    }

    /// Records that the handler has the delivery of an event; `nil` for an unreadable one.
    func hand(_ ticket: Int64, _ event: Event?) {
        numbers[ticket] = event.map { EventNumber($0) }
        unacknowledged.insert(ticket)
        returned.remove(ticket)
        highestTicket = max(highestTicket, ticket)
    }

    /// Records an acknowledgement by the handler or its detached predecessor; `false` when neither had the delivery.
    func acknowledge(_ ticket: Int64) -> Bool {
        let wasHanded = unacknowledged.remove(ticket) != nil
        // A detached handler finishes what it has begun, and its successor must not repeat that.
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

    /// Returns to the first delivery that is not acknowledged, for the handler's successor.
    func rewind() {
        waitingInFile += unacknowledged.count - handedMemoryCount
        handedMemoryCount = 0
        returned.formUnion(unacknowledged)
        unacknowledged.removeAll()
        readTicket = nil
    }

    // MARK: - Memory

    /// Keeps a delivery that could not be stored; `false` when memory is full.
    func remember(_ delivery: Delivery) -> Bool {
        guard waitingInMemory < Self.memoryCapacity else { return false }
        memory.append(delivery)
        return true
    }

    /// Removes from memory what the handler accepts.
    func removeFromMemory() -> [Delivery] {
        let taken = memory[handedMemoryCount...].prefix(room)
        handedMemoryCount += taken.count
        for delivery in taken { hand(delivery.ticket, delivery.event) }
        return Array(taken)
    }

    func didStoreMemory() {
        waitingInFile += waitingInMemory
        memory.removeAll()
        handedMemoryCount = 0
    }

    // MARK: - Removed rows

    /// Records that the rows of all acknowledged deliveries were removed.
    func didRemoveDone() { done.removeAll() }

    /// Removes rows from the counts that were deleted to keep the file within its limits; the handler has none of them now.
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

    /// Removes the tickets of a detached handler that are neither in memory nor in the file.
    func forgetReturned(unless holds: (Int64) throws(StoreFailure) -> Bool) throws(StoreFailure) {
        for ticket in returned where !memory.contains(where: { $0.ticket == ticket }) {
            guard try !holds(ticket) else { continue }
            returned.remove(ticket)
            numbers[ticket] = nil
        }
    }
}

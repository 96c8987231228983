import Binnacle
import Glibc
import LinuxSystem

/// Collects events and deliveries, stores them in one transaction, and syncs the file's log to the disk.
struct Committer {
    /// The group: the deliveries for handlers and the log, each with its event's line of JSON.
    private(set) var items: [(delivery: Delivery, published: PublishedEvent)] = []
    /// The times of the first and the last commit that the disk may lack.
    private var changedNanoseconds: Int64?
    private var lastChangeNanoseconds: Int64?
    private let logSync: LogSync

    /// Maximum number of items in one transaction: it bounds how long an event waits for those before it.
    private static let capacity = 1024
    /// The approximate size of an item in the log.
    private static let bytesPerItem = 1024
    /// Interval between syncs of the log, with `synchronous = NORMAL`.
    private static let syncNanoseconds: Int64 = 1_000_000_000
    /// The time after the last change at which the log is merged into the file.
    private static let idleNanoseconds: Int64 = 10_000_000_000

    init(_ logSync: LogSync) {
        self.logSync = logSync
    }

    // MARK: - The group

    /// Whether the group is full; the group of a small store does not outgrow its log.
    func isFull(_ settings: EventStoreSettings) -> Bool {
        items.count >= min(Self.capacity, settings.logBytes / Self.bytesPerItem)
    }

    var events: [PublishedEvent] { items.filter { $0.delivery.handler == nil }.map(\.published) }

    mutating func add(_ added: [Delivery], _ deliveries: inout Deliveries) {
        for var delivery in added {
            if delivery.handler != nil { delivery.ticket = deliveries.makeTicket() }
            items.append((delivery, line(of: delivery.event)))
        }
    }

    /// The event with its line of JSON, reused from one of the last items if possible.
    private func line(of event: Event) -> PublishedEvent {
        items.suffix(4).last { $0.delivery.event == event }?.published ?? PublishedEvent(event)
    }

    /// Stores the items and removes the acknowledged deliveries in one transaction.
    ///
    /// Returns the number of stored events; numbers of the others may belong to other events.
    func store(in file: StoreFile, _ deliveries: Deliveries) throws(StoreFailure) -> Int {
        var highest: UInt64 = 0
        let count = try file.transaction { () throws(StoreFailure) in
            try deliveries.removeDone(from: file)
            var count = 0
            for (delivery, published) in items {
                if let handler = delivery.handler {
                    try file.insert(delivery.ticket, for: handler, published)
                } else if try file.append(published) {
                    count += 1
                    highest = max(highest, delivery.event.sequence)
                }
            }
            try file.reserve(behind: max(highest, file.lastSequence))
            return count
        }
        file.didStore(through: highest)
        return count
    }

    /// Removes the items after they were passed on.
    mutating func removeAll() {
        items.removeAll(keepingCapacity: items.capacity <= 2 * Self.capacity)
    }

    // MARK: - The log

    /// Records a commit that the disk may lack.
    mutating func didChange(at now: Int64) {
        changedNanoseconds = changedNanoseconds ?? now
        lastChangeNanoseconds = now
    }

    /// When ``tendLog(of:_:at:)`` has work to do.
    var dueNanoseconds: Int64? {
        [
            changedNanoseconds.map { $0 + Self.syncNanoseconds },
            lastChangeNanoseconds.map { $0 + Self.idleNanoseconds },
        ].compactMap { $0 }.min()
    }

    /// Syncs and merges the log when due, and returns whether a second has passed since the last commit; SQLite merges a long log
    /// itself.
    mutating func tendLog(
        of file: StoreFile, _ settings: EventStoreSettings, at now: Int64
    ) throws(StoreFailure) -> Bool {
        if let since = lastChangeNanoseconds, now - since >= Self.idleNanoseconds {
            lastChangeNanoseconds = nil
            try file.mergeLog()
        }
        guard let since = changedNanoseconds, now - since >= Self.syncNanoseconds else { return false }
        changedNanoseconds = nil
        if settings.synchronous == .normal { logSync.begin(file.place.log) }
        return true
    }
}

/// Syncs a log on its own thread, in parallel to the store's thread.
///
/// `synchronous = NORMAL` needs no more: after a power cut SQLite recovers what is in the log.
final class LogSync: Sendable {
    private let courier: Courier<BoundedQueue<Descriptor>>

    init() throws(SystemError) {
        courier = try Courier(BoundedQueue(capacity: 1))
        try courier.startBatches { { logs in for log in logs { _ = fdatasync(log.raw) } } }
    }

    deinit {
        courier.requestStop()
    }

    /// Begins a sync, unless one is in progress.
    ///
    /// A failure is not reported here, because the next checkpoint fails, too. SQLite holds no lock on a log, so closing a
    /// descriptor of it releases none.
    func begin(_ path: String) {
        guard let log = try? Descriptor(path: path, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else { return }
        _ = courier.put(log)
    }
}

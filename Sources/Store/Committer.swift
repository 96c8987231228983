import Binnacle
import Glibc
import LinuxSystem

/// Gathers events and deliveries, stores them in one transaction, and brings the file's log to the disk.
struct Committer {
    /// The group: what handlers and the log are to get, with its line of JSON.
    private(set) var items: [(delivery: Delivery, published: PublishedEvent)] = []
    /// Since when the disk may lack something, and when the last of it was stored.
    private var changedNanoseconds: Int64?
    private var lastChangeNanoseconds: Int64?
    private let logSync: LogSync

    /// Maximum number of items in one transaction: it bounds how long an event waits for those before it.
    private static let capacity = 1024
    /// What an item takes in the log, roughly.
    private static let bytesPerItem = 1024
    /// Interval between syncs of the log, with `synchronous = NORMAL`.
    private static let syncNanoseconds: Int64 = 1_000_000_000
    /// How long after the last change the log is merged into the file.
    private static let idleNanoseconds: Int64 = 10_000_000_000

    init(_ logSync: LogSync) {
        self.logSync = logSync
    }

    // MARK: - The group

    /// Whether the group is as large as it may get; that of a small store does not outgrow its log.
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

    /// The event with its line of JSON, which one of the last items may have already.
    private func line(of event: Event) -> PublishedEvent {
        items.suffix(4).last { $0.delivery.event == event }?.published ?? PublishedEvent(event)
    }

    /// Stores the items, and removes the acknowledged deliveries, in one transaction.
    ///
    /// Returns the number of stored events; the others have numbers that may be other events'.
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

    /// Forgets the items, which were handed on.
    mutating func removeAll() {
        items.removeAll(keepingCapacity: items.capacity <= 2 * Self.capacity)
    }

    // MARK: - The log

    /// Notes a commit that the disk may lack.
    mutating func didChange(at now: Int64) {
        changedNanoseconds = changedNanoseconds ?? now
        lastChangeNanoseconds = now
    }

    /// When ``tendLog(of:_:at:)`` has something to do.
    var dueNanoseconds: Int64? {
        [
            changedNanoseconds.map { $0 + Self.syncNanoseconds },
            lastChangeNanoseconds.map { $0 + Self.idleNanoseconds },
        ].compactMap { $0 }.min()
    }

    /// Syncs and merges the log when that is due; SQLite merges a long log by itself.
    ///
    /// Returns whether a second has passed since something was stored.
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

/// Syncs a log on a thread of its own, while the store's thread goes on.
///
/// `synchronous = NORMAL` takes no more: after a power cut SQLite finds what is in the log.
final class LogSync: Sendable {
    private let courier: Courier<BoundedQueue<Descriptor>>

    init() throws(SystemError) {
        courier = try Courier(BoundedQueue(capacity: 1))
        try courier.startBatches { { logs in for log in logs { _ = fdatasync(log.raw) } } }
    }

    deinit {
        courier.requestStop()
    }

    /// Begins a sync, unless one is under way.
    ///
    /// A failure is not reported here: the next checkpoint meets it, too. SQLite holds no lock on a log, so that closing
    /// a descriptor of it gives up none.
    func begin(_ path: String) {
        guard let log = try? Descriptor(path: path, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else { return }
        _ = courier.put(log)
    }
}

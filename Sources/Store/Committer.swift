import Binnacle
import Glibc
import LinuxSystem

/// Gathers events and deliveries, stores them in one transaction, and brings the file's log to the disk.
struct Committer {
    /// Something that is stored and then handed on.
    enum Item {
        case event(PublishedEvent)
        case delivery(PublishedEvent, ticket: Int64, DeliveryLane)
    }

    /// What is gathered.
    private(set) var items: [Item] = []
    /// Since when the disk may lack something, and when the last of it was stored.
    private var changedNanoseconds: Int64?
    private var lastChangeNanoseconds: Int64?
    /// Whether the log is synced before it is merged.
    private var isSyncingLog = false
    private let logSync: LogSync

    /// The most items of one transaction: it bounds how long an event waits for those before it.
    private static let capacity = 1024
    /// How often the log is synced, with `synchronous = NORMAL`.
    private static let syncNanoseconds: Int64 = 1_000_000_000
    /// How long after the last change the log is merged into the file; a long log is merged earlier.
    private static let idleNanoseconds: Int64 = 10_000_000_000

    init(_ logSync: LogSync) {
        self.logSync = logSync
    }

    // MARK: - The group

    /// Whether so many items are gathered that they have to be stored now.
    var isFull: Bool { items.count >= Self.capacity }

    /// The events among the items.
    var events: [PublishedEvent] {
        items.compactMap { item in
            guard case .event(let event) = item else { return nil }
            return event
        }
    }

    /// Adds what belongs together.
    mutating func add(_ entries: [StoreEntry], _ deliveries: inout Deliveries) {
        for entry in entries {
            if let handler = entry.handler {
                items.append(
                    .delivery(
                        line(of: entry.event), ticket: deliveries.makeTicket(), deliveries.lane(handler)))
            } else {
                items.append(.event(PublishedEvent(entry.event)))
            }
        }
    }

    /// The event with its line; what was appended last is often submitted next, and its line is written already.
    private func line(of event: Event) -> PublishedEvent {
        for item in items.suffix(4).reversed() {
            switch item {
            case .event(let published), .delivery(let published, _, _):
                if published.event == event { return published }
            }
        }
        return PublishedEvent(event)
    }

    /// Stores the items, and removes the deliveries that are done, in one transaction.
    ///
    /// - Returns: How many events are new in the file; the others have numbers that may be other events'.
    func store(in file: StoreFile, _ deliveries: Deliveries) throws(SQLiteError) -> Int {
        var highest: UInt64 = 0
        let count = try file.transaction { () throws(SQLiteError) in
            try deliveries.removeDone(from: file)
            var count = 0
            for item in items {
                switch item {
                case .event(let event):
                    guard try file.append(event) else { continue }
                    count += 1
                    highest = max(highest, event.event.sequence)
                case .delivery(let event, let ticket, let lane):
                    try file.insert(ticket, for: lane.name, event)
                }
            }
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

    /// Notes that the file has something that the disk may lack.
    mutating func didChange(at now: Int64) {
        changedNanoseconds = changedNanoseconds ?? now
        lastChangeNanoseconds = now
    }

    /// When something has to be done for the log.
    var dueNanoseconds: Int64? {
        let due = [
            changedNanoseconds.map { $0 + Self.syncNanoseconds },
            lastChangeNanoseconds.map { $0 + Self.idleNanoseconds },
        ]
        return due.compactMap { $0 }.min()
    }

    /// Does what is due for the log.
    ///
    /// - Returns: Whether a second has passed since something was stored.
    mutating func tendLog(
        of file: StoreFile, _ settings: EventStoreSettings, at now: Int64
    ) throws(SQLiteError) -> Bool {
        try shortenLog(of: file, settings)
        if let since = lastChangeNanoseconds, now - since >= Self.idleNanoseconds {
            lastChangeNanoseconds = nil
            try file.database.checkpoint(truncates: true)
        }
        guard let since = changedNanoseconds, now - since >= Self.syncNanoseconds else { return false }
        changedNanoseconds = nil
        if settings.synchronous == .normal { logSync.begin(file.place.log) }
        return true
    }

    /// Merges a log that has become long into the file.
    ///
    /// Each commit writes all pages that it touches into the log, and many of them are one page of the file: merging
    /// rarely is less work. Merging waits for the disk twice, for the log and for the file; the other thread does most
    /// of the first wait before.
    private mutating func shortenLog(of file: StoreFile, _ settings: EventStoreSettings) throws(SQLiteError) {
        // An eighth of what the file may have, between 1 MB and 16 MB.
        let limit = Int(min(max(settings.keepMegabytes * 1e6 / 4096 / 8, 256), 4096))
        let count = file.database.logPageCount
        guard count > limit else { return }
        if settings.synchronous == .normal, count < limit * 2 {
            if !isSyncingLog { logSync.begin(file.place.log) }
            isSyncingLog = true
            guard logSync.isIdle else { return }
        }
        isSyncingLog = false
        try file.database.checkpoint()
    }
}

/// Brings a log to the disk on a thread of its own: the store's thread goes on meanwhile.
///
/// `synchronous = NORMAL` takes no more: after a power cut SQLite finds what is in the log.
final class LogSync: Sendable {
    private let courier: Courier<BoundedQueue<Descriptor>>

    /// Starts the thread.
    init() throws(SystemError) {
        courier = try Courier(BoundedQueue(capacity: 1))
        try courier.startBatches { { logs in for log in logs { _ = fdatasync(log.raw) } } }
    }

    deinit {
        courier.requestStop()
    }

    /// Begins to bring a log to the disk, unless that is under way.
    ///
    /// A failure is not told here: the next checkpoint meets it, too. SQLite holds no lock on a log, so that closing a
    /// descriptor of it gives up none.
    func begin(_ path: String) {
        guard let log = try? Descriptor(path: path, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else { return }
        _ = courier.put(log)
    }

    /// Whether everything that was begun is done.
    var isIdle: Bool { courier.withContent { $0.unfinishedCount == 0 } }
}

package import Binnacle
package import LinuxSystem
import Synchronization

/// Keeps events in a file: each is stored first, and handed on then.
///
/// Everything that is done with the file is done by one thread, which has a bounded queue; no other thread waits for it.
/// What waits in the queue is stored in one transaction, a group commit, so that the disk is asked once for all of it.
/// When nothing can be stored, events and deliveries go on from memory, and that is reported.
package final class EventStore: Sendable {
    typealias Inbox = Courier<BoundedQueue<StoreRequest>>

    struct Listeners: Sendable {
        let report: @Sendable (Event) -> Void
        let publish: @Sendable ([PublishedEvent]) -> Void
        let onSequence: @Sendable (_ number: UInt64, _ identity: String) -> Void
        let onConflict: (@Sendable (_ reason: String) -> Void)?
    }

    /// Maximum number of events and deliveries that wait to be stored.
    package static let capacity = 65_536

    private let inbox: Inbox
    private let snapshot: StoreSnapshot
    private let drops: EventDrops

    /// Starts the thread, which opens the file; a file that cannot be opened is reported, and tried again.
    ///
    /// - Parameters:
    ///   - settings: The path of the file, how safely commits are made, and how much is kept.
    ///   - clock: The clocks; others are for tests.
    ///   - capacity: Maximum number of events and deliveries that wait to be stored.
    ///   - report: Takes events about the store, on any thread.
    ///   - publish: Takes the events in the order of ``store(_:)``, on the store's thread, when they are in the file or
    ///     will never be.
    ///   - onSequence: Told on the store's thread after which number sequence numbers continue, and what they belong to:
    ///     once when the file was opened, or could not be, and again whenever one of both changes.
    ///   - onConflict: Told on the store's thread, instead of `onSequence`, that another daemon has the file.
    /// - Throws: ``SystemError`` when there is no descriptor or no thread left.
    package init(
        _ settings: EventStoreSettings, clock: StoreClock = StoreClock(), capacity: Int = EventStore.capacity,
        report: @escaping @Sendable (Event) -> Void, publish: @escaping @Sendable ([PublishedEvent]) -> Void,
        onSequence: @escaping @Sendable (_ number: UInt64, _ identity: String) -> Void = { _, _ in },
        onConflict: (@Sendable (_ reason: String) -> Void)? = nil
    ) throws(SystemError) {
        let inbox = try Inbox(BoundedQueue(capacity: capacity))
        let snapshot = StoreSnapshot(path: settings.path)
        let logSync = try LogSync()
        let listeners = Listeners(report: report, publish: publish, onSequence: onSequence, onConflict: onConflict)
        self.inbox = inbox
        self.snapshot = snapshot
        drops = EventDrops(
            handler: nil, reason: "more than \(capacity) events wait for the event store", report: report)
        try inbox.start {
            // SQLite's connection never leaves the thread.
            StoreWorker(
                settings, clock: clock, listeners: listeners, snapshot: snapshot, inbox: inbox, logSync: logSync
            ).run()
        }
    }

    deinit {
        inbox.requestStop()
    }

    /// Whether the file was opened, or could not be; ``EventStoreStatistics/lastSequence`` is known then.
    package var isOpened: Bool { snapshot.current.isOpened }

    /// Stores events and deliveries in one transaction, and hands them on then.
    ///
    /// What there is no room for is dropped, counted and reported.
    package func store(_ entries: [Delivery]) {
        guard !entries.isEmpty, inbox.put(.store(entries), load: entries.count) != .taken else { return }
        for entry in entries where !EventKind.reports.contains(entry.event.kind) {
            // A report about a dropped report could be dropped, too.
            drops.add(entry.event)
        }
    }

    // MARK: - Handlers

    /// Gives a handler its deliveries, beginning with the first one that was not acknowledged.
    ///
    /// At most `limit` are unacknowledged; the others wait in the file. `deliver` takes them in their order, on the store's
    /// thread, without waiting.
    package func attach(_ handler: String, limit: Int, deliver: @escaping @Sendable ([Delivery]) -> Void) {
        _ = inbox.put(.attach(handler: handler, limit: limit, deliver: deliver), load: 0)
    }

    /// Sets the configured handlers: what waits for them is not removed because of its age or its number.
    ///
    /// Until this is called, that holds for all handlers. To be called whenever the configuration changes, before
    /// handlers are attached.
    package func expect(_ handlers: Set<String>) {
        _ = inbox.put(.expect(handlers), load: 0)
    }

    /// Stops giving deliveries to a handler; it may get some until the store's thread has taken this request.
    package func detach(_ handler: String) {
        _ = inbox.put(.detach(handler: handler), load: 0)
    }

    /// Acknowledges a delivery; its row is removed from the file within a tenth of a second.
    package func acknowledge(_ handler: String, _ ticket: Int64) {
        _ = inbox.put(.acknowledge(handler: handler, ticket: ticket), load: 0)
    }

    // MARK: - Settings and statistics

    /// Changes the settings, but for the path.
    package func change(_ settings: EventStoreSettings) {
        _ = inbox.put(.change(settings), load: 0)
    }

    /// The statistics, without asking the disk: the size of the file may be a second old.
    package var statistics: EventStoreStatistics {
        var statistics = snapshot.current.statistics
        statistics.queueCount = inbox.withContent { $0.load }
        statistics.droppedCount += drops.totalCount
        return statistics
    }

    // MARK: - End

    /// Accepts nothing more; what was accepted is stored, and the file closed.
    package func finish() {
        inbox.requestStop()
    }

    /// Waits until everything is stored and the file closed, after ``finish()``; `false` when the time is over before.
    package func waitForEnd(until deadlineNanoseconds: Int64) -> Bool {
        drops.reportRest()
        return inbox.waitForEnd(until: deadlineNanoseconds)
    }

    /// Whether the thread has ended, after ``finish()``.
    package var hasEnded: Bool { inbox.hasEnded }
}

extension EventStore {
    /// A new identity of a count: 128 random bits in hexadecimal.
    package static func makeIdentity() -> String { StoreFile.randomIdentity() }
}

extension EventStore: EventHistory {
    /// Identifies the store that the sequence numbers belong to: it is made with the file, and stays with it.
    ///
    /// While there was no file, it belongs to this process.
    package var identity: String { snapshot.current.identity }

    /// Reads a page of events, behind everything that was stored before; the reply comes on the store's thread.
    package func read(_ query: EventQuery, reply: @escaping @Sendable (EventPage) -> Void) {
        guard inbox.put(.read(query, reply: reply), load: 0) == .stopped else { return }
        var page = EventPage(failure: "the event store is closed")
        page.isClosed = true
        reply(page)
    }
}

/// Gathers what the chains of a turn have for the store, so that an event and its deliveries are stored together.
///
/// An event that is in the file without its deliveries would never reach its handlers after a kill.
package final class StoreInlet {
    /// Where the entries go.
    package let store: EventStore
    private var entries: [Delivery] = []

    /// Creates an inlet without entries.
    package init(_ store: EventStore) {
        self.store = store
    }

    /// The end of the chain for the log.
    package var log: any EventHandler { ClosureHandler { [unowned self] in entries.append(Delivery(event: $0)) } }

    /// The end of the chain for a handler.
    package func queue(_ handler: String) -> any EventHandler {
        ClosureHandler { [unowned self] in entries.append(Delivery(event: $0, for: handler)) }
    }

    /// Gives the entries to the store; called at the end of each turn.
    package func flush() {
        store.store(entries)
        entries = []
    }
}

/// A request to the store's thread; requests are handled in their order.
enum StoreRequest: Sendable {
    case store([Delivery])
    case attach(handler: String, limit: Int, deliver: @Sendable ([Delivery]) -> Void)
    case detach(handler: String)
    case expect(Set<String>)
    case acknowledge(handler: String, ticket: Int64)
    case read(EventQuery, reply: @Sendable (EventPage) -> Void)
    case change(EventStoreSettings)
}

/// What the store's thread shows to other threads.
final class StoreSnapshot: Sendable {
    struct Values {
        var identity = StoreFile.randomIdentity()
        var statistics: EventStoreStatistics
        var isOpened = false
    }

    private let values: Mutex<Values>

    init(path: String) {
        values = Mutex(Values(statistics: EventStoreStatistics(path: path)))
    }

    var current: Values { values.withLock { $0 } }

    func update(_ change: (inout Values) -> Void) { values.withLock { change(&$0) } }
}

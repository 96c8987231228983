package import Binnacle
package import LinuxSystem

/// Keeps events in a file: each is stored first and then passed on.
///
/// A single thread with a bounded queue does all work with the file; no other thread waits for it. All queued items are stored in
/// one transaction, a group commit, so that they share one write to the disk. When nothing can be stored, events and deliveries
/// are passed on from memory, and that is reported.
package final class EventStore: Sendable {
    typealias Inbox = Courier<BoundedQueue<StoreRequest>>

    struct Listeners: Sendable {
        let report: @Sendable (Event) -> Void
        let publish: @Sendable ([PublishedEvent]) -> Void
        let onSequence: @Sendable (_ number: UInt64, _ identity: String) -> Void
        let onConflict: (@Sendable (_ reason: String) -> Void)?
    }

    /// Maximum number of queued events and deliveries.
    package static let capacity = 65_536

    private let inbox: Inbox
    private let gauges: Gauges<StoreSnapshot>
    private let drops: EventDrops

    /// Starts the thread, which opens the file; a file that cannot be opened is reported and retried.
    ///
    /// - Parameters:
    ///   - settings: The path of the file, the safety of commits, and the limits.
    ///   - clock: The clocks; others are for tests.
    ///   - capacity: Maximum number of queued events and deliveries.
    ///   - report: Receives events about the store, on any thread.
    ///   - publish: Receives events in the order of ``store(_:)``, on the store's thread, after they are stored or have failed to
    ///     be.
    ///   - onSequence: Called on the store's thread with the last sequence number and the identity: once after the first attempt
    ///     to open the file, and after each change of one of them.
    ///   - onConflict: Called on the store's thread instead of `onSequence` when another daemon has the file.
    /// - Throws: ``SystemError`` when no descriptor or thread is available.
    package init(
        _ settings: EventStoreSettings, clock: StoreClock = StoreClock(), capacity: Int = EventStore.capacity,
        report: @escaping @Sendable (Event) -> Void, publish: @escaping @Sendable ([PublishedEvent]) -> Void,
        onSequence: @escaping @Sendable (_ number: UInt64, _ identity: String) -> Void = { _, _ in },
        onConflict: (@Sendable (_ reason: String) -> Void)? = nil
    ) throws(SystemError) {
        let inbox = try Inbox(BoundedQueue(capacity: capacity))
        let gauges = Gauges(StoreSnapshot(statistics: EventStoreStatistics(path: settings.path)))
        let logSync = try LogSync()
        let listeners = Listeners(report: report, publish: publish, onSequence: onSequence, onConflict: onConflict)
        self.inbox = inbox
        self.gauges = gauges
        drops = EventDrops(
            handler: nil, reason: "more than \(capacity) events wait for the event store", report: report)
        try inbox.start {
            // SQLite's connection never leaves the thread.
            StoreWorker(
                settings, clock: clock, listeners: listeners, gauges: gauges, inbox: inbox, logSync: logSync
            ).run()
        }
    }

    deinit {
        inbox.requestStop()
    }

    /// Whether the file was opened, or could not be; ``EventStoreStatistics/lastSequence`` is known then.
    package var isOpened: Bool { gauges.values.isOpened }

    /// Stores events and deliveries in one transaction, and then passes them on; beyond the capacity they are dropped, counted
    /// and reported.
    package func store(_ entries: [Delivery]) {
        guard !entries.isEmpty, inbox.put(.store(entries), load: entries.count) != .taken else { return }
        for entry in entries where !EventKind.reports.contains(entry.event.kind) {
            // A report about a dropped report might be dropped, too.
            drops.add(entry.event)
        }
    }

    // MARK: - Handlers

    /// Passes a handler its deliveries, from the first one that was not acknowledged.
    ///
    /// At most `limit` are unacknowledged; the others wait in the file. `deliver` receives them in order, on the store's thread,
    /// and must not wait.
    package func attach(_ handler: String, limit: Int, deliver: @escaping @Sendable ([Delivery]) -> Void) {
        _ = inbox.put(.attach(handler: handler, limit: limit, deliver: deliver), load: 0)
    }

    /// Sets the configured handlers, whose waiting deliveries are not removed for their age or number.
    ///
    /// Until the first call this holds for all handlers. Call it after each change of the configuration, before handlers are
    /// attached. What waits for a handler that does not accept it is removed, counted and reported instead of passed to it: an
    /// earlier handler of the name may have been for other events. `accepts` is called on the store's thread.
    package func expect(
        _ handlers: Set<String>, accepts: @escaping @Sendable (_ handler: String, Event) -> Bool = { _, _ in true }
    ) {
        _ = inbox.put(.expect(handlers, accepts: accepts), load: 0)
    }

    /// Stops passing deliveries to a handler; it may get some until the store's thread handles this request.
    package func detach(_ handler: String) {
        _ = inbox.put(.detach(handler: handler), load: 0)
    }

    /// Acknowledges a delivery; its row is removed from the file within a tenth of a second.
    package func acknowledge(_ handler: String, _ ticket: Int64) {
        _ = inbox.put(.acknowledge(handler: handler, ticket: ticket), load: 0)
    }

    // MARK: - Settings and statistics

    /// Changes the settings except for the path.
    package func change(_ settings: EventStoreSettings) {
        _ = inbox.put(.change(settings), load: 0)
    }

    /// The statistics, without disk access: the size of the file may be a second old.
    package var statistics: EventStoreStatistics {
        var statistics = gauges.values.statistics
        statistics.queueCount = inbox.withContent { $0.load }
        statistics.droppedCount += drops.totalCount
        return statistics
    }

    // MARK: - End

    /// Accepts nothing more, stores what was accepted, and closes the file.
    package func finish() {
        inbox.requestStop()
    }

    /// Waits until everything is stored and the file is closed, after ``finish()``; `false` on timeout.
    package func waitForEnd(until deadlineNanoseconds: Int64) -> Bool {
        drops.reportRest()
        return inbox.waitForEnd(until: deadlineNanoseconds)
    }

    /// Whether the thread has ended, after ``finish()``.
    package var hasEnded: Bool { inbox.hasEnded }
}

extension EventStore {
    /// A new identity of a sequence: 128 random bits in hexadecimal.
    package static func makeIdentity() -> String { StoreFile.randomIdentity() }
}

extension EventStore: EventHistory {
    /// Identifies the store that the sequence numbers belong to: it is made with the file, and stays with it.
    ///
    /// While there was no file, it belongs to this process.
    package var identity: String { gauges.values.identity }

    /// Reads a page of events, including everything passed to the store before; `reply` is called on the store's thread.
    package func read(_ query: EventQuery, reply: @escaping @Sendable (EventPage) -> Void) {
        guard inbox.put(.read(query, reply: reply), load: 0) == .stopped else { return }
        var page = EventPage(failure: "the event store is closed")
        page.isClosed = true
        reply(page)
    }
}

/// Collects the events and deliveries of a turn, so that an event and its deliveries are stored in one transaction.
///
/// After a kill, an event stored without its deliveries would never reach its handlers.
package final class StoreInlet {
    package let store: EventStore
    private var entries: [Delivery] = []

    /// Creates an inlet without entries.
    package init(_ store: EventStore) {
        self.store = store
    }

    /// The end of the log's chain.
    package var log: any EventHandler { ClosureHandler { [unowned self] in entries.append(Delivery(event: $0)) } }

    /// The end of a handler's chain.
    package func queue(_ handler: String) -> any EventHandler {
        ClosureHandler { [unowned self] in entries.append(Delivery(event: $0, for: handler)) }
    }

    /// Passes the entries to the store; called at the end of each turn.
    package func flush() {
        store.store(entries)
        entries = []
    }
}

/// A request to the store's thread; requests are handled in order.
enum StoreRequest: Sendable {
    case store([Delivery])
    case attach(handler: String, limit: Int, deliver: @Sendable ([Delivery]) -> Void)
    case detach(handler: String)
    case expect(Set<String>, accepts: @Sendable (_ handler: String, Event) -> Bool)
    case acknowledge(handler: String, ticket: Int64)
    case read(EventQuery, reply: @Sendable (EventPage) -> Void)
    case change(EventStoreSettings)
}

/// What the store's thread shows to other threads.
struct StoreSnapshot: Sendable {
    var identity = StoreFile.randomIdentity()
    var statistics: EventStoreStatistics
    var isOpened = false
}

package import Binnacle
package import LinuxSystem
import Synchronization

/// Keeps events in a file, so that they are not lost: appended first, and handed on only then.
///
/// Everything that is done with the file is done by one thread, which has a bounded queue; nobody waits for it. What
/// waits in the queue goes into the file in one transaction, a group commit, so that the disk is asked once for all of
/// them. When nothing can be stored, events and deliveries go on from memory, and that is told.
package final class EventStore: Sendable {
    typealias Inbox = Courier<BoundedQueue<StoreRequest>>

    /// Where the store tells what happens.
    struct Listeners: Sendable {
        let report: @Sendable (Event) -> Void
        let publish: @Sendable ([PublishedEvent]) -> Void
        let onSequence: @Sendable (UInt64) -> Void
    }

    /// The most events and deliveries that wait to be stored.
    package static let capacity = 65_536

    private let inbox: Inbox
    private let board: StoreBoard
    private let drops: EventDrops

    /// Starts the thread, which opens the file.
    ///
    /// A file that cannot be opened is told of, and tried again.
    ///
    /// - Parameters:
    ///   - settings: Which file, how safely, and how much it keeps.
    ///   - clock: The clocks; others are for tests.
    ///   - capacity: The most events and deliveries that wait to be stored.
    ///   - report: Takes events about the store, on any thread.
    ///   - publish: Takes every event that was appended, in the order of appending, on the store's thread, when it is
    ///     in the file or will never be.
    ///   - onSequence: Told on the store's thread behind which number counting goes on: once when the file was opened,
    ///     or could not be, and again whenever a file that comes later holds higher numbers.
    /// - Throws: ``SystemError`` when there is no descriptor or no thread left.
    package init(
        _ settings: EventStoreSettings, clock: StoreClock = StoreClock(), capacity: Int = EventStore.capacity,
        report: @escaping @Sendable (Event) -> Void, publish: @escaping @Sendable ([PublishedEvent]) -> Void,
        onSequence: @escaping @Sendable (UInt64) -> Void = { _ in }
    ) throws(SystemError) {
        let inbox = try Inbox(BoundedQueue(capacity: capacity))
        let board = StoreBoard(path: settings.path)
        let logSync = try LogSync()
        let listeners = Listeners(report: report, publish: publish, onSequence: onSequence)
        self.inbox = inbox
        self.board = board
        drops = EventDrops(
            handler: nil, reason: "more than \(capacity) events wait for the event store", report: report)
        try inbox.start {
            // SQLite's connection never leaves the thread.
            StoreWorker(
                settings, clock: clock, listeners: listeners, board: board, inbox: inbox, logSync: logSync
            ).run()
        }
    }

    deinit {
        inbox.requestStop()
    }

    /// Whether the file was opened, or could not be; ``EventStoreStatistics/lastSequence`` says where counting goes on.
    package var isOpened: Bool { board.isOpened }

    // MARK: - Events

    /// Stores events and what handlers are to get for them, in one transaction, and hands them on then.
    ///
    /// What there is no room for is dropped, counted and told of.
    package func store(_ entries: [StoreEntry]) {
        guard !entries.isEmpty, inbox.put(.store(entries), load: entries.count) != .taken else { return }
        for entry in entries where !EventKind.reports.contains(entry.event.kind) {
            // A dropped report is not told, because that would be a report, too.
            drops.add(entry.event)
        }
    }

    /// Stores an event, and publishes it then.
    package func append(_ event: Event) {
        store([StoreEntry(event: event, handler: nil)])
    }

    /// Stores an event that a handler is to get, behind what was stored before.
    package func submit(_ event: Event, for handler: String) {
        store([StoreEntry(event: event, handler: handler)])
    }

    // MARK: - Handlers

    /// Gives a handler what waits for it, beginning with the first delivery that was not acknowledged, and what comes.
    ///
    /// - Parameters:
    ///   - handler: Its name.
    ///   - limit: The most deliveries that it has without having acknowledged them; the others wait in the file.
    ///   - deliver: Takes deliveries in their order, on the store's thread, without waiting.
    package func attach(_ handler: String, limit: Int, deliver: @escaping @Sendable ([Delivery]) -> Void) {
        _ = inbox.put(.attach(handler: handler, limit: limit, deliver: deliver), load: 0)
    }

    /// Says which handlers exist or will: what waits for them is not removed because of its age or its number.
    ///
    /// Until it was said, nothing that waits is. To be called whenever the configuration changes, before handlers are
    /// attached.
    package func expect(_ handlers: Set<String>) {
        _ = inbox.put(.expect(handlers), load: 0)
    }

    /// Gives a handler nothing more, as soon as the store's thread learns of it.
    package func detach(_ handler: String) {
        _ = inbox.put(.detach(handler: handler), load: 0)
    }

    /// Notes that a handler is done with a delivery; the file forgets it within a tenth of a second.
    package func acknowledge(_ handler: String, _ ticket: Int64) {
        _ = inbox.put(.acknowledge(handler: handler, ticket: ticket), load: 0)
    }

    // MARK: - Settings and figures

    /// Changes the limits and the safety; the file stays.
    package func change(_ settings: EventStoreSettings) {
        _ = inbox.put(.change(settings), load: 0)
    }

    /// How the store is, without asking the disk: the size of the file may be a second old.
    package var statistics: EventStoreStatistics {
        var statistics = board.statistics
        statistics.queueCount = inbox.withContent { $0.load }
        statistics.droppedCount += drops.totalCount
        return statistics
    }

    // MARK: - End

    /// Takes nothing more; what was taken is stored, and the file closed.
    package func finish() {
        inbox.requestStop()
    }

    /// Waits until everything is stored and the file closed, after ``finish()``.
    ///
    /// - Parameter deadlineNanoseconds: The longest wait, on CLOCK_MONOTONIC.
    /// - Returns: Whether it is.
    package func waitForEnd(until deadlineNanoseconds: Int64) -> Bool {
        drops.tellRest()
        return inbox.waitForEnd(until: deadlineNanoseconds)
    }

    /// Whether the thread has ended, after ``finish()``.
    package var hasEnded: Bool { inbox.hasEnded }
}

extension EventStore: EventHistory {
    /// What the numbers of the events belong to: it is made with the file, and stays with it.
    ///
    /// While there was no file, it belongs to this process.
    package var identity: String { board.identity }

    /// Reads a page of events, behind everything that was appended before; the reply comes on the store's thread.
    package func read(_ query: EventQuery, reply: @escaping @Sendable (EventPage) -> Void) {
        guard inbox.put(.read(query, reply: reply), load: 0) == .stopped else { return }
        var page = EventPage(failure: "the event store is closed")
        page.isClosed = true
        reply(page)
    }
}

/// An event for the log, or one that a handler is to get.
package struct StoreEntry: Sendable {
    let event: Event
    /// The handler's name; `nil` is the log.
    let handler: String?
}

/// Gathers what the chains of a turn have for the store, so that an event and its deliveries are stored together.
///
/// An event that is in the file without its deliveries would never reach its handlers after a kill.
package final class StoreInlet {
    /// Keeps them.
    package let store: EventStore
    private var entries: [StoreEntry] = []

    /// Creates an inlet in which nothing is gathered.
    package init(_ store: EventStore) {
        self.store = store
    }

    /// What an event goes to that is to be kept.
    package var log: any EventHandler { ClosureHandler { [unowned self] in add($0, for: nil) } }

    /// What an event goes to that a handler is to get.
    package func lane(_ handler: String) -> any EventHandler {
        ClosureHandler { [unowned self] in add($0, for: handler) }
    }

    private func add(_ event: Event, for handler: String?) {
        entries.append(StoreEntry(event: event, handler: handler))
    }

    /// Has the store take what was gathered; called at the end of each turn.
    package func flush() {
        store.store(entries)
        entries = []
    }
}

/// What the store's thread is asked to do, in the order in which it is asked.
enum StoreRequest: Sendable {
    /// Store events and deliveries, all of them or none.
    case store([StoreEntry])
    /// Give a handler its deliveries from now on.
    case attach(handler: String, limit: Int, deliver: @Sendable ([Delivery]) -> Void)
    /// Give a handler nothing more.
    case detach(handler: String)
    /// Keep what waits for these handlers, whether they are attached or not.
    case expect(Set<String>)
    /// Forget what a handler is done with.
    case acknowledge(handler: String, ticket: Int64)
    case read(EventQuery, reply: @Sendable (EventPage) -> Void)
    case change(EventStoreSettings)
}

/// What the store's thread lets other threads know.
final class StoreBoard: Sendable {
    private let state: Mutex<(identity: String, statistics: EventStoreStatistics, isOpened: Bool)>

    init(path: String) {
        state = Mutex((StoreFile.randomIdentity(), EventStoreStatistics(path: path), false))
    }

    /// Whether the file was opened, or could not be.
    var isOpened: Bool {
        get { state.withLock { $0.isOpened } }
        set { state.withLock { $0.isOpened = newValue } }
    }

    /// What the numbers of the events belong to.
    var identity: String {
        get { state.withLock { $0.identity } }
        set { state.withLock { $0.identity = newValue } }
    }

    /// How the store is.
    var statistics: EventStoreStatistics {
        get { state.withLock { $0.statistics } }
        set { state.withLock { $0.statistics = newValue } }
    }
}

package import Binnacle
package import LinuxSystem

/// Keeps events in a file, so that they are not lost: appended first, and handed on only then.
///
/// Everything that is done with the file is done by one thread, which has a bounded queue; nobody waits for it. What waits
/// in the queue goes into the file in one transaction, a group commit, so that the disk is asked once for all of them.
/// When nothing can be stored, events and deliveries go on all the same, from memory, and that is told.
package final class EventStore: Sendable {
    typealias Inbox = Courier<BoundedQueue<StoreRequest>>

    /// The most events and deliveries that wait to be stored.
    package static let capacity = 65_536

    /// The last number in the file when it was opened: counting goes on behind it.
    ///
    /// 0 when it could not be opened.
    package let lastSequence: UInt64

    let inbox: Inbox
    let board: StoreBoard
    private let drops: EventDrops

    /// Opens the file and starts the thread.
    ///
    /// A file that cannot be opened is told of, and tried again: that is no reason not to start.
    ///
    /// - Parameters:
    ///   - settings: Which file, how safely, and how much it keeps.
    ///   - clock: The clocks; others are for tests.
    ///   - capacity: The most events and deliveries that wait to be stored.
    ///   - report: Takes events about the store, on any thread.
    ///   - publish: Takes every event that was appended, in the order of appending, on the store's thread, when it is in
    ///     the file or will never be.
    ///   - onSequence: Told on the store's thread when a file, usable at last, holds higher numbers than were appended so
    ///     far: counting has to go on behind this one.
    /// - Throws: ``SystemError`` when there is no descriptor or no thread left.
    package init(
        _ settings: EventStoreSettings, clock: StoreClock = StoreClock(), capacity: Int = EventStore.capacity,
        report: @escaping @Sendable (Event) -> Void, publish: @escaping @Sendable ([PublishedEvent]) -> Void,
        onSequence: @escaping @Sendable (UInt64) -> Void = { _ in }
    ) throws(SystemError) {
        let inbox = try Inbox(BoundedQueue(capacity: capacity))
        let board = StoreBoard(path: settings.path)
        let opened = try Waker()
        let logSync = try LogSync()
        self.inbox = inbox
        self.board = board
        drops = EventDrops(
            handler: nil, reason: "more than \(capacity) events wait for the event store", report: report)
        let listeners = StoreWorker.Listeners(report: report, publish: publish, onSequence: onSequence)
        try inbox.start {
            let worker = StoreWorker(
                settings, clock: clock, listeners: listeners, board: board, inbox: inbox, logSync: logSync)
            worker.start()
            board.hasStarted = true
            opened.wake()
            worker.run()
        }
        // The connection belongs to the thread from the beginning; what it found is waited for here.
        while !board.hasStarted { opened.wait(timeoutMilliseconds: -1) }
        lastSequence = board.statistics.lastSequence
    }

    deinit {
        inbox.requestStop()
    }

    // MARK: - Events

    /// Stores events and what handlers are to get for them, in one transaction, and hands them on then.
    ///
    /// What there is no room for is dropped, counted and told of.
    package func store(_ group: EventGroup) {
        guard !group.isEmpty, inbox.put(.store(group), load: group.entries.count) != .taken else { return }
        for entry in group.entries where !EventKind.reports.contains(entry.event.kind) {
            // That a report could not be stored is no news: it would be one for ever.
            drops.add(entry.event)
        }
    }

    /// Stores an event, and publishes it then.
    package func append(_ event: Event) {
        var group = EventGroup()
        group.append(event)
        store(group)
    }

    /// Stores an event that a handler is to get, behind what was stored before.
    package func submit(_ event: Event, for handler: String) {
        var group = EventGroup()
        group.submit(event, for: handler)
        store(group)
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

    /// Says which handlers there are, or will be: what waits for them is not removed because of its age or its number.
    ///
    /// As long as that was never said, nothing that waits is. To be called whenever the configuration is another one, before
    /// handlers are attached.
    package func expect(_ handlers: Set<String>) {
        _ = inbox.put(.expect(handlers), load: 0)
    }

    /// Gives a handler nothing more, as soon as the store's thread learns of it.
    package func detach(_ handler: String) {
        _ = inbox.put(.detach(handler: handler), load: 0)
    }

    /// Takes note that a handler is done with a delivery; the file forgets it within a tenth of a second.
    package func acknowledge(_ handler: String, _ ticket: Int64) {
        _ = inbox.put(.acknowledge(handler: handler, ticket: ticket), load: 0)
    }

    // MARK: - Settings and figures

    /// Goes by other limits and another safety from now on; the file stays.
    package func change(_ settings: EventStoreSettings) {
        _ = inbox.put(.change(settings), load: 0)
    }

    /// How the store is; how large its file is may be a second old.
    ///
    /// The disk is not asked for it.
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
    /// As long as there was no file, it belongs to this process.
    package var identity: String { board.identity }

    /// Reads a page of events, behind everything that was appended before; the reply comes on the store's thread.
    package func read(_ query: EventQuery, reply: @escaping @Sendable (EventPage) -> Void) {
        guard inbox.put(.read(query, reply: reply), load: 0) == .stopped else { return }
        var page = EventPage(failure: "the event store is closed")
        page.isClosed = true
        reply(page)
    }
}

/// What the store's thread is asked to do, in the order in which it is asked.
enum StoreRequest: Sendable {
    /// Store events and deliveries, all of them or none.
    case store(EventGroup)
    /// Give a handler its deliveries from now on.
    case attach(handler: String, limit: Int, deliver: @Sendable ([Delivery]) -> Void)
    /// Give a handler nothing more.
    case detach(handler: String)
    /// Keep what waits for these handlers, whether they are there or not.
    case expect(Set<String>)
    /// Forget what a handler is done with.
    case acknowledge(handler: String, ticket: Int64)
    /// Read events.
    case read(EventQuery, reply: @Sendable (EventPage) -> Void)
    /// Go by other settings.
    case change(EventStoreSettings)
}

import Binnacle
import LinuxSystem

/// The store's thread: everything that is done with the file is done here.
final class StoreWorker {
    /// Something that is stored and then handed on.
    enum Entry {
        case event(PublishedEvent)
        case delivery(PublishedEvent, ticket: Int64, DeliveryLane)
    }

    /// Where the store tells what happens.
    struct Listeners: Sendable {
        /// Takes events about the store.
        let report: @Sendable (Event) -> Void
        /// Takes events that are stored, or will never be.
        let publish: @Sendable ([PublishedEvent]) -> Void
        /// Told that counting has to go on behind a number.
        let onSequence: @Sendable (UInt64) -> Void
    }

    var settings: EventStoreSettings
    let clock: StoreClock
    let listeners: Listeners
    let board: StoreBoard
    let inbox: EventStore.Inbox

    /// The file, as long as it can be read.
    var file: StoreFile?
    /// Why nothing can be stored; `nil` when all is well.
    var failure: FailureState?
    /// How long to wait after the next failure, when it comes soon after the one before.
    var nextWaitNanoseconds = FailureState.firstWaitNanoseconds
    var recoveredNanoseconds: Int64 = .min
    /// Whether the last failure was a full disk.
    var isFull = false
    /// Whether there ever was a file: then this run knows the last number better than any other file.
    var hadFile = false
    /// What is being copied from damaged files; the first is the one that was set aside last.
    var salvages: [Salvage] = []
    var salvage: Salvage? { salvages.first }
    /// What came of those that are done.
    var salvageTexts: [String] = []
    /// Whether this is the end: nothing more is begun.
    var isClosing = false
    var damageTimes: [Int64] = []
    /// How many events were not stored until it can be told that all is well again.
    var notStoredBeforeRecovery = 0
    /// What is to be told as soon as that is known, and since when.
    var lateRecovery: (text: String, sinceNanoseconds: Int64)?
    /// The last number of a file that came late, when others were given out before.
    var takenSequence: UInt64 = 0

    var lanes: [String: DeliveryLane] = [:]
    var group: [Entry] = []
    /// The highest number that an event had.
    var highestSequence: UInt64 = 0
    /// The next ticket; a row's number is its ticket and the shift.
    var nextTicket: Int64 = 1
    var ticketShift: Int64 = 0
    /// The first ticket of this run.
    var firstTicket: Int64 = 1
    /// The handlers that there are or will be; `nil` until somebody says it.
    var expectedHandlers: Set<String>?
    /// Whether handlers may have to be given what waits, without anything else happening.
    var mayHandOver = false
    /// What was dropped, by whom it was for and why.
    var drops: [String: EventDrops] = [:]
    /// Since when there may be some that nobody was told of.
    var droppedNanoseconds: Int64?
    var acknowledgedNanoseconds: Int64?
    var statistics: EventStoreStatistics

    /// Since when there is something that the disk may not have, and when the last of it came.
    var changedNanoseconds: Int64?
    var lastChangeNanoseconds: Int64?
    private let logSync: LogSync
    /// Whether the log is brought to the disk in order to be merged.
    private var isShortening = false
    var retention: Retention
    /// When it was asked how large the file is.
    private var measuredNanoseconds: Int64?
    private static let measuringNanoseconds: Int64 = 1_000_000_000
    /// When this run began, on the monotonic clock.
    let startedNanoseconds: Int64
    /// When the newest event of the runs before happened, by the wall clock.
    var newestWallBeforeRun: Int64?
    private var waitingReads: [(query: EventQuery, reply: @Sendable (EventPage) -> Void)] = []

    /// The most rows of one transaction: a bound on how long an event waits for those before it, and those behind it.
    static let groupCapacity = 1024
    /// How long an acknowledgement may wait for a transaction that comes anyway.
    private static let acknowledgementNanoseconds: Int64 = 100_000_000
    /// How often it is told of what was dropped.
    private static let tellingNanoseconds: Int64 = 1_000_000_000
    /// How long the end waits for what is being copied from a damaged file.
    private static let closingNanoseconds: Int64 = 2_000_000_000
    /// How often the disk is given what is new, with `synchronous = NORMAL`.
    private static let syncNanoseconds: Int64 = 1_000_000_000
    /// How long nothing has to be new before the log is merged into the file; it is merged earlier when it is long.
    private static let idleNanoseconds: Int64 = 10_000_000_000

    init(
        _ settings: EventStoreSettings, clock: StoreClock, listeners: Listeners, board: StoreBoard,
        inbox: EventStore.Inbox,
        logSync: LogSync
    ) {
        self.settings = settings
        self.clock = clock
        self.listeners = listeners
        self.board = board
        self.inbox = inbox
        self.logSync = logSync
        statistics = EventStoreStatistics(path: settings.path)
        startedNanoseconds = clock.monotonic()
        retention = Retention(startingBehind: 0, at: clock.monotonic())
    }

    /// Opens the file, or finds out why that cannot be.
    func start() {
        open()
        retention = Retention(startingBehind: highestSequence, at: clock.monotonic())
        if file != nil { retention.begin() }
        show()
    }

    /// Works until there will be nothing more.
    func run() {
        var requests: [StoreRequest] = []
        var mayComeMore = true
        while mayComeMore || !requests.isEmpty {
            mayComeMore = inbox.takeAll(into: &requests)
            for request in requests { handle(request) }
            commit()
            shortenLog()
            doWhatIsDue()
            show()
            if mayComeMore, inbox.withContent({ $0.isEmpty }) { inbox.wait(milliseconds: waitMilliseconds) }
        }
        close()
    }

    /// Merges a log that has become long.
    ///
    /// That waits for the disk twice, for the log and for the file. Most of the first wait is done by another thread before.
    private func shortenLog() {
        guard failure == nil, let file else { return }
        let (count, limit) = (file.database.logPageCount, StoreFile.logLength(for: settings))
        guard count > limit else { return }
        if settings.synchronous == .normal, count < limit * 2 {
            if !isShortening { logSync.begin(file.place.log) }
            isShortening = true
            guard logSync.isIdle else { return }
        }
        isShortening = false
        attempt { () throws(SQLiteError) in try file.database.checkpoint() }
    }

    // MARK: - Requests

    private func handle(_ request: StoreRequest) {
        switch request {
        case .store(let events): add(events)
        case .acknowledge(let name, let ticket): acknowledge(name, ticket)
        case .attach(let name, let limit, let deliver):
            commit()
            attach(name, limit: limit, deliver: deliver)
        case .detach(let name):
            commit()
            detach(name)
        case .expect(let handlers):
            expectedHandlers = handlers
            retention.begin()
        case .read(let query, let reply):
            commit()
            waitingReads.append((query, reply))
            answerReads()
        case .change(let settings):
            commit()
            change(settings)
        }
    }

    /// The event with its line; what was appended last is often submitted next, and its line is written already.
    private func line(of event: Event) -> PublishedEvent {
        for entry in group.suffix(4).reversed() {
            switch entry {
            case .event(let published), .delivery(let published, _, _):
                if published.event == event { return published }
            }
        }
        return PublishedEvent(event)
    }

    private func add(_ events: EventGroup) {
        for entry in events.entries {
            switch entry {
            case .event(let event): group.append(.event(PublishedEvent(event)))
            case .delivery(let event, let name):
                group.append(.delivery(line(of: event), ticket: nextTicket, lane(name)))
                nextTicket += 1
            }
        }
        if group.count >= Self.groupCapacity { commit() }
    }

    private func change(_ new: EventStoreSettings) {
        // Another file is another store.
        var new = new
        new.path = settings.path
        if let file {
            attempt { () throws(SQLiteError) in try file.setSynchronous(new.synchronous) }
        }
        settings = new
        retention.begin()
    }

    // MARK: - Time

    /// When it is tried again, acknowledgements are stored, the disk is given what is new, or old events are removed.
    private var waitMilliseconds: Int32 {
        if mayHandOver || (failure == nil && file != nil && (salvage != nil || retention.isBusy)) { return 0 }
        var due: [Int64] = []
        if let failure { due.append(failure.retryNanoseconds) }
        if let droppedNanoseconds { due.append(droppedNanoseconds + Self.tellingNanoseconds) }
        if let lateRecovery { due.append(lateRecovery.sinceNanoseconds + Self.tellingNanoseconds) }
        if file != nil, failure == nil {
            if let acknowledgedNanoseconds { due.append(acknowledgedNanoseconds + Self.acknowledgementNanoseconds) }
            if let changedNanoseconds { due.append(changedNanoseconds + Self.syncNanoseconds) }
            if let lastChangeNanoseconds { due.append(lastChangeNanoseconds + Self.idleNanoseconds) }
            due.append(retention.nextNanoseconds)
        }
        guard let next = due.min() else { return -1 }
        return SystemClock.milliseconds(until: next, from: clock.monotonic())
    }

    private func doWhatIsDue() {
        if mayHandOver {
            mayHandOver = false
            for lane in lanes.values { handOver(lane) }
        }
        let now = clock.monotonic()
        if let since = droppedNanoseconds, now - since >= Self.tellingNanoseconds { tellDrops() }
        if let lateRecovery, now - lateRecovery.sinceNanoseconds >= Self.tellingNanoseconds { tellLateRecovery() }
        if let failure {
            if now >= failure.retryNanoseconds { retry() }
            answerReads()
            return
        }
        guard file != nil else { return }
        if let since = acknowledgedNanoseconds, now - since >= Self.acknowledgementNanoseconds { storeAcknowledged() }
        if let since = changedNanoseconds, now - since >= Self.syncNanoseconds {
            changedNanoseconds = nil
            if let file, settings.synchronous == .normal { logSync.begin(file.place.log) }
            retention.begin()
        }
        if let since = lastChangeNanoseconds, now - since >= Self.idleNanoseconds {
            lastChangeNanoseconds = nil
            if let file { attempt { () throws(SQLiteError) in try file.database.checkpoint(truncates: true) } }
        }
        if salvage != nil { continueSalvage() }
        keepWithinLimits(at: now)
        answerReads()
    }

    // MARK: - What others see

    /// Answers those who want to read, unless the events of a damaged file are still on their way into this one: a reader
    /// would believe that there are no more.
    private func answerReads() {
        while !waitingReads.isEmpty, salvage == nil || failure != nil {
            let (query, reply) = waitingReads.removeFirst()
            let page = page(query)
            guard salvage == nil || failure != nil else {
                // It was damaged, as it turned out.
                waitingReads.insert((query, reply), at: 0)
                return
            }
            // Whoever has the answer finds the figures that belong to it.
            show()
            reply(page)
        }
    }

    private func page(_ query: EventQuery) -> EventPage {
        // A file that turns out to be damaged is exchanged for another one.
        for _ in 0..<2 {
            guard let file else { break }
            guard let (page, unreadableCount) = attempt({ () throws(SQLiteError) in try file.page(query) }) else {
                continue
            }
            statistics.unreadableCount += unreadableCount
            tellDrop(nil, "rows of the event store cannot be read", count: unreadableCount)
            return page
        }
        return EventPage(failure: failure?.text ?? "\(settings.path): the event store cannot be read")
    }

    private func show() {
        measure()
        statistics.failure = failure?.text
        statistics.lastSequence = highestSequence
        statistics.eventCount = file == nil ? nil : retention.eventCount
        statistics.handlers = lanes.values.sorted { $0.name < $1.name }.map { lane in
            EventStoreStatistics.Handler(
                name: lane.name, isAttached: lane.deliver != nil, position: lane.position,
                waitingCount: lane.waitingCount, unacknowledgedCount: lane.unacknowledged.count)
        }
        board.statistics = statistics
    }

    /// Asks how large the file and its log are, when that was not asked just now.
    ///
    /// Whatever changes them wakes this thread again a second later.
    private func measure(anyway: Bool = false) {
        let now = clock.monotonic()
        guard anyway || now - (measuredNanoseconds ?? .min / 2) >= Self.measuringNanoseconds else { return }
        measuredNanoseconds = now
        statistics.fileBytes = [settings.path, settings.path + "-wal"].reduce(0) { sum, path in
            sum + ((try? FilePlace.status(path))?.size ?? 0)
        }
    }

    // MARK: - End

    /// Lets go of the file at once.
    func closeFile() {
        file?.close()
        file = nil
    }

    private func close() {
        isClosing = true
        for lane in lanes.values { lane.deliver = nil }
        if failure != nil { retry() }
        storeAcknowledged()
        let deadline = clock.monotonic() + Self.closingNanoseconds
        while salvage != nil, failure == nil, clock.monotonic() < deadline { continueSalvage() }
        if file == nil { putBack() }
        // The next run goes on with what is left.
        salvages = []
        answerReads()
        if let file, failure == nil {
            attempt { () throws(SQLiteError) in try file.prepareToClose() }
        }
        closeFile()
        tellLateRecovery()
        tellDrops()
        measure(anyway: true)
        show()
    }
}

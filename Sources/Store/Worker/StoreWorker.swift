import Binnacle
import LinuxSystem

/// The store's thread: everything that is done with the file is done here.
final class StoreWorker {
    /// Something that is stored and then handed on.
    enum Entry {
        case event(PublishedEvent)
        case delivery(Delivery, DeliveryLane)
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
    let inbox: StoreInbox

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
    /// What is being copied from a damaged file.
    var salvage: Salvage?
    var damageTimes: [Int64] = []
    var notStoredBeforeSalvage = 0

    var lanes: [String: DeliveryLane] = [:]
    var group: [Entry] = []
    /// The highest number that an event had.
    var highestSequence: UInt64 = 0
    /// The next ticket; a row's number is its ticket and the shift.
    var nextTicket: Int64 = 1
    var ticketShift: Int64 = 0
    /// The first ticket of this run.
    var firstTicket: Int64 = 1
    /// Whether handlers may have to be given what waits, without anything else happening.
    var mayHandOver = false
    /// What was dropped, by whom it was for and why.
    var drops: [String: EventDrops] = [:]
    var acknowledgedNanoseconds: Int64?
    var statistics: EventStoreStatistics

    /// When it was found that something is to be brought to the disk.
    var changedNanoseconds: Int64?
    var retention: Retention

    /// The most rows of one transaction: a bound on how long an event waits for those before it, and those behind it.
    static let groupCapacity = 1024
    /// How long an acknowledgement may wait for a transaction that comes anyway.
    private static let acknowledgementNanoseconds: Int64 = 100_000_000
    /// How often the disk is given what is new, with `synchronous = NORMAL`.
    private static let checkpointNanoseconds: Int64 = 1_000_000_000

    init(
        _ settings: EventStoreSettings, clock: StoreClock, listeners: Listeners, board: StoreBoard, inbox: StoreInbox
    ) {
        self.settings = settings
        self.clock = clock
        self.listeners = listeners
        self.board = board
        self.inbox = inbox
        statistics = EventStoreStatistics(path: settings.path)
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
            mayComeMore = inbox.take(into: &requests)
            for request in requests { handle(request) }
            commit()
            doWhatIsDue()
            show()
            if mayComeMore, inbox.isEmpty { inbox.wait(milliseconds: waitMilliseconds) }
        }
        close()
    }

    // MARK: - Requests

    private func handle(_ request: StoreRequest) {
        switch request {
        case .append(let event): add(.event(PublishedEvent(event)))
        case .submit(let event, let name):
            add(.delivery(Delivery(event: event, ticket: nextTicket), lane(name)))
            nextTicket += 1
        case .acknowledge(let name, let ticket): acknowledge(name, ticket)
        case .attach(let name, let limit, let deliver):
            commit()
            attach(name, limit: limit, deliver: deliver)
        case .detach(let name):
            commit()
            detach(name)
        case .read(let query, let reply):
            commit()
            let page = page(query)
            // Whoever has the answer finds the figures that belong to it.
            show()
            reply(page)
        case .change(let settings):
            commit()
            change(settings)
        }
    }

    private func add(_ entry: Entry) {
        group.append(entry)
        if group.count >= Self.groupCapacity { commit() }
    }

    private func change(_ new: EventStoreSettings) {
        // Another file is another store.
        var new = new
        new.path = settings.path
        if new.synchronous != settings.synchronous, let file {
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
        if file != nil, failure == nil {
            if let acknowledgedNanoseconds { due.append(acknowledgedNanoseconds + Self.acknowledgementNanoseconds) }
            if let changedNanoseconds { due.append(changedNanoseconds + Self.checkpointNanoseconds) }
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
        if let failure {
            if now >= failure.retryNanoseconds { retry() }
            return
        }
        guard file != nil else { return }
        if let since = acknowledgedNanoseconds, now - since >= Self.acknowledgementNanoseconds { storeAcknowledged() }
        if let since = changedNanoseconds, now - since >= Self.checkpointNanoseconds {
            changedNanoseconds = nil
            if let file { attempt { () throws(SQLiteError) in try file.database.checkpoint() } }
            retention.begin()
        }
        if salvage != nil { continueSalvage() }
        keepWithinLimits(at: now)
    }

    // MARK: - What others see

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

    // MARK: - End

    /// Lets go of the file at once.
    func closeFile() {
        file?.close()
        file = nil
    }

    private func close() {
        for lane in lanes.values { lane.deliver = nil }
        if failure != nil { retry() }
        storeAcknowledged()
        if let file, failure == nil {
            attempt { () throws(SQLiteError) in try file.prepareToClose() }
        }
        closeFile()
        show()
    }
}

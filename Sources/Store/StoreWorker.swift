import Binnacle
import LinuxSystem

/// The store's thread: everything that is done with the file is done here.
///
/// ``Committer`` stores, ``Deliveries`` hands over, ``Janitor`` keeps the limits; each works on the file that it is
/// given, and throws. The worker decides what a failure means: it alone knows the phase.
final class StoreWorker {
    /// Whether events can be stored.
    private enum Phase {
        /// Nothing is known of the file yet.
        case opening
        case healthy(StoreFile)
        case degraded(Failure)

        /// The file, when it can be read.
        var file: StoreFile? {
            switch self {
            case .opening: nil
            case .healthy(let file): file
            case .degraded(let failure): failure.file
            }
        }

        /// The file, when it can be written to.
        var writableFile: StoreFile? {
            guard case .healthy(let file) = self else { return nil }
            return file
        }

        var failure: Failure? {
            get {
                guard case .degraded(let failure) = self else { return nil }
                return failure
            }
            set {
                if let newValue { self = .degraded(newValue) }
            }
        }
    }

    /// Why nothing can be stored, and when it is tried again.
    private struct Failure {
        /// What is wrong and what to do, for people.
        var text: String
        var isFull: Bool
        /// When it is tried again, on the monotonic clock.
        var retryNanoseconds: Int64
        /// How long to wait before that.
        var waitNanoseconds: Int64
        /// The file, when it can still be read.
        var file: StoreFile?
        /// Whether a file came with numbers above those that were given to events meanwhile.
        var hasJumped = false
    }

    private var settings: EventStoreSettings
    private let clock: StoreClock
    private let listeners: EventStore.Listeners
    private let board: StoreBoard
    private let inbox: EventStore.Inbox
    private let reports: StoreReports
    private var phase = Phase.opening
    private var committer: Committer
    private var deliveries: Deliveries
    private var janitor: Janitor
    /// The highest number that an event had, or the file says.
    private var highestSequence: UInt64 = 0
    /// The events that were not stored before the last failure began.
    private var notStoredBefore = 0
    /// Since when it is to be told that events are stored again: when the first one is, or a second later.
    private var recoveredNanoseconds: Int64?
    /// When the last failure was over, and how long it waited last.
    private var lastRecovery: (nanoseconds: Int64, waitNanoseconds: Int64)?
    private var damageTimes: [Int64] = []
    private var fileBytes: (count: Int64, nanoseconds: Int64)?

    private static let second: Int64 = 1_000_000_000
    private static let firstWait = second
    private static let longestWait = 30 * second
    /// A failure this soon after a recovery is the same one.
    private static let relapseTime = 60 * second
    /// How often a damaged file is replaced within an hour before it is left alone.
    private static let mostDamages = 3
    /// How long an acknowledgement may wait for a transaction that comes anyway.
    private static let acknowledgementTime: Int64 = 100_000_000

    init(
        _ settings: EventStoreSettings, clock: StoreClock, listeners: EventStore.Listeners, board: StoreBoard,
        inbox: EventStore.Inbox, logSync: LogSync
    ) {
        self.settings = settings
        self.clock = clock
        self.listeners = listeners
        self.board = board
        self.inbox = inbox
        reports = StoreReports(clock, path: settings.path, listeners.report)
        committer = Committer(logSync)
        deliveries = Deliveries(reports)
        janitor = Janitor(clock, reports)
    }

    /// Works until nothing more will come.
    func run() {
        do throws(StoreFailure) {
            try mending { () throws(StoreFailure) in try openFile() }
        } catch {
            degrade(error)
        }
        show()
        board.isOpened = true
        listeners.onSequence(highestSequence)
        var requests: [StoreRequest] = []
        var mayComeMore = true
        while mayComeMore || !requests.isEmpty {
            mayComeMore = inbox.takeAll(into: &requests)
            for request in requests { handle(request) }
            commit()
            doWhatIsDue()
            handOver()
            show()
            if mayComeMore, inbox.withContent({ $0.isEmpty }) { inbox.wait(milliseconds: waitMilliseconds) }
        }
        close()
    }

    // MARK: - Requests

    private func handle(_ request: StoreRequest) {
        switch request {
        case .store(let entries):
            committer.add(entries, &deliveries)
            if committer.isFull { commit() }
        case .acknowledge(let name, let ticket): deliveries.acknowledge(name, ticket, at: clock.monotonic())
        case .attach(let name, let limit, let deliver):
            commit()
            deliveries.attach(name, limit: limit, deliver: deliver)
            handOver()
        case .detach(let name):
            commit()
            deliveries.detach(name)
        case .expect(let handlers):
            deliveries.expectedHandlers = handlers
            janitor.begin()
        case .read(let query, let reply):
            commit()
            handOver()
            let page = page(query)
            // Whoever has the page finds the figures that belong to it.
            show()
            reply(page)
        case .change(let new):
            commit()
            let path = settings.path
            settings = new
            // Another file would be another store.
            settings.path = path
            if let file = phase.file {
                attempt { () throws(SQLiteError) in try file.setSynchronous(new.synchronous) }
            }
            janitor.begin()
        }
    }

    private func page(_ query: EventQuery) -> EventPage {
        // A file that turns out to be damaged is exchanged for another one.
        for _ in 0..<2 {
            guard let file = phase.file else { break }
            guard let result = attempt({ () throws(SQLiteError) in try file.database.page(query) }) else { continue }
            reports.statistics.unreadableCount += result.unreadableCount
            reports.drop(nil, "rows of the event store cannot be read", count: result.unreadableCount)
            return result.page
        }
        return EventPage(failure: phase.failure?.text ?? "\(settings.path): the event store cannot be read")
    }

    // MARK: - Storing and handing over

    /// Stores what was gathered, and hands it on: what is stored, and what cannot be.
    private func commit() {
        guard !committer.items.isEmpty else { return }
        let storedCount = store()
        let events = committer.events
        highestSequence = events.reduce(highestSequence) { max($0, $1.event.sequence) }
        reports.statistics.notStoredCount += events.count - (storedCount ?? 0)
        if let storedCount, storedCount > 0 {
            janitor.didStore(storedCount, events)
            tellRecovery()
        }
        if !events.isEmpty { listeners.publish(events) }
        deliveries.handOn(committer.items, isStored: storedCount != nil)
        inbox.finish(committer.items.count)
        committer.removeAll()
    }

    /// Tries to store the group, twice when the first attempt has led to another file.
    ///
    /// - Returns: How many events are new in the file; `nil` when nothing was stored.
    private func store() -> Int? {
        for _ in 0..<2 {
            guard let file = phase.writableFile else { return nil }
            guard file.whereabouts == .inPlace else {
                degrade(
                    .foreign(
                        path: settings.path, reason: "the file was removed or replaced while it was in use",
                        remedy: "what waits for handlers goes over into the one that is there now"))
                retry()
                continue
            }
            let count = attempt { () throws(SQLiteError) in try committer.store(in: file, deliveries) }
            guard let count else { continue }
            deliveries.didRemoveDone()
            committer.didChange(at: clock.monotonic())
            return count
        }
        return nil
    }

    private func handOver() {
        while true {
            let file = phase.file
            do throws(SQLiteError) {
                return try deliveries.handOver(from: file, isWritable: phase.writableFile != nil)
            } catch {
                failed(error)
                // A file that cannot be read must not keep back what is in memory.
                if phase.file === file { closeFile() }
            }
        }
    }

    /// Removes the deliveries that are done, when nothing else is to be stored.
    private func storeAcknowledged() {
        guard let file = phase.writableFile else { return }
        attempt { () throws(SQLiteError) in
            guard deliveries.hasDone else { return deliveries.didRemoveDone() }
            try file.transaction { () throws(SQLiteError) in try deliveries.removeDone(from: file) }
            deliveries.didRemoveDone()
            committer.didChange(at: clock.monotonic())
        }
    }

    // MARK: - Time

    private var waitMilliseconds: Int32 {
        var due = [reports.dueNanoseconds, recoveredNanoseconds.map { $0 + Self.second }]
        switch phase {
        case .opening: break
        case .degraded(let failure): due.append(failure.retryNanoseconds)
        case .healthy:
            if janitor.isBusy { return 0 }
            due += [
                deliveries.doneNanoseconds.map { $0 + Self.acknowledgementTime }, committer.dueNanoseconds,
                janitor.nextNanoseconds,
            ]
        }
        guard let next = due.compactMap({ $0 }).min() else { return -1 }
        return SystemClock.milliseconds(until: next, from: clock.monotonic())
    }

    private func doWhatIsDue() {
        let now = clock.monotonic()
        reports.tellDrops(at: now)
        if let since = recoveredNanoseconds, now - since >= Self.second { tellRecovery() }
        if let failure = phase.failure, now >= failure.retryNanoseconds { retry() }
        if let since = deliveries.doneNanoseconds, now - since >= Self.acknowledgementTime { storeAcknowledged() }
        janitor.note(highestSequence, at: now)
        guard let file = phase.writableFile else { return }
        attempt { () throws(SQLiteError) in
            if try committer.tendLog(of: file, settings, at: now) { janitor.begin() }
            if try janitor.step(in: file, settings, deliveries, at: now) { committer.didChange(at: now) }
        }
    }

    // MARK: - The phase

    /// Opens the file and goes on with it.
    private func openFile() throws(StoreFailure) {
        let file = try StoreFile(settings, succeeding: (board.identity, highestSequence))
        // Also when it turns out to be damaged, the next one goes on with its numbers.
        board.identity = file.identity
        if file.lastSequence > highestSequence {
            highestSequence = file.lastSequence
            if phase.failure != nil {
                phase.failure?.hasJumped = true
                listeners.onSequence(highestSequence)
            }
        }
        do throws(SQLiteError) {
            try deliveries.connect(to: file)
            try janitor.connect(to: file)
        } catch {
            file.database.close()
            throw StoreFailure(error)
        }
        if phase.failure == nil { phase = .healthy(file) } else { phase.failure?.file = file }
    }

    /// Lets go of the file at once.
    private func closeFile() {
        phase.file?.database.close()
        if phase.failure == nil { phase = .opening } else { phase.failure?.file = nil }
    }

    /// Does something with the file.
    ///
    /// - Returns: Its result; `nil` when it failed, which is dealt with.
    @discardableResult
    private func attempt<Result>(_ body: () throws(SQLiteError) -> Result) -> Result? {
        do throws(SQLiteError) {
            return try body()
        } catch {
            failed(error)
            return nil
        }
    }

    private func failed(_ error: SQLiteError) {
        do throws(StoreFailure) {
            try mending { () throws(StoreFailure) in throw StoreFailure(error) }
        } catch {
            degrade(error)
        }
    }

    /// Notes that nothing can be stored, and tells of it once.
    private func degrade(_ error: StoreFailure) {
        let (now, text) = (clock.monotonic(), error.text(path: settings.path))
        guard phase.failure == nil else {
            phase.failure?.text = text
            phase.failure?.isFull = error.isFull
            return
        }
        tellRecovery()
        notStoredBefore = reports.statistics.notStoredCount
        var wait = Self.firstWait
        if let lastRecovery, now - lastRecovery.nanoseconds < Self.relapseTime {
            wait = min(lastRecovery.waitNanoseconds * 2, Self.longestWait)
        }
        if error.isForeign { wait = Self.longestWait }
        phase = .degraded(
            Failure(
                text: text, isFull: error.isFull, retryNanoseconds: now + wait, waitNanoseconds: wait,
                file: phase.file))
        reports.tell(.storeFailed, text, Figure(.retry, .integer(wait / Self.second)))
    }

    /// Tries again what failed.
    private func retry() {
        do throws(StoreFailure) {
            try mending { () throws(StoreFailure) in
                try reopen()
                try recover()
            }
        } catch {
            degrade(error)
            let wait = min((phase.failure?.waitNanoseconds ?? 0) * 2, Self.longestWait)
            phase.failure?.waitNanoseconds = wait
            phase.failure?.retryNanoseconds = clock.monotonic() + wait
        }
    }

    /// Opens the file again, unless the open one can be used on.
    private func reopen() throws(StoreFailure) {
        if let file = phase.file {
            switch file.whereabouts {
            case .inPlace:
                // The log may be what fills the disk.
                try? file.database.checkpoint(truncates: true)
                if phase.failure?.isFull ?? false { return }
            case .logGone: try? file.database.checkpoint()
            case .gone: try? deliveries.moveToMemory(from: file)
            }
        }
        closeFile()
        try openFile()
    }

    /// Stores what could not be stored; then events are stored again.
    private func recover() throws(StoreFailure) {
        guard let failure = phase.failure, let file = failure.file else { return }
        try mapError(StoreFailure.init) { () throws(SQLiteError) in
            try file.transaction { () throws(SQLiteError) in
                try deliveries.removeDone(from: file)
                try deliveries.storeMemory(in: file)
                try file.skip(through: highestSequence)
            }
        }
        deliveries.didRemoveDone()
        deliveries.didStoreMemory()
        let now = clock.monotonic()
        committer.didChange(at: now)
        reports.tellDrops()
        lastRecovery = (now, failure.waitNanoseconds)
        phase = .healthy(file)
        recoveredNanoseconds = now
        // Events may be on their way that have numbers of the file's; they are not stored, either.
        if !failure.hasJumped { tellRecovery() }
    }

    private func tellRecovery() {
        guard recoveredNanoseconds != nil else { return }
        recoveredNanoseconds = nil
        reports.tell(
            .storeRecovered, "\(settings.path): events are stored again",
            Figure(.count, .integer(Int64(reports.statistics.notStoredCount - notStoredBefore))))
    }

    // MARK: - Damage

    /// Does something with the file; a damaged one is set aside, and a new one begun.
    private func mending(_ body: () throws(StoreFailure) -> Void) throws(StoreFailure) {
        do throws(StoreFailure) {
            try body()
        } catch {
            guard case .damaged(let reason) = error else { throw error }
            try setAside(because: reason)
            try openFile()
            try recover()
        }
    }

    private func setAside(because reason: String) throws(StoreFailure) {
        let now = clock.monotonic()
        closeFile()
        damageTimes.removeAll { now - $0 > 3600 * Self.second }
        guard damageTimes.count < Self.mostDamages else {
            throw .foreign(
                path: settings.path, reason: "it is damaged again (\(reason)), for the fourth time within an hour",
                remedy: "see to the disk; it is left alone")
        }
        damageTimes.append(now)
        let (path, wall) = (settings.path, clock.wall())
        let aside = try mapError(StoreFailure.system) { () throws(SystemError) in
            try FilePlace(path).setAside(at: wall)
        }
        let wasDegraded = phase.failure != nil
        let damage = StoreFailure.damaged(
            "\(reason); it is set aside as \(aside), and a new one is begun; what can be read of it is copied by: "
                + FilePlace.recoveryCommand(for: aside))
        degrade(damage)
        // Its name has to be told also when another failure was told before.
        if wasDegraded { reports.tell(.storeFailed, damage.text(path: path)) }
    }

    // MARK: - What others see

    private func show() {
        let now = clock.monotonic()
        // The size may be a second old; what changes it wakes this thread again a second later.
        if now - (fileBytes?.nanoseconds ?? .min / 2) >= Self.second { measure(at: now) }
        var statistics = reports.statistics
        statistics.failure = phase.failure?.text
        statistics.fileBytes = fileBytes?.count ?? 0
        statistics.eventCount = phase.file == nil ? nil : janitor.eventCount
        statistics.lastSequence = highestSequence
        statistics.handlers = deliveries.lanes.values.sorted { $0.name < $1.name }.map { lane in
            EventStoreStatistics.Handler(
                name: lane.name, isAttached: lane.deliver != nil, position: lane.position,
                waitingCount: lane.waitingCount, unacknowledgedCount: lane.unacknowledged.count)
        }
        board.statistics = statistics
    }

    private func measure(at now: Int64) {
        let count = [settings.path, settings.path + "-wal"].reduce(0) { sum, path in
            sum + ((try? FilePlace.status(path))?.size ?? 0)
        }
        fileBytes = (count, now)
    }

    private func close() {
        deliveries.detachAll()
        if phase.failure != nil { retry() }
        storeAcknowledged()
        if let file = phase.writableFile {
            attempt { () throws(SQLiteError) in try file.prepareToClose() }
        }
        closeFile()
        tellRecovery()
        reports.tellDrops()
        measure(at: clock.monotonic())
        show()
    }
}

/// What the store's thread tells of itself, and counts.
final class StoreReports {
    /// The figures that are counted while they happen.
    var statistics: EventStoreStatistics
    private let clock: StoreClock
    private let report: @Sendable (Event) -> Void
    /// What was dropped, by the handler and the reason.
    private var drops: [String: EventDrops] = [:]
    private var droppedNanoseconds: Int64?
    private static let interval: Int64 = 1_000_000_000

    init(_ clock: StoreClock, path: String, _ report: @escaping @Sendable (Event) -> Void) {
        self.clock = clock
        statistics = EventStoreStatistics(path: path)
        self.report = report
    }

    /// Tells of a failure, or of its end.
    func tell(_ kind: EventKind, _ text: String, _ figures: Figure...) {
        report(Event(kind: kind, timeNanoseconds: 0, figures: [Figure(.reason, .text(text))] + figures))
    }

    /// Tells once a second of events that a handler will not get.
    func drop(_ handler: String?, _ reason: String, count: Int = 1) {
        guard count > 0 else { return }
        let key = "\(handler ?? ""): \(reason)"
        let drops = drops[key] ?? EventDrops(handler: handler, reason: reason, report: report)
        self.drops[key] = drops
        drops.add(count)
        droppedNanoseconds = droppedNanoseconds ?? clock.monotonic()
    }

    /// When drops that were not told have to be.
    var dueNanoseconds: Int64? { droppedNanoseconds.map { $0 + Self.interval } }

    /// Tells of drops that were not told, when that is due; without a time at once.
    func tellDrops(at now: Int64 = .max) {
        guard let due = dueNanoseconds, now >= due else { return }
        droppedNanoseconds = nil
        for drops in drops.values { drops.tellRest() }
    }
}

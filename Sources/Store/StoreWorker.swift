import Binnacle
import Glibc
import LinuxSystem

/// The work of the store's thread, the only user of the database connection.
///
/// ``Committer`` stores events, ``Deliveries`` passes them to handlers, ``Janitor`` keeps the file within its limits. Each works
/// on the file that it is passed, and throws; only the worker knows about outages, so it handles the failures.
final class StoreWorker {
    /// A period in which nothing can be stored; handlers still get events.
    private struct Outage {
        /// The failure and the remedy, for messages.
        var text: String
        var isFull: Bool
        /// The time of the next attempt on the monotonic clock.
        var retryNanoseconds: Int64
        /// The wait before that attempt; it doubles with each failed attempt.
        var waitNanoseconds: Int64
        /// The number of events not stored before the outage began.
        let notStoredBefore: Int
    }

    private var settings: EventStoreSettings
    private let clock: StoreClock
    private let listeners: EventStore.Listeners
    private let gauges: Gauges<StoreSnapshot>
    private let inbox: EventStore.Inbox
    private let reports: StoreReports
    /// The file, if it is readable; `nil` while none is open.
    private var file: StoreFile?
    /// The current outage; `nil` when the file is writable.
    private var outage: Outage?
    private var writableFile: StoreFile? { outage == nil ? file : nil }
    private var committer: Committer
    private var deliveries: Deliveries
    private var janitor: Janitor
    /// The highest sequence number of any event so far, stored or not.
    private var highestSequence: UInt64 = 0
    /// The identity of the last opened file; `nil` before the first.
    private var fileIdentity: String?
    /// The number up to which the current identity is reserved; no more can be reserved while the file is not writable.
    private var reservedSequence = UInt64.max
    /// Whether it was reported that another daemon has the file.
    private var hasConflict = false
    /// The end of the last outage, and its last wait.
    private var lastRecovery: (nanoseconds: Int64, waitNanoseconds: Int64)?
    /// The times at which damaged files were replaced within the last hour.
    private var damageTimes: [Int64] = []
    /// The size of the file and its log, and when it was measured.
    private var fileBytes: (count: Int64, nanoseconds: Int64) = (0, .min / 2)

    private static let second: Int64 = 1_000_000_000
    private static let firstWait = second
    private static let longestWait = 30 * second
    /// An outage that begins this soon after a recovery starts with twice the last wait.
    private static let relapseTime = 60 * second
    /// Maximum number of damaged files replaced within an hour; the next one is not touched.
    private static let mostDamages = 3
    /// The time that an acknowledgement waits for the next commit of events before it gets a transaction of its own.
    private static let acknowledgementTime: Int64 = 100_000_000

    init(
        _ settings: EventStoreSettings, clock: StoreClock, listeners: EventStore.Listeners,
        gauges: Gauges<StoreSnapshot>, inbox: EventStore.Inbox, logSync: LogSync
    ) {
        self.settings = settings
        self.clock = clock
        self.listeners = listeners
        self.gauges = gauges
        self.inbox = inbox
        reports = StoreReports(clock, path: settings.path, listeners.report)
        committer = Committer(logSync)
        deliveries = Deliveries(reports)
        janitor = Janitor(clock, reports)
    }

    /// Handles requests until the store is requested to stop and none is left.
    func run() {
        attempt { () throws(StoreFailure) in try openFile() }
        show()
        gauges.change { $0.isOpened = true }
        if !hasConflict { listeners.onSequence(highestSequence, gauges.values.identity) }
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

    private func close() {
        deliveries.detachAll()
        // A file of another daemon is not retried.
        if outage != nil, !hasConflict { retry() }
        if let file = writableFile { _ = isInPlace(file) }
        storeAcknowledged()
        if let file = writableFile {
            attempt { () throws(StoreFailure) in try file.prepareToClose(behind: highestSequence) }
        }
        closeFile()
        reports.reportRemainingDrops()
        fileBytes.nanoseconds = .min / 2
        show()
    }

    // MARK: - Requests

    private func handle(_ request: StoreRequest) {
        switch request {
        case .store(let entries):
            committer.add(entries, &deliveries)
            if committer.isFull(settings) { commit() }
        case .acknowledge(let name, let ticket): deliveries.acknowledge(name, ticket, at: clock.monotonic())
        case .attach(let name, let limit, let deliver):
            commit()
            deliveries.attach(name, limit: limit, deliver: deliver)
            handOver()
        case .detach(let name):
            commit()
            deliveries.detach(name)
        case .expect(let handlers, let accepts):
            deliveries.expectedHandlers = handlers
            deliveries.accepts = accepts
            janitor.begin()
        case .read(let query, let reply):
            commit()
            handOver()
            let page = page(query)
            // A client that reads the statistics after the page gets those of the same moment.
            show()
            reply(page)
        case .change(let new):
            commit()
            let path = settings.path
            settings = new
            // A store keeps its path: another file would be another store.
            settings.path = path
            if let file {
                attempt { () throws(StoreFailure) in try file.configure(settings) }
            }
            janitor.begin()
        }
    }

    private func page(_ query: EventQuery) -> EventPage {
        // If the first attempt finds the file damaged, the second reads its replacement.
        for _ in 0..<2 {
            guard let file else { break }
            guard var page = attempt({ () throws(StoreFailure) in try file.database.page(query) }) else { continue }
            reports.statistics.unreadableCount += page.unreadableCount
            reports.drop(nil, "rows of the event store cannot be read", count: page.unreadableCount)
            page.gaps = file.gaps.filter { $0.upperBound > query.after }
            return page
        }
        return EventPage(failure: outage?.text ?? "\(settings.path): the event store cannot be read")
    }

    // MARK: - Storing and handing over

    /// Stores the committer's items in one transaction; publishes and passes them on even if that fails.
    private func commit() {
        guard !committer.items.isEmpty else { return }
        let storedCount = store()
        let events = committer.events
        highestSequence = events.reduce(highestSequence) { max($0, $1.event.sequence) }
        reports.statistics.notStoredCount += events.count - (storedCount ?? 0)
        if let storedCount { refuse(events.count - storedCount) }
        changeIdentityWhenDue()
        if let storedCount, storedCount > 0 { janitor.didStore(storedCount, events) }
        if !events.isEmpty { listeners.publish(events) }
        deliveries.handOn(committer.items.map(\.delivery), isStored: storedCount != nil)
        inbox.finish(committer.items.count)
        committer.removeAll()
    }

    /// Reports events that the file refused because it has their numbers, and continues the sequence after these.
    private func refuse(_ count: Int) {
        guard count > 0, let file else { return }
        reports.drop(
            nil, "their sequence numbers are those of other events in the event store, which does not keep them",
            count: count)
        attempt { () throws(StoreFailure) in try file.raiseSequence() }
        guard file.lastSequence > highestSequence else { return }
        highestSequence = file.lastSequence
        listeners.onSequence(highestSequence, gauges.values.identity)
    }

    /// Changes the identity when the reserved numbers end and no more can be reserved: after a crash the next run would assign
    /// the same numbers to other events.
    private func changeIdentityWhenDue() {
        if let file = writableFile {
            reservedSequence = file.reservedSequence
        } else if fileIdentity != nil, highestSequence + UInt64(EventStore.capacity) > reservedSequence {
            reservedSequence = .max
            let identity = StoreFile.randomIdentity()
            gauges.change { $0.identity = identity }
            listeners.onSequence(highestSequence, identity)
        }
    }

    /// Stores the committer's items; tries again if the first attempt reopened or replaced the file.
    ///
    /// Returns the number of stored events; `nil` if the file is not writable or the transaction failed.
    private func store() -> Int? {
        for _ in 0..<2 {
            guard let file = writableFile else { return nil }
            guard isInPlace(file) else { continue }
            let count = attempt { () throws(StoreFailure) in try committer.store(in: file, deliveries) }
            guard let count else { continue }
            deliveries.didRemoveDone()
            committer.didChange(at: clock.monotonic())
            if count > 0 {
                attempt { () throws(StoreFailure) in try janitor.keepPace(in: file, settings, deliveries) }
            }
            return count
        }
        return nil
    }

    /// Whether the file is where it was opened; writes one again that was removed.
    private func isInPlace(_ file: StoreFile) -> Bool {
        guard file.whereabouts != .inPlace else { return true }
        degrade(
            .foreign(
                path: settings.path, reason: "the file or its log was removed or replaced while it was in use",
                remedy: "the removed file is written again; restart Binnacle to use another file"))
        retry()
        return false
    }

    private func handOver() {
        while true {
            let file = file
            do throws(StoreFailure) {
                return try deliveries.handOver(from: file, isWritable: writableFile != nil)
            } catch {
                fail(error)
                // Deliveries in memory must not wait for those in an unreadable file.
                if self.file === file { closeFile() }
            }
        }
    }

    /// Removes the acknowledged deliveries from the file, in a separate transaction.
    private func storeAcknowledged() {
        guard let file = writableFile else { return }
        attempt { () throws(StoreFailure) in
            guard deliveries.hasDone else { return deliveries.didRemoveDone() }
            try file.transaction { () throws(StoreFailure) in try deliveries.removeDone(from: file) }
            deliveries.didRemoveDone()
            committer.didChange(at: clock.monotonic())
        }
    }

    // MARK: - Time

    private var acknowledgementDue: Int64? { deliveries.doneNanoseconds.map { $0 + Self.acknowledgementTime } }

    private var waitMilliseconds: Int32 {
        var due = [reports.dueNanoseconds]
        if let outage {
            due.append(outage.retryNanoseconds)
        } else if file != nil {
            if janitor.isBusy { return 0 }
            due += [acknowledgementDue, committer.dueNanoseconds, janitor.nextNanoseconds]
        }
        guard let next = due.compactMap({ $0 }).min() else { return -1 }
        return SystemClock.milliseconds(until: next, from: clock.monotonic())
    }

    private func doWhatIsDue() {
        let now = clock.monotonic()
        reports.reportDrops(at: now)
        if let outage, now >= outage.retryNanoseconds { retry() }
        if let due = acknowledgementDue, now >= due { storeAcknowledged() }
        guard let file = writableFile else { return }
        attempt { () throws(StoreFailure) in
            if try committer.tendLog(of: file, settings, at: now) { janitor.begin() }
            if try janitor.step(in: file, settings, deliveries, at: now) { committer.didChange(at: now) }
        }
    }

    // MARK: - Outages

    private func openFile() throws(StoreFailure) {
        let file = try StoreFile(settings, succeeding: (gauges.values.identity, highestSequence))
        fileIdentity = file.identity
        do throws(StoreFailure) {
            try deliveries.connect(to: file)
            try janitor.connect(to: file)
        } catch {
            // Its replacement gets the same identity and continues its numbers.
            continueNumbers(of: file)
            file.close()
            throw error
        }
        self.file = file
        if outage == nil {
            continueNumbers(of: file)
        } else {
            // The outage may continue, and events numbered meanwhile do not belong to the file.
            highestSequence = max(highestSequence, file.lastSequence)
        }
        guard let repair = file.repair else { return }
        reports.report(
            .storeFailed, "\(settings.path): the event store is damaged: \(repair)",
            Figure(.retry, .number(0, decimals: 3)))
        reports.report(.storeRecovered, "\(settings.path): events are stored again", Figure(.count, .integer(0)))
    }

    /// Continues the sequence numbers of a file, under its identity.
    private func continueNumbers(of file: StoreFile) {
        let isOther = gauges.values.identity != file.identity
        let isHigher = file.lastSequence > highestSequence
        gauges.change { $0.identity = file.identity }
        highestSequence = max(highestSequence, file.lastSequence)
        reservedSequence = file.reservedSequence
        if gauges.values.isOpened, isOther || isHigher { listeners.onSequence(highestSequence, file.identity) }
    }

    /// Continues the sequence numbers of a damaged file that was never read; returns a notice for the user.
    private func continueNumbers(of salvage: StoreSalvage) -> String {
        guard fileIdentity == nil else { return "" }
        let identity = salvage.identity ?? StoreFile.randomIdentity()
        fileIdentity = identity
        gauges.change { $0.identity = identity }
        highestSequence = max(highestSequence, salvage.lastSequence)
        if gauges.values.isOpened { listeners.onSequence(highestSequence, identity) }
        return salvage.identity == nil
            ? "; its identity cannot be read, so events get a new one, and numbers behind \(highestSequence)" : ""
    }

    private func closeFile() {
        file?.close()
        file = nil
    }

    /// Runs an operation on the file; handles its failure and returns `nil`.
    @discardableResult
    private func attempt<Result>(_ body: () throws(StoreFailure) -> Result) -> Result? {
        do throws(StoreFailure) {
            return try body()
        } catch {
            fail(error)
            return nil
        }
    }

    /// Replaces a damaged file; any other failure begins an outage.
    private func fail(_ failure: StoreFailure) {
        do throws(StoreFailure) {
            try replaceDamaged(failure)
        } catch {
            degrade(error)
        }
    }

    /// Begins an outage and reports it, or changes the reason of the current one without a report.
    private func degrade(_ failure: StoreFailure) {
        let (now, text) = (clock.monotonic(), failure.text(path: settings.path))
        if failure.isHeld, !hasConflict, let onConflict = listeners.onConflict {
            hasConflict = true
            onConflict(text)
        }
        guard outage == nil else {
            outage?.text = text
            outage?.isFull = failure.isFull
            return
        }
        var wait = Self.firstWait
        if let lastRecovery, now - lastRecovery.nanoseconds < Self.relapseTime {
            wait = min(lastRecovery.waitNanoseconds * 2, Self.longestWait)
        }
        if failure.isForeign { wait = Self.longestWait }
        outage = Outage(
            text: text, isFull: failure.isFull, retryNanoseconds: now + wait, waitNanoseconds: wait,
            notStoredBefore: reports.statistics.notStoredCount)
        reports.report(.storeFailed, text, Figure(.retry, .number(Double(wait) / Double(Self.second), decimals: 3)))
    }

    /// Tries to end the outage; if that fails, doubles the wait before the next attempt.
    private func retry() {
        do throws(StoreFailure) {
            do throws(StoreFailure) {
                try reopen()
                try recover()
            } catch {
                try replaceDamaged(error)
            }
        } catch {
            degrade(error)
            let wait = min((outage?.waitNanoseconds ?? 0) * 2, Self.longestWait)
            outage?.waitNanoseconds = wait
            outage?.retryNanoseconds = clock.monotonic() + wait
        }
    }

    /// Opens the file again, unless it is in place and only the disk was full.
    private func reopen() throws(StoreFailure) {
        if let file {
            switch file.whereabouts {
            case .inPlace:
                // The log may fill the disk; merging truncates it.
                try? file.mergeLog()
                if outage?.isFull ?? false { return }
            case .logGone: try? file.mergeLog(truncates: false)
            case .removed: try file.copyBack()
            case .replaced:
                throw .foreign(
                    path: settings.path, reason: "another file has taken its place while it was in use",
                    remedy: "restart Binnacle to use that one, or put the first one back")
            }
        }
        closeFile()
        try openFile()
    }

    /// Stores the deliveries in memory, and ends the outage.
    private func recover() throws(StoreFailure) {
        guard let outage, let file else { return }
        try file.transaction { () throws(StoreFailure) in
            try deliveries.removeDone(from: file)
            try deliveries.storeMemory(in: file)
            try file.skip(through: highestSequence)
        }
        deliveries.didRemoveDone()
        deliveries.didStoreMemory()
        continueNumbers(of: file)
        let now = clock.monotonic()
        committer.didChange(at: now)
        reports.reportRemainingDrops()
        lastRecovery = (now, outage.waitNanoseconds)
        self.outage = nil
        let count = reports.statistics.notStoredCount - outage.notStoredBefore
        reports.report(
            .storeRecovered, "\(settings.path): events are stored again", Figure(.count, .integer(Int64(count))))
    }

    /// Sets a damaged file aside and begins a new one.
    ///
    /// Throws `failure` itself if it is not damage, otherwise the failure that prevents the replacement.
    private func replaceDamaged(_ failure: StoreFailure) throws(StoreFailure) {
        guard case .damaged(let reason) = failure else { throw failure }
        let now = clock.monotonic()
        closeFile()
        damageTimes.removeAll { now - $0 > 3600 * Self.second }
        guard damageTimes.count < Self.mostDamages else {
            throw .foreign(
                path: settings.path, reason: "it is damaged again (\(reason)), for the fourth time within an hour",
                remedy: "check the disk; the file is left alone")
        }
        damageTimes.append(now)
        let aside = try FilePlace(settings.path).setAside(at: clock.wall())
        let wasDegraded = outage != nil
        let salvage = StoreSalvage(path: aside)
        var consequence = continueNumbers(of: salvage)
        if !deliveries.isConnected, !salvage.isCounted {
            consequence += "; what waited for handlers in it cannot be counted"
        }
        let damage = StoreFailure.damaged(
            "\(reason); it is set aside as \(aside), and a new one is begun\(consequence); what can be read of it is "
                + "copied, as \(AccountDatabase.name(ofUser: geteuid())), by: " + FilePlace.recoveryCommand(for: aside))
        degrade(damage)
        // During an outage `degrade` reports nothing, but the user needs the name of the file that was set aside.
        if wasDegraded { reports.report(.storeFailed, damage.text(path: settings.path)) }
        deliveries.dropWaiting(salvage, "they were in the damaged event store, which is set aside as \(aside)")
        try openFile()
        try recover()
    }

    // MARK: - What other threads see

    private func show() {
        let now = clock.monotonic()
        // The size may be a second old: a commit wakes this thread again a second later, which updates it.
        if now - fileBytes.nanoseconds >= Self.second {
            fileBytes = (["", "-wal"].reduce(0) { $0 + ((try? FilePlace.size(settings.path + $1)) ?? 0) }, now)
        }
        var statistics = reports.statistics
        statistics.failure = outage?.text
        statistics.fileBytes = fileBytes.count
        statistics.eventCount = file == nil ? nil : janitor.eventCount
        statistics.lastSequence = highestSequence
        statistics.handlers = deliveries.queues.values.sorted { $0.name < $1.name }.map { queue in
            EventStoreStatistics.Handler(
                name: queue.name, isExpected: deliveries.expectedHandlers?.contains(queue.name) ?? true,
                isAttached: queue.deliver != nil, position: queue.position,
                waitingCount: queue.waitingCount, unacknowledgedCount: queue.unacknowledged.count,
                removedCount: reports.removedCounts[queue.name] ?? 0)
        }
        gauges.change { $0.statistics = statistics }
    }
}

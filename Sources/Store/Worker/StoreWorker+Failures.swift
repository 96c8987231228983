import Binnacle
import LinuxSystem

extension StoreWorker {
    /// A failure this soon after a recovery is the same one.
    private static let relapseNanoseconds: Int64 = 60_000_000_000
    /// How often a damaged file is replaced before the disk is given up for a while.
    private static let mostDamages = 3
    private static let damageNanoseconds: Int64 = 3_600_000_000_000

    // MARK: - Opening

    /// Opens the file at the start.
    func open() {
        do throws(StoreFailure) {
            try mending { () throws(StoreFailure) in
                try openFile()
                if failure != nil { try recover() }
            }
        } catch {
            fail(error)
        }
    }

    /// Opens the file and goes on with it.
    private func openFile() throws(StoreFailure) {
        let new = try StoreFile(settings, succeeding: past)
        do throws(StoreFailure) {
            try adopt(new)
        } catch {
            new.close()
            throw error
        }
    }

    /// Does something with the file; one that turns out to be damaged is set aside, and another one begun.
    private func mending(_ body: () throws(StoreFailure) -> Void) throws(StoreFailure) {
        do throws(StoreFailure) {
            try body()
        } catch {
            guard case .damaged(let reason) = error else { throw error }
            try setAside(reason)
            try openFile()
            try recover()
        }
    }

    /// What a file that has to be made goes on with.
    private var past: StoreFile.Past {
        if !hadFile, let past = salvage?.past, past.identity != nil {
            return StoreFile.Past(identity: past.identity, lastSequence: max(past.lastSequence, highestSequence))
        }
        return StoreFile.Past(identity: board.identity, lastSequence: highestSequence)
    }

    /// Goes on with a file.
    private func adopt(_ new: StoreFile) throws(StoreFailure) {
        try mapError(StoreFailure.init) { () throws(SQLiteError) in
            try beginSalvages(in: new)
            let last = try new.lastDelivery()
            let lowest = lanes.values.compactMap(\.memory.first?.ticket).min() ?? nextTicket
            if nextTicket == 1 {
                nextTicket = last + 1
                firstTicket = nextTicket
            } else if lowest + ticketShift <= last {
                // Tickets were given out before the file could be read; what they stand for gets other numbers there.
                ticketShift = last - lowest + 1
            }
            try connectLanes(to: new)
            let times = try new.endTimes()
            (statistics.oldestWallNanoseconds, statistics.newestWallNanoseconds) = times
            if !hadFile { newestWallBeforeRun = times.newest ?? salvage?.newestWallNanoseconds }
        }
        for salvage in salvages { salvage.didBegin() }
        file = new
        hadFile = true
        board.identity = new.identity
        retention.forgetCount()
        retention.begin()
        if new.lastSequence > highestSequence {
            let isNews = highestSequence > 0 || failure != nil
            highestSequence = new.lastSequence
            if isNews {
                takenSequence = new.lastSequence
                listeners.onSequence(new.lastSequence)
            }
        }
    }

    /// Finds out what waits for each handler in a file.
    private func connectLanes(to new: StoreFile) throws(SQLiteError) {
        for lane in lanes.values {
            lane.number = nil
            lane.waitingInFile = 0
            lane.readTicket = .min
        }
        let counts = try new.deliveryCounts()
        for handler in try new.handlers() {
            let lane = lanes[handler.name] ?? DeliveryLane(name: handler.name, position: handler.position - ticketShift)
            lanes[handler.name] = lane
            lane.number = handler.number
            var handedCount = 0
            for ticket in lane.unacknowledged.union(lane.done) where try new.holdsDelivery(ticket + ticketShift) {
                handedCount += 1
            }
            lane.waitingInFile = max(0, (counts[handler.number] ?? 0) - handedCount)
        }
        for lane in lanes.values {
            try lane.forgetReturned { ticket throws(SQLiteError) in try new.holdsDelivery(ticket + ticketShift) }
        }
        mayHandOver = true
    }

    // MARK: - Failing

    /// Does something with the file.
    ///
    /// - Returns: What came of it; `nil` when it failed, which is told and dealt with.
    func attempt<Result>(_ body: () throws(SQLiteError) -> Result) -> Result? {
        do throws(SQLiteError) {
            return try body()
        } catch {
            failed(error)
            return nil
        }
    }

    /// Deals with a failure of the file.
    func failed(_ error: SQLiteError) {
        guard error.isDamage else { return fail(.sqlite(error)) }
        do throws(StoreFailure) {
            try mending { () throws(StoreFailure) in throw .damaged(error.reason) }
        } catch {
            fail(error)
        }
    }

    /// Deals with a file that is no longer what lies at its path.
    func fileHasMoved() {
        fail(
            .foreign(
                path: settings.path, reason: "the file was removed or replaced while it was in use",
                remedy: "what waits for handlers goes over into the one that is there now"))
        retry()
    }

    /// Takes note that nothing can be stored, and tells of it, once.
    private func fail(_ error: StoreFailure) {
        let now = clock.monotonic()
        let text = error.text(path: settings.path)
        isFull = error.isFull
        guard failure == nil else {
            failure?.text = text
            return
        }
        tellLateRecovery()
        let isRelapse = recoveredNanoseconds != .min && now - recoveredNanoseconds < Self.relapseNanoseconds
        var wait =
            isRelapse
            ? min(nextWaitNanoseconds, FailureState.longestWaitNanoseconds) : FailureState.firstWaitNanoseconds
        if error.isForeign { wait = FailureState.longestWaitNanoseconds }
        failure = FailureState(text: text, retryNanoseconds: now + wait, waitNanoseconds: wait)
        tell(.storeFailed, text, [Figure(.retry, .integer(wait / 1_000_000_000))])
    }

    private func tell(_ kind: EventKind, _ text: String, _ figures: [Figure] = []) {
        listeners.report(Event(kind: kind, timeNanoseconds: 0, figures: [Figure(.reason, .text(text))] + figures))
    }

    // MARK: - Recovering

    /// Tries again what failed.
    func retry() {
        guard failure != nil else { return }
        do throws(StoreFailure) {
            try mending { () throws(StoreFailure) in
                try reopen()
                try recover()
            }
        } catch {
            isFull = error.isFull
            failure?.failedAgain(error.text(path: settings.path), at: clock.monotonic())
        }
    }

    /// Brings about a file that can be written to, as far as one can do something for it.
    private func reopen() throws(StoreFailure) {
        if let file {
            switch file.whereabouts {
            case .inPlace:
                // The log may be what fills the disk.
                try? file.database.checkpoint(truncates: true)
                if isFull { return }
            case .logGone: try? file.database.checkpoint()
            case .gone:
                // Whoever has the file now has all of it.
                try? file.database.checkpoint(truncates: true)
                let new = try StoreFile(settings, succeeding: past)
                try carryOver(from: file, to: new)
                file.close()
                return try adopt(new)
            }
        }
        closeFile()
        try openFile()
    }

    /// Copies what handlers have still to do from a file that has lost its place into the one that is there now.
    private func carryOver(from old: StoreFile, to new: StoreFile) throws(StoreFailure) {
        try mapError(StoreFailure.init) { () throws(SQLiteError) in
            let oldShift = ticketShift
            let lowest = try old.oldestDeliveries(limit: 1).first.map { $0.id - oldShift } ?? nextTicket
            let newShift = max(oldShift, try new.lastDelivery() - lowest + 1)
            try new.database.transaction { () throws(SQLiteError) in
                for handler in try old.handlers() {
                    let number = try new.handlerNumber(handler.name)
                    let done = lanes[handler.name]?.done ?? []
                    var last = Int64.min
                    while true {
                        let rows = try old.deliveries(of: handler.number, behind: last, limit: Self.groupCapacity)
                        guard let end = rows.last?.id else { break }
                        last = end
                        for row in rows where !done.contains(row.id - oldShift) {
                            guard let event = row.event else { continue }
                            try new.insert(row.id - oldShift + newShift, of: number, PublishedEvent(event))
                        }
                    }
                }
            }
            ticketShift = newShift
            for lane in lanes.values { lane.forgetDone(lane.done) }
        }
    }

    /// Stores what could not be stored, and tells that all is well again.
    private func recover() throws(StoreFailure) {
        guard let file else { return }
        try mapError(StoreFailure.init) { () throws(SQLiteError) in
            try file.database.transaction { () throws(SQLiteError) in
                try removeDone(from: file)
                for lane in lanes.values {
                    for delivery in lane.memory {
                        try file.insert(
                            delivery.ticket + ticketShift, of: number(of: lane, in: file),
                            PublishedEvent(delivery.event))
                    }
                }
                try file.setMeta("last_sequence", String(max(highestSequence, file.lastSequence)))
            }
        }
        didRemoveDone()
        for lane in lanes.values { lane.didStoreMemory() }
        tellDrops()
        mayHandOver = true
        didChange()
        notStoredBeforeRecovery += failure?.notStoredCount ?? 0
        nextWaitNanoseconds = (failure?.waitNanoseconds ?? 0) * 2
        recoveredNanoseconds = clock.monotonic()
        failure = nil
        if salvage == nil { tellRecovered("events are stored again") }
    }

    private func tellRecovered(_ text: String) {
        lateRecovery = (text, clock.monotonic())
        if !awaitsHigherNumbers { tellLateRecovery() }
    }

    /// Whether events may still come that have numbers of those in the file.
    var awaitsHigherNumbers: Bool { takenSequence > 0 && highestSequence <= takenSequence }

    /// Tells that all is well again, and how many events were not stored until then.
    ///
    /// When the file turned out to hold higher numbers, events are still on their way that have one of those; they are not
    /// stored, either. The first one that has a higher number is behind them.
    func tellLateRecovery() {
        guard let (text, _) = lateRecovery else { return }
        lateRecovery = nil
        tell(.storeRecovered, "\(settings.path): \(text)", [Figure(.count, .integer(Int64(notStoredBeforeRecovery)))])
        notStoredBeforeRecovery = 0
    }

    // MARK: - Damage

    /// Sets the damaged file aside, and takes what can be read of it into the next one.
    private func setAside(_ reason: String) throws(StoreFailure) {
        let now = clock.monotonic()
        closeFile()
        // At the end there is no time left to begin another one; the next run sets it aside.
        guard !isClosing else { throw .damaged(reason) }
        damageTimes.removeAll { now - $0 > Self.damageNanoseconds }
        guard damageTimes.count < Self.mostDamages else {
            throw .foreign(
                path: settings.path, reason: "it is damaged again (\(reason)), for the fourth time within an hour",
                remedy: "see to the disk; it is left alone")
        }
        damageTimes.append(now)
        let wall = clock.wall()
        let path = settings.path
        let aside = try mapError(StoreFailure.system) { () throws(SystemError) in
            try DamagedFile.setAside(try FilePlace(path), at: wall)
        }
        let failed = failure != nil
        let damage = StoreFailure.damaged("\(reason); it is set aside as \(aside.path), and a new one is begun")
        fail(damage)
        // What it is called has to be known also when something else was told before.
        if failed { tell(.storeFailed, damage.text(path: path)) }
        let salvage = Salvage(aside)
        salvages.insert(salvage, at: 0)
        addSalvages(salvage.unfinished, beside: aside)
    }

    /// Takes what can be read of the damaged files into a new one, and goes on with what was begun in it before.
    private func beginSalvages(in new: StoreFile) throws(SQLiteError) {
        let done = Set(lanes.values.flatMap { lane in lane.done.map { $0 + ticketShift } })
        for salvage in salvages { try salvage.begin(in: new, without: done) }
        addSalvages(try StoreFile.salvages(in: new.database), beside: new.place)
    }

    private func addSalvages(_ found: [(name: String, progress: SalvageProgress)], beside place: FilePlace) {
        let folder = place.path.prefix(through: place.path.lastIndex(of: "/") ?? place.path.startIndex)
        for (name, progress) in found where !salvages.contains(where: { $0.path == folder + name }) {
            salvages.append(Salvage(FilePlace(resolved: folder + name), progress: progress))
        }
    }

    /// Copies a few more events out of a damaged file.
    func continueSalvage() {
        guard let salvage, let file else { return }
        let step = attempt { () throws(SQLiteError) in try salvage.copyEvents(to: file) }
        guard let step else { return }
        retention.didAppend(step.copiedCount)
        didChange()
        guard !step.isMore else { return }
        salvages.removeFirst()
        let progress = salvage.progress
        statistics.unreadableCount += progress.unreadableCount
        var text =
            "\(progress.eventCount) events and \(progress.deliveryCount) deliveries were copied from \(salvage.path)"
        if progress.unreadableCount > 0 { text += ", \(progress.unreadableCount) rows of it could not be read" }
        if !salvage.isReadable { text = "\(salvage.path) cannot be opened, and nothing was copied from it" }
        salvageTexts.append(text)
        guard salvages.isEmpty else { return }
        tellRecovered((["events are stored again"] + salvageTexts).joined(separator: "; "))
        salvageTexts = []
    }

    /// Puts a damaged file back when no other one could be begun: the next run goes on from there.
    func putBack() {
        guard let salvage, !salvage.hasCopiedDeliveries, let place = try? FilePlace(settings.path),
            (try? place.status)?.size ?? 0 == 0
        else { return }
        let aside = FilePlace(resolved: salvage.path)
        salvages = []
        DamagedFile.putBack(aside, to: place)
    }
}

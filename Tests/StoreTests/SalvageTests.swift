import Binnacle
import Foundation
import Glibc
import LinuxSystem
import Store
import Synchronization
import TestSupport
import Testing

/// What is in a damaged file is not lost, whenever it is found and whatever comes between.
@Suite struct SalvageTests {
    /// Makes a file whose table or index cannot be read, which is found when everything else was.
    private func damaged(_ folder: StoreFolder, _ name: String, eventCount: UInt64 = 300) throws {
        let run = try StoreRun(folder.file)
        run.append(1...eventCount)
        run.submit(1...60)
        run.submit(1...50, for: "broker")
        run.end()
        var database: Database? = try Database(path: folder.file, access: .readImmutable)
        let page = try #require(
            try database?.integer("SELECT rootpage FROM sqlite_schema WHERE name = '\(name)'"))
        database = nil
        let file = try #require(FileHandle(forUpdatingAtPath: folder.file))
        try file.seek(toOffset: UInt64(page - 1) * 4096)
        file.write(Data(repeating: 0xA5, count: 12))
        try file.close()
    }

    /// The files that were set aside, without what belongs to them.
    private func aside(_ folder: StoreFolder) -> [String] {
        folder.names.filter { $0.contains(".damaged-") && !$0.hasSuffix("-wal") && !$0.hasSuffix(".shm") }
    }

    private func expectAll(_ run: StoreRun, eventCount: UInt64 = 300) throws {
        try run.wait("the end of the salvage") { run.of(.storeRecovered).count == 1 }
        #expect(try run.history().numbers == Array(1...eventCount))
        run.attach()
        run.attach("broker")
        try run.settle()
        #expect(run.delivered().numbers == Array(1...60) && run.delivered("broker").numbers == Array(1...50))
    }

    @Test func damageThatIsFoundBehindTheOpeningIsTold() throws {
        let folder = try StoreFolder()
        try damaged(folder, "deliveries_by_handler")
        let run = try StoreRun(folder.file)
        let name = try #require(aside(folder).first)
        #expect(run.of(.storeFailed).count == 1)
        let reason = try #require(run.of(.storeFailed).first?.text(.reason))
        #expect(reason.contains("set aside as \(folder.path)/\(name)"), "\(reason)")
        #expect(run.store.statistics.failure == nil && run.store.lastSequence == 300)
        try expectAll(run)
        #expect(run.of(.storeRecovered).first?.text(.reason)?.contains("300 events and 110 deliveries") == true)
    }

    @Test func aStopAtOnceLosesNothing() throws {
        let folder = try StoreFolder()
        try damaged(folder, "deliveries_by_handler")
        try StoreRun(folder.file).end()
        #expect(folder.names.contains("events.db"))
        let next = try StoreRun(folder.file)
        #expect(try next.history().numbers == Array(1...300))
        next.attach()
        try next.settle()
        #expect(next.delivered().numbers == Array(1...60))
    }

    /// A file that somebody else has, so that the damage is found at the next attempt.
    private func held(
        _ folder: StoreFolder, clock: StoreClock = StoreRun.clock
    ) throws -> (run: StoreRun, holder: Database) {
        try damaged(folder, "deliveries_by_handler")
        let holder = try Database(path: folder.file, access: .change)
        try holder.execute("PRAGMA locking_mode = EXCLUSIVE")
        _ = try holder.integer("SELECT count(*) FROM events")
        let run = try StoreRun(folder.file, clock: clock)
        #expect(run.of(.storeFailed).first?.text(.reason)?.contains("locked") == true)
        return (run, holder)
    }

    @Test func damageThatIsFoundAtTheNextAttemptIsTold() throws {
        let folder = try StoreFolder()
        let (run, holder) = try held(folder)
        holder.close()
        try expectAll(run)
        let name = try #require(aside(folder).first)
        #expect(run.of(.storeFailed).count == 2)
        #expect(run.of(.storeFailed).last?.text(.reason)?.contains("set aside as \(folder.path)/\(name)") == true)
    }

    @Test func atTheEndNothingIsSetAside() throws {
        let folder = try StoreFolder()
        // Time stands still, so that nothing is tried before the end.
        let (run, holder) = try held(folder, clock: StoreClock(wall: StoreRun.clock.wall, monotonic: { 1 }))
        holder.close()
        run.end()
        #expect(run.of(.storeFailed).count == 1 && aside(folder).isEmpty)
        #expect(folder.names.contains("events.db"))
        let next = try StoreRun(folder.file)
        #expect(try next.history().numbers == Array(1...300))
        next.attach("broker")
        try next.settle()
        #expect(next.delivered("broker").numbers == Array(1...50))
    }

    @Test func theNextRunGoesOnWithWhatIsLeft() throws {
        let folder = try StoreFolder()
        let eventCount = UInt64(TestForm.count(6000, long: 20_000))
        try damaged(folder, "deliveries_by_handler", eventCount: eventCount)
        // The time that the end takes for it is over at once.
        let time = Atomic<Int64>(SystemClock.monotonic())
        let clock = StoreClock(
            wall: StoreRun.clock.wall,
            monotonic: { time.add(3_000_000_000, ordering: .relaxed).newValue })
        let first = try StoreRun(folder.file, clock: clock)
        let (begun, released) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let store = first.store
        store.attach("alarm", limit: 100) { deliveries in
            for delivery in deliveries { store.acknowledge("alarm", delivery.ticket) }
            begun.signal()
            released.wait()
        }
        begun.wait()
        store.finish()
        released.signal()
        first.end()
        #expect(first.of(.storeRecovered).isEmpty, "it was not interrupted")
        let name = try #require(aside(folder).first)
        let second = try StoreRun(folder.file)
        second.attach()
        second.attach("broker")
        second.append(eventCount + 1...eventCount + 1)
        try second.wait("the end of the salvage") { second.of(.storeRecovered).count == 1 }
        let told = try #require(second.of(.storeRecovered).first?.text(.reason))
        #expect(
            told.contains("\(eventCount) events and 110 deliveries were copied from \(folder.path)/\(name)"), "\(told)")
        #expect(try second.history().numbers == Array(1...eventCount + 1))
        #expect(second.delivered().isEmpty, "what was done with does not come again")
        #expect(second.delivered("broker").numbers == Array(1...50))
        second.end()
        let third = try StoreRun(folder.file)
        try third.settle()
        third.end()
        #expect(third.reports.isEmpty, "it is complete")
    }

    @Test func whatIsLeftMayBeGone() throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.file)
        run.append(1...3)
        run.end()
        try sqlite(
            folder.file,
            """
            INSERT INTO meta VALUES('salvage nowhere.db', '0 1 2'), ('salvage ../../etc/passwd', '');
            INSERT INTO meta VALUES('salvage ', '9 9 9 9 9 9');
            """)
        let next = try StoreRun(folder.file)
        try next.wait("the end of the salvage") { next.of(.storeRecovered).count == 1 }
        #expect(next.of(.storeRecovered).first?.text(.reason)?.contains("nowhere.db cannot be opened") == true)
        #expect(try next.history().numbers == [1, 2, 3])
    }

    @Test func deliveriesOfAHandlerThatIsNotKnownGoToNobody() throws {
        let folder = try StoreFolder()
        try damaged(folder, "cursors")
        let run = try StoreRun(folder.file)
        run.attach("broker")
        run.attach()
        run.submit(301...301, for: "broker")
        run.submit(302...302)
        try run.wait("the end of the salvage") { run.of(.storeRecovered).count == 1 }
        try run.settle()
        #expect(run.delivered("broker").numbers == [301] && run.delivered().numbers == [302])
        #expect(run.of(.storeRecovered).first?.text(.reason)?.contains("110 rows of it could not be read") == true)
        #expect(run.store.statistics.unreadableCount == 110)
        #expect(try run.history().numbers == Array(1...300))
    }
}

import Binnacle
import Foundation
import LinuxSystem
import Store
import Synchronization
import TestSupport
import Testing

/// Sequence numbers never fall, and one number with its identity is one event, whatever is damaged, full or killed.
@Suite struct NumberTests {
    /// How the page of a table is overwritten.
    enum Damage: String, Sendable, CaseIterable {
        /// The beginning of its header.
        case header
        /// All of it.
        case zeros, ones
        /// It claims to hold no rows, which SQLite believes.
        case emptied
        /// The rows themselves.
        case rows
    }

    private static let eventCount: UInt64 = 300

    /// Copies a store that is in use, as a kill leaves it.
    private func kill(_ from: StoreFolder, to: StoreFolder) throws {
        for name in from.names {
            let child = Child(["cp", from.path + "/" + name, to.path + "/" + name])
            try child.run()
            child.waitUntilExit()
        }
    }

    private func make(_ folder: StoreFolder) throws -> String {
        let run = try StoreRun(folder.file)
        run.append(1...Self.eventCount)
        run.submit(1...60)
        run.submit(1...50, for: "broker")
        run.end()
        return run.store.identity
    }

    private func overwrite(_ folder: StoreFolder, rootOf table: String, _ damage: Damage) throws {
        var database: Database? = try Database(path: folder.file, access: .readImmutable)
        let page = try #require(try database?.integer("SELECT rootpage FROM sqlite_schema WHERE name = '\(table)'"))
        database = nil
        let file = try #require(FileHandle(forUpdatingAtPath: folder.file))
        let start = UInt64(page - 1) * 4096
        try file.seek(toOffset: start)
        switch damage {
        case .header: file.write(Data(repeating: 0xA5, count: 12))
        case .zeros: file.write(Data(count: 4096))
        case .ones: file.write(Data(repeating: 0xFF, count: 4096))
        // The kind of the page stays: 13 and 10 are leaves of a table and of an index.
        case .emptied: file.write(Data([table == "meta" ? 10 : 13, 0, 0, 0, 0, 0x10, 0x00, 0]))
        case .rows:
            try file.seek(toOffset: start + 2048)
            file.write(Data((0..<2048).map { UInt8(truncatingIfNeeded: $0 &* 37) }))
        }
        try file.close()
    }

    @Test(arguments: ["meta", "events", "deliveries", "cursors"], Damage.allCases)
    func numbersNeverFall(_ table: String, _ damage: Damage) throws {
        let folder = try StoreFolder()
        let identity = try make(folder)
        try overwrite(folder, rootOf: table, damage)
        let run = try StoreRun(folder.file)
        run.attach()
        let first = run.store.lastSequence + 1
        #expect(first > Self.eventCount)
        let new = first...first + 99
        for number in new {
            run.append(number...number)
            run.submit(number...number)
        }
        _ = try? run.history()
        try run.settle()
        #expect(run.published.numbers == Array(new))
        // Each live event is kept, and delivered once; what was before it comes before it.
        let delivered = run.delivered().numbers
        #expect(delivered.filter { $0 >= first } == Array(new))
        #expect(delivered == delivered.sorted() && Set(delivered).count == delivered.count)
        #expect(run.store.statistics.failure == nil)
        if run.of(.storeFailed).isEmpty || !folder.names.contains(where: { $0.contains(".damaged-") }) {
            #expect(try run.history().numbers.suffix(100) == Array(new)[...])
        }
        if run.store.identity == identity, delivered.count > 100 {
            #expect(run.delivered().allSatisfy { $0.event.identity == identity || $0.event.sequence >= first })
        }
        // What waited and is lost is told, and so is anything that was repaired.
        let told = run.of(.eventsDropped).compactMap { $0.integer(.count) }.reduce(0, +)
        let wasSetAside = folder.names.contains { $0.contains(".damaged-") }
        if wasSetAside {
            let isTold = run.of(.storeFailed).contains { $0.text(.reason)?.contains("set aside") == true }
            #expect(isTold && (delivered.count == 160 || told > 0 || isUncounted(run)), "\(run.reports.map(\.json))")
        }
        if table == "meta", damage != .rows { #expect(!run.of(.storeFailed).isEmpty) }
        run.end()
    }

    private func isUncounted(_ run: StoreRun) -> Bool {
        run.of(.storeFailed).contains { $0.text(.reason)?.contains("cannot be counted") == true }
    }

    @Test func withoutItsNotesAStoreGetsANewIdentity() throws {
        let folder = try StoreFolder()
        let identity = try make(folder)
        try overwrite(folder, rootOf: "meta", .zeros)
        let run = try StoreRun(folder.file)
        #expect(run.store.identity != identity)
        #expect(run.store.lastSequence > Self.eventCount + 60_000, "a margin behind everything that can be read")
        let reason = try #require(run.of(.storeFailed).first?.text(.reason))
        #expect(reason.contains("its identity cannot be read"), "\(reason)")
    }

    @Test func whatADamageTakesIsToldForEachHandler() throws {
        let folder = try StoreFolder()
        _ = try make(folder)
        try overwrite(folder, rootOf: "events", .zeros)
        let run = try StoreRun(folder.file)
        try run.wait("the reports") { run.of(.eventsDropped).count == 2 }
        let told = Dictionary(
            uniqueKeysWithValues: run.of(.eventsDropped).map { ($0.text(.handler), $0.integer(.count)) })
        #expect(told == ["alarm": 60, "broker": 50])
        #expect(run.of(.eventsDropped).allSatisfy { $0.text(.reason)?.contains("damaged event store") == true })
        #expect(run.store.statistics.removedDeliveryCount == 110)
    }

    @Test func whatADamageTakesWhileItRunsIsToldToo() throws {
        let folder = try StoreFolder()
        // More than SQLite keeps in memory.
        let first = try StoreRun(folder.file)
        first.append(1...8000)
        first.submit(1...60)
        first.submit(1...50, for: "broker")
        first.end()
        let run = try StoreRun(folder.file)
        run.attach(limit: 10)
        try run.settle()
        let child = Child([
            "dd", "if=/dev/urandom", "of=\(folder.file)", "bs=4096", "seek=20", "count=250", "conv=notrunc",
        ])
        try child.run()
        child.waitUntilExit()
        _ = try? run.history()
        try run.wait("the reports") { run.of(.eventsDropped).count == 2 }
        let told = Dictionary(
            uniqueKeysWithValues: run.of(.eventsDropped).map { ($0.text(.handler), $0.integer(.count)) })
        // Ten are with their handler.
        #expect(told == ["alarm": 50, "broker": 50])
    }

    @Test func aRefusedEventIsTold() throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.file)
        run.append(1...10)
        try run.settle()
        // Another program has written into the file, which the store cannot know.
        let other = try StoreFolder()
        try kill(folder, to: other)
        run.end()
        try sqlite(
            other.file,
            "INSERT INTO events SELECT seq + 500000, kind, sensor, wall_ns, body FROM events;"
                + "UPDATE meta SET value = '10' WHERE key = 'last_sequence'")
        let next = try StoreRun(other.file)
        #expect(next.store.lastSequence >= 500_010)
        next.append(500_005...500_005)
        try next.settle()
        #expect(next.of(.eventsDropped).first?.integer(.count) == 1)
        #expect(next.of(.eventsDropped).first?.text(.reason)?.contains("sequence numbers") == true)
    }

    // MARK: - Reserved numbers

    @Test func afterAKillNumbersContinueBehindWhatWasReserved() throws {
        let (folder, left) = (try StoreFolder(), try StoreFolder())
        let run = try StoreRun(folder.file)
        run.append(1...10)
        try run.settle()
        // As when the disk is full: they are known to others, and not in the file.
        try kill(folder, to: left)
        let killed = try StoreRun(left.file)
        #expect(killed.store.identity == run.store.identity)
        #expect(killed.store.lastSequence >= 100_000 && killed.store.lastSequence < 1_000_000)
        let first = killed.store.lastSequence + 1
        killed.append(first...first + 1)
        #expect(try killed.history().numbers == Array(1...10) + [first, first + 1])
        // A subscriber is not told of numbers that no event had.
        let gap = try #require(try killed.page(EventQuery(after: 5)).gaps.first)
        #expect(gap == 11...first - 1)
        #expect(try killed.page(EventQuery(after: first)).gaps.isEmpty)
        killed.end()
        let closed = try StoreRun(left.file)
        #expect(closed.store.lastSequence == first + 1, "a proper end releases what was reserved")
        #expect(try closed.page().gaps == [gap])
    }

    /// The events of an outage are more than what was reserved before it.
    @Test func whenNoMoreCanBeReservedTheIdentityChanges() throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.file)
        run.append(1...10)
        try run.settle()
        let identity = run.store.identity
        // Another file in its place is no file to write to.
        rename(folder.file, folder.path + "/kept.db")
        try sqlite(folder.file, "CREATE TABLE t(a)")
        var number: UInt64 = 11
        while run.store.identity == identity, number < 10_000_000 {
            run.append(number...number + 9999)
            number += 10_000
            try run.settle()
        }
        #expect(run.store.identity != identity)
        // Before the next run would use them.
        let last = run.jumps.last
        run.end()
        let database = try Database(path: folder.path + "/kept.db", access: .change)
        let reserved = try #require(
            try database.integer("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'reserved_sequence'"))
        #expect(number < reserved)
        #expect((11..<number).contains(last ?? 0))
    }

    @Test func aSecondStoreIsHeldOff() throws {
        let folder = try StoreFolder()
        let first = try StoreRun(folder.file)
        first.append(1...3)
        try first.settle()
        let conflicts = Conflicts()
        let second = try EventStore(
            EventStoreSettings(path: folder.file), report: { _ in }, publish: { _ in },
            onSequence: { _, _ in conflicts.add("sequence") }, onConflict: { conflicts.add($0) })
        try waitUntil("the conflict") { !conflicts.all.isEmpty }
        #expect(conflicts.all.first?.contains("another daemon") == true)
        // Readers are not concerned: the lock is for daemons, and a reader is told to ask the daemon.
        first.end()
        #expect(try StoreRun.pages(EventQuery()) { try EventStoreReader(path: folder.file).read($0) }.count == 3)
        second.finish()
        #expect(second.waitForEnd(until: SystemClock.monotonic() + 60_000_000_000))
    }
}

/// What a store told its owner.
private final class Conflicts: Sendable {
    private let state = Mutex<[String]>([])
    var all: [String] { state.withLock { $0 } }
    func add(_ text: String) { state.withLock { $0.append(text) } }
}

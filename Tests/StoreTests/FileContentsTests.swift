import Binnacle
import Foundation
import LinuxSystem
import Store
import TestSupport
import Testing

/// Rows that no store wrote, and what is concluded from how a file was left.
@Suite struct FileContentsTests {
    private func file(_ folder: StoreFolder, _ sql: String) throws {
        let run = try StoreRun(folder.file)
        run.append(1...10)
        run.submit(1...10)
        run.end()
        try sqlite(folder.file, sql)
    }

    @Test func whatCannotBeReadIsPassedOver() throws {
        let folder = try StoreFolder()
        try file(
            folder,
            """
            UPDATE events SET body = '{"seq":3' WHERE seq = 3;
            UPDATE events SET body = replace(body, '"seq":4', '"seq":5') WHERE seq = 4;
            UPDATE events SET body = CAST(x'7bff7d' AS TEXT) WHERE seq = 5;
            INSERT INTO events VALUES(-7, 'shock', NULL, NULL, '{}');
            UPDATE deliveries SET body = 'malformed' WHERE id IN (2, 3);
            UPDATE deliveries SET body = CAST(x'7bff7d' AS TEXT) WHERE id = 5;
            """)
        #expect(try EventStoreReader(path: folder.file).read(EventQuery()).unreadableCount == 3)
        let run = try StoreRun(folder.file)
        #expect(try run.history().numbers == [1, 2, 6, 7, 8, 9, 10])
        run.attach()
        try run.settle()
        #expect(run.delivered().numbers == [1, 4, 6, 7, 8, 9, 10])
        #expect(run.store.statistics.unreadableCount == 6)
        run.end()
        #expect(run.of(.eventsDropped).compactMap { $0.integer(.count) }.reduce(0, +) == 6)
        #expect(run.of(.eventsDropped).count < 6, "they are reported together")
        let next = try StoreRun(folder.file)
        next.attach()
        try next.settle()
        #expect(next.delivered().numbers == [1, 4, 6, 7, 8, 9, 10] && next.reports.isEmpty)
    }

    /// SQLite gives no row with a value beyond the limit, and ends the reading there.
    @Test func aRowLargerThanAnyThatIsWrittenIsPassedOver() throws {
        let folder = try StoreFolder()
        try file(
            folder,
            "UPDATE events SET body = hex(zeroblob(9000000)) WHERE seq IN (3, 4, 10);"
                + "UPDATE events SET kind = hex(zeroblob(9000000)) WHERE seq = 6;"
                + "UPDATE deliveries SET body = hex(zeroblob(9000000)) WHERE id IN (1, 5, 10);")
        let reader = EventStoreReader(path: folder.file)
        var (query, read, unreadable) = (EventQuery(), [UInt64](), 0)
        while true {
            let page = try reader.read(query)
            read += page.lines.map(\.sequence)
            unreadable += page.unreadableCount
            if page.isLast { break }
            query.after = page.through
        }
        #expect(read == [1, 2, 5, 7, 8, 9] && unreadable == 4)
        let run = try StoreRun(folder.file) { $0.keepMegabytes = 1000 }
        let kept = try run.history().numbers
        #expect(kept == [1, 2, 5, 7, 8, 9], "\(run.reports.map(\.json))")
        run.attach()
        try run.settle()
        #expect(run.delivered().numbers == [2, 3, 4, 6, 7, 8, 9])
        #expect(run.of(.storeFailed).isEmpty && run.store.statistics.failure == nil)
    }

    @Test(arguments: [
        "INSERT INTO events VALUES(\(Int64.max), 'shock', NULL, NULL, '{}')",
        "INSERT INTO deliveries VALUES(\(Int64.max), 1, NULL, '{}')",
        "UPDATE sqlite_sequence SET seq = \(Int64.max)",
        "INSERT INTO deliveries VALUES(\(Int64.max), 1, NULL, '{}'); UPDATE sqlite_sequence SET seq = 10",
        "INSERT INTO deliveries VALUES(\(Int64.max), 1, NULL, '{}'); UPDATE sqlite_sequence SET seq = 'ten'",
        "INSERT INTO deliveries VALUES(\(Int64.min), 1, NULL, '{}')",
        "UPDATE meta SET value = '\(UInt64.max)' WHERE key = 'last_sequence'",
        "UPDATE meta SET value = '\(UInt64.max)' WHERE key = 'last_sequence';"
            + "UPDATE meta SET value = 'normal before' WHERE key = 'running'",
    ]) func numbersThatNoStoreWritesAreDamage(_ sql: String) throws {
        let folder = try StoreFolder()
        try file(folder, sql)
        let run = try StoreRun(folder.file)
        #expect(run.of(.storeFailed).first?.text(.reason)?.contains("is no number of this store") == true)
        // The last number cannot be believed: they continue behind everything that can be read.
        let first = run.store.lastSequence + 1
        #expect(first > 10)
        run.append(first...first + 1)
        run.attach()
        run.submit(first...first + 1)
        try run.settle()
        #expect(run.published.numbers == [first, first + 1])
        #expect(Array(run.delivered().numbers.suffix(2)) == [first, first + 1])
        #expect(try run.history().numbers.suffix(2) == [first, first + 1])
        #expect(run.store.statistics.failure == nil)
    }

    @Test(arguments: [Int64.min, -1, .max]) func aPositionOrATimeMayBeAnything(_ number: Int64) throws {
        let folder = try StoreFolder()
        try file(
            folder,
            """
            UPDATE cursors SET position = \(number);
            UPDATE events SET wall_ns = \(number) WHERE seq = 1;
            UPDATE deliveries SET wall_ns = \(number);
            UPDATE sqlite_sequence SET seq = 'ten';
            """)
        let run = try StoreRun(folder.file)
        run.submit(11...11)
        run.attach()
        try run.settle()
        #expect(run.delivered().numbers == Array(1...11), "and no number is given out twice")
        #expect(run.reports == [])
    }

    @Test(arguments: ["normal another start of the machine", "full another start of the machine", ""])
    func aPowerCutMovesTheCount(_ mark: String) throws {
        let folder = try StoreFolder()
        try file(folder, "UPDATE meta SET value = '\(mark)' WHERE key = 'running'")
        let run = try StoreRun(folder.file)
        // With `normal`, others may know events that the disk does not have: their numbers are not given out again.
        #expect(run.store.lastSequence == (mark.hasPrefix("normal") ? 100_010 : 10))
        run.end()
        let next = try StoreRun(folder.file)
        #expect(next.store.lastSequence == run.store.lastSequence)
        #expect(run.reports == [] && next.reports == [])
    }

    /// What a kill leaves after SQLite has made the file, and before the tables are committed.
    @Test func aStoreThatWasNotMadeToItsEndIsMade() throws {
        let folder = try StoreFolder()
        try sqlite(folder.file, "PRAGMA auto_vacuum = INCREMENTAL; CREATE TABLE t(a); DROP TABLE t; VACUUM")
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file)).count == 4096)
        let run = try StoreRun(folder.file)
        run.append(1...3)
        #expect(try run.history().numbers == [1, 2, 3] && run.reports.isEmpty)
    }

    @Test func safetyCanBeChangedWhileItRuns() throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.file) { $0.synchronous = .full }
        run.append(1...5)
        var settings = EventStoreSettings(path: "/somewhere/else")
        settings.synchronous = .normal
        run.store.change(settings)
        run.append(6...7)
        #expect(try run.history().numbers == Array(1...7))
        run.end()
        #expect(folder.names == ["events.db"] && run.reports == [])
    }

    @Test func theFileIsForItsOwnerAndGroup() throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.file)
        run.append(1...1)
        try run.settle()
        for name in folder.names {
            var status = stat()
            #expect(lstat(folder.path + "/" + name, &status) == 0)
            #expect(status.st_mode & 0o777 & ~0o640 == 0, "\(name)")
        }
        #expect(folder.names == ["events.db", "events.db-wal"], "no index in shared memory")
    }
}

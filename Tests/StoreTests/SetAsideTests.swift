import Binnacle
import Foundation
import LinuxSystem
import Store
import TestSupport
import Testing

/// A damaged file is set aside as it is, whenever the damage is found, and one command copies what can be read of it.
@Suite struct SetAsideTests {
    private static let eventCount: UInt64 = 300

    /// Makes a file in which the root page of a table or an index is overwritten.
    private func damage(_ folder: StoreFolder, _ name: String) throws {
        let run = try StoreRun(folder.file)
        run.append(1...Self.eventCount)
        run.submit(1...60)
        run.submit(1...50, for: "broker")
        run.end()
        var database: Database? = try Database(path: folder.file, access: .readImmutable)
        let page = try #require(
            try database?.integer("SELECT rootpage FROM sqlite_schema WHERE name = '\(name)'"))
        database = nil
        try overwrite(folder.file, page: Int(page), count: 12)
    }

    private func overwrite(_ path: String, page: Int, count: Int) throws {
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.seek(toOffset: UInt64(page - 1) * 4096)
        file.write(Data(repeating: 0xA5, count: count))
        try file.close()
    }

    /// The files that were set aside, without what belongs to them.
    private func aside(_ folder: StoreFolder) -> [String] {
        folder.names.filter { $0.contains(".damaged-") && $0.hasSuffix("Z") }.map { folder.path + "/" + $0 }
    }

    /// Runs the command in the message of a failure.
    private func recover(_ failure: Event?) throws {
        let reason = try #require(failure?.text(.reason))
        let start = try #require(reason.range(of: "sqlite3 "))
        let child = Child(["/bin/sh", "-c", String(reason[start.lowerBound...])])
        try child.run()
        child.waitUntilExit()
        #expect(child.terminationStatus == 0, "\(reason)")
    }

    @Test func theNumbersGoOn() throws {
        let folder = try StoreFolder()
        try damage(folder, "deliveries_by_handler")
        let data = try Data(contentsOf: URL(fileURLWithPath: folder.file))
        let run = try StoreRun(folder.file)
        let name = try #require(aside(folder).first)
        #expect(run.of(.storeFailed).count == 1 && run.of(.storeRecovered).count == 1)
        let reason = try #require(run.of(.storeFailed).first?.text(.reason))
        #expect(reason.contains("set aside as \(name)"), "\(reason)")
        #expect(run.store.statistics.failure == nil && run.store.lastSequence == Self.eventCount)
        run.attach()
        run.append(301...310)
        run.submit(301...310)
        try run.settle()
        #expect(try run.history().numbers == Array(301...310) && run.delivered().numbers == Array(301...310))
        run.end()
        let next = try StoreRun(folder.file)
        #expect(try next.history().numbers == Array(301...310) && next.reports.isEmpty)
        try recover(run.of(.storeFailed).first)
        let reader = EventStoreReader(path: name + ".recovered")
        #expect(try StoreRun.pages(EventQuery()) { try reader.read($0) }.numbers == Array(1...Self.eventCount))
        // It is a store itself: its deliveries can be had, too.
        let recovered = try StoreRun(name + ".recovered")
        recovered.attach()
        recovered.attach("broker")
        try recovered.settle()
        #expect(recovered.delivered().numbers == Array(1...60))
        #expect(recovered.delivered("broker").numbers == Array(1...50))
        let kept = try Data(contentsOf: URL(fileURLWithPath: name))
        #expect(kept.count == data.count, "\(kept.count)")
    }

    /// The text of a table may look like a command of sqlite3's shell.
    @Test func theCommandRunsNoCommandOfTheFile() throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.file)
        run.append(1...3)
        run.end()
        let mark = folder.path + "/mark"
        try sqlite(
            folder.file,
            """
            CREATE TABLE x(a); CREATE TABLE y(a); PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = 'CREATE TABLE x(a);
            .system touch \(mark)
            SELECT 1' WHERE name = 'x';
            UPDATE sqlite_schema SET sql = 'CREATE TABLE y(' WHERE name = 'y';
            """)
        let next = try StoreRun(folder.file)
        let reason = try #require(next.of(.storeFailed).first?.text(.reason))
        let start = try #require(reason.range(of: "sqlite3 "))
        let child = Child(["/bin/sh", "-c", String(reason[start.lowerBound...])])
        try child.run()
        child.waitUntilExit()
        #expect(child.terminationStatus != 0 && !folder.names.contains("mark"), "\(reason)")
    }

    @Test func theCommandCopiesWhatCanBeRead() throws {
        let folder = try StoreFolder()
        let made = try StoreFolder()
        let path = made.path + "/it's a store.db"
        let run = try StoreRun(path)
        run.append(1...Self.eventCount)
        run.end()
        // A page of the events in the middle, which is known by what is in it.
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        let leaves = (1..<data.count / 4096).filter { page in
            let bytes = data[page * 4096..<(page + 1) * 4096]
            return bytes.first == 13 && String(decoding: bytes, as: UTF8.self).contains("\"seq\":150,")
        }
        for page in leaves { try overwrite(path, page: page + 1, count: 100) }
        let damaged = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(!leaves.isEmpty && damaged != data)
        let next = try StoreRun(path)
        #expect(next.store.lastSequence == Self.eventCount)
        let identity = next.store.identity
        _ = try? next.history()
        try next.wait("the recovery") { next.of(.storeRecovered).count == 1 }
        #expect(next.store.identity == identity, "the numbers go on")
        try recover(next.of(.storeFailed).first)
        let name = try #require(aside(made).first)
        let kept = try Data(contentsOf: URL(fileURLWithPath: name))
        #expect(kept.count == damaged.count && kept[kept.count - 4096..<kept.count].count == 4096)
        let reader = EventStoreReader(path: name + ".recovered")
        let numbers = try StoreRun.pages(EventQuery()) { try reader.read($0) }.numbers
        #expect(numbers.count > 200 && numbers.count < Int(Self.eventCount) && numbers == numbers.sorted())
        #expect(numbers.first == 1 && numbers.last == Self.eventCount && !numbers.contains(150))
        #expect(folder.names.isEmpty)
    }

    /// A file that another process has, so that the damage is found at the next attempt.
    private func held(
        _ folder: StoreFolder, clock: StoreClock = StoreRun.clock
    ) throws -> (run: StoreRun, holder: Database) {
        try damage(folder, "deliveries_by_handler")
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
        run.append(1...3)
        run.submit(1...3)
        holder.close()
        try run.wait("the recovery") { run.of(.storeRecovered).count == 1 }
        let name = try #require(aside(folder).first)
        #expect(run.of(.storeFailed).count == 2 && run.jumps == [Self.eventCount])
        #expect(run.of(.storeFailed).last?.text(.reason)?.contains("set aside as \(name)") == true)
        run.attach()
        try run.settle()
        #expect(run.delivered().numbers == Array(1...3), "what waited in memory is not lost")
    }

    @Test func damageThatIsFoundAtTheEndIsTold() throws {
        let folder = try StoreFolder()
        // Time stands still, so that nothing is tried before the end.
        let (run, holder) = try held(folder, clock: StoreClock(wall: StoreRun.clock.wall, monotonic: { 1 }))
        run.submit(1...3)
        holder.close()
        run.end()
        let name = try #require(aside(folder).first)
        #expect(run.of(.storeFailed).last?.text(.reason)?.contains("set aside as \(name)") == true)
        let next = try StoreRun(folder.file)
        next.attach()
        try next.settle()
        #expect(next.reports.isEmpty && next.delivered().numbers == Array(1...3))
    }

    /// Versions before this one copied events from a damaged file in the background, and noted how far they were.
    @Test func aNoteOfAFormerVersionIsIgnored() throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.file)
        run.append(1...3)
        run.end()
        try sqlite(folder.file, "INSERT INTO meta VALUES('salvage nowhere.db', '0 1 2'), ('salvage ', '9 9')")
        let next = try StoreRun(folder.file)
        #expect(try next.history().numbers == [1, 2, 3] && next.reports.isEmpty)
    }
}

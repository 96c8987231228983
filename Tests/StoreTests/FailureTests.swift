import Binnacle
import Foundation
import LinuxSystem
import Store
import TestSupport
import Testing

/// What the store cannot use is reported and left alone, and everything goes on without it.
@Suite struct FailureTests {
    /// A place that cannot be a store, and what the message has to say of it.
    struct Place: Sendable, CustomTestStringConvertible {
        let name: String
        let says: [String]
        /// Makes it in a folder.
        ///
        /// - Returns: The path of the store.
        let make: @Sendable (String) throws -> String
        var testDescription: String { name }
    }

    static let places: [Place] = [
        Place(name: "a folder that is not there", says: ["No such file", "make the folder"]) {
            $0 + "/nowhere/events.db"
        },
        Place(name: "below a file", says: ["make the folder"]) { folder in
            try Data("x".utf8).write(to: URL(fileURLWithPath: folder + "/file"))
            return folder + "/file/events.db"
        },
        Place(name: "a read-only file system", says: ["let the account"]) { _ in "/sys/kernel/events.db" },
        Place(name: "a directory", says: ["no regular file", "left alone"]) { folder in
            try FileManager.default.createDirectory(atPath: folder + "/events.db", withIntermediateDirectories: false)
            return folder + "/events.db"
        },
        Place(name: "a FIFO", says: ["no regular file"]) { folder in
            mkfifo(folder + "/events.db", 0o600)
            return folder + "/events.db"
        },
        Place(name: "a device", says: ["no regular file"]) { _ in "/dev/null" },
        Place(name: "a symbolic link", says: ["symbolic link"]) { folder in
            try Data().write(to: URL(fileURLWithPath: folder + "/target"))
            symlink(folder + "/target", folder + "/events.db")
            return folder + "/events.db"
        },
        Place(name: "a text", says: ["no event store", "left alone"]) { folder in
            try Data(String(repeating: "some text\n", count: 4096).utf8)
                .write(to: URL(fileURLWithPath: folder + "/events.db"))
            return folder + "/events.db"
        },
        Place(name: "another program's database", says: ["no event store"]) { folder in
            try sqlite(folder + "/events.db", "CREATE TABLE t(a); INSERT INTO t VALUES(1)")
            return folder + "/events.db"
        },
        Place(name: "another program's database with a name", says: ["no event store"]) { folder in
            try sqlite(folder + "/events.db", "PRAGMA application_id = 77; CREATE TABLE events(a)")
            return folder + "/events.db"
        },
        Place(name: "a newer version", says: ["version 2", "newer"]) { folder in
            try store(folder + "/events.db", "PRAGMA user_version = 2")
        },
        Place(name: "a store with a trigger", says: ["other tables, views or triggers"]) { folder in
            try store(
                folder + "/events.db", "CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM deliveries; END")
        },
        Place(name: "a store with a view in a table's place", says: ["other tables, views or triggers"]) { folder in
            try store(
                folder + "/events.db",
                "DROP TABLE meta; CREATE VIEW meta AS SELECT 'identity' AS key, 'x' AS value")
        },
    ]

    /// Makes a store and changes it.
    private static func store(_ path: String, _ sql: String) throws -> String {
        let run = try StoreRun(path)
        run.append(1...3)
        run.end()
        try sqlite(path, sql)
        return path
    }

    @Test(arguments: places) func everythingGoesOnWithoutAFile(_ place: Place) throws {
        let folder = try StoreFolder()
        let path = try place.make(folder.path)
        let names = folder.names
        let before = FileManager.default.contents(atPath: folder.file)
        let run = try StoreRun(path)
        #expect(run.store.lastSequence == 0)
        #expect(run.of(.storeFailed).count == 1)
        let reason = try #require(run.of(.storeFailed).first?.text(.reason))
        for word in place.says + [path.split(separator: "/").last.map(String.init) ?? ""] {
            #expect(reason.contains(word), "\(reason)")
        }
        run.append(1...10)
        run.submit(1...10)
        run.attach(limit: 5)
        try run.wait("the deliveries") { run.delivered().count == 5 && run.published.count == 10 }
        run.submit(11...20)
        for delivery in run.delivered() { run.store.acknowledge("alarm", delivery.ticket) }
        try run.wait("more") { run.delivered().count == 10 }
        let page = try run.page()
        #expect(page.failure == reason)
        #expect(run.published.numbers == Array(1...10))
        #expect(run.delivered().numbers == Array(1...10))
        let statistics = run.store.statistics
        #expect(statistics.failure == reason && statistics.notStoredCount == 10)
        #expect(statistics.handlers.first?.waitingCount == 10)
        run.end()
        #expect(run.reports.count == 1, "\(run.reports.map(\.json))")
        #expect(folder.names == names)
        #expect(FileManager.default.contents(atPath: folder.file) == before)
    }

    @Test func aFolderThatComesIsUsed() throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.path + "/later/events.db")
        run.append(1...10)
        run.attach(limit: 4)
        run.submit(1...10)
        try run.settle()
        #expect(run.delivered().numbers == [1, 2, 3, 4])
        let identity = run.store.identity
        try FileManager.default.createDirectory(atPath: folder.path + "/later", withIntermediateDirectories: false)
        try run.wait("the recovery") { run.of(.storeRecovered).count == 1 }
        #expect(run.of(.storeRecovered).first?.integer(.count) == 10)
        #expect(run.store.identity == identity, "the numbers go on, so what they belong to stays")
        run.append(11...12)
        run.store.acknowledge("alarm", run.delivered()[2].ticket)
        try run.settle()
        #expect(run.delivered().numbers == [1, 2, 3, 4, 5])
        #expect(try run.history().numbers == [11, 12])
        run.end()
        let next = try StoreRun(folder.path + "/later/events.db")
        #expect(next.store.lastSequence == 12)
        next.attach()
        try next.settle()
        #expect(next.delivered().numbers == [1, 2, 4, 5, 6, 7, 8, 9, 10], "what was in memory is in the file")
    }

    @Test func aStoreThatComesLateMovesTheCount() throws {
        let folder = try StoreFolder()
        let first = try StoreRun(folder.file)
        first.append(1...500)
        first.submit(1...6)
        first.end()
        var holder: Database? = try Database(path: folder.file, access: .change)
        try holder?.execute("PRAGMA locking_mode = EXCLUSIVE")
        _ = try holder?.integer("SELECT count(*) FROM events")
        let second = try StoreRun(folder.file)
        let reason = try #require(second.of(.storeFailed).first?.text(.reason))
        #expect(reason.contains("locked") && reason.contains("another process"), "\(reason)")
        #expect(second.store.identity != first.store.identity)
        second.attach()
        second.append(1...5)
        second.submit(101...103)
        try second.settle()
        #expect(second.delivered().numbers == [101, 102, 103])
        holder = nil
        try second.wait("the recovery") { second.of(.storeRecovered).count == 1 }
        #expect(second.jumps == [500])
        #expect(second.store.identity == first.store.identity)
        try second.settle()
        #expect(second.delivered().numbers == [101, 102, 103, 1, 2, 3, 4, 5, 6])
        #expect(Set(second.delivered().map(\.ticket)).count == 9)
        for delivery in second.delivered() { second.store.acknowledge("alarm", delivery.ticket) }
        second.append(501...501)
        second.submit(501...501)
        try second.settle()
        #expect(try second.history(EventQuery(after: 499)).numbers == [500, 501])
        second.end()
        let third = try StoreRun(folder.file)
        third.attach()
        try third.settle()
        #expect(third.delivered().numbers == [501])
    }

    @Test func numbersThatAreTakenAreCounted() throws {
        let folder = try StoreFolder()
        let first = try StoreRun(folder.file)
        first.append(1...500)
        first.end()
        // It was given out, too.
        try sqlite(folder.file, "DELETE FROM events WHERE seq = 7")
        var holder: Database? = try Database(path: folder.file, access: .change)
        try holder?.execute("PRAGMA locking_mode = EXCLUSIVE")
        _ = try holder?.integer("SELECT count(*) FROM events")
        let second = try StoreRun(
            folder.file,
            onJump: { store, number in
                // What was on its way, and then the first with a number behind the file's.
                for number in [6, 7, 8, number + 1] { store.append(StoreRun.event(number, kind: .shake)) }
            })
        second.append(1...5)
        try second.settle()
        holder = nil
        try second.wait("the recovery") { second.of(.storeRecovered).count == 1 }
        #expect(second.of(.storeRecovered).first?.integer(.count) == 5)
        // What was on its way with a number of the file's is counted after that.
        try second.settle()
        #expect(second.store.statistics.notStoredCount == 8)
        #expect(second.published.numbers == Array(1...8) + [501])
        #expect(try second.history().numbers == Array(1...6) + Array(8...501))
        #expect(try second.history().filter { $0.kind == .shake }.numbers == [501])
        second.end()
        // The events that the file refused are reported beside the failure and its end.
        #expect(second.reports.count == 3)
        #expect(second.of(.eventsDropped).first?.integer(.count) == 3)
    }

    @Test func aSecondDaemonDoesNotGetTheFile() throws {
        let folder = try StoreFolder()
        let first = try StoreRun(folder.file)
        first.append(1...10)
        let second = try StoreRun(folder.file)
        #expect(second.of(.storeFailed).count == 1)
        second.append(11...12)
        try second.settle()
        #expect(try first.history().numbers == Array(1...10))
        first.end()
        try second.wait("the recovery") { second.of(.storeRecovered).count == 1 }
        // Numbers stay, and belong to the file's identity from there on.
        #expect(second.jumps == [12])
        #expect(try second.history().numbers == Array(1...10))
    }

    @Test func memoryIsBounded() throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.path + "/nowhere/events.db")
        run.attach(limit: 10)
        run.submit(1...10_000)
        try run.settle()
        #expect(run.delivered().numbers == Array(1...10))
        let handler = try #require(run.store.statistics.handlers.first)
        #expect(handler.waitingCount < 5000)
        #expect(run.store.statistics.droppedCount == 10_000 - 10 - handler.waitingCount)
        let dropped = try #require(run.of(.eventsDropped).first)
        #expect(dropped.text(.handler) == "alarm" && dropped.text(.reason)?.contains("does not work") == true)
    }

    @Test(arguments: [["events.db"], ["events.db", "events.db-wal"]])
    func aFileThatIsRemovedIsWrittenAgain(_ removed: [String]) throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.file)
        run.attach(limit: 3)
        run.append(1...100)
        run.submit(1...2000)
        try run.settle()
        let identity = run.store.identity
        for name in removed { unlink(folder.path + "/" + name) }
        run.append(101...110)
        run.submit(2001...2010)
        try run.settle()
        #expect(run.of(.storeFailed).count == 1 && run.of(.storeRecovered).count == 1)
        #expect(try run.history().numbers == Array(1...110))
        #expect(run.store.identity == identity)
        #expect(run.published.numbers == Array(1...110))
        run.store.acknowledge("alarm", run.delivered()[1].ticket)
        try run.settle()
        #expect(run.delivered().numbers == [1, 2, 3, 4])
        run.end()
        let next = try StoreRun(folder.file)
        next.attach()
        try next.settle()
        #expect(next.delivered().numbers == [1] + Array(3...2010), "what waited is in the file that was written again")
        #expect(try next.history().numbers == Array(1...110) && folder.names == ["events.db", "events.db-wal"])
    }

    @Test func aFileThatIsRemovedBeforeTheEndIsWrittenAgain() throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.file)
        run.attach(limit: 3)
        run.append(1...100)
        run.submit(1...20)
        try run.settle()
        for name in ["events.db", "events.db-wal"] { unlink(folder.path + "/" + name) }
        run.end()
        let next = try StoreRun(folder.file)
        next.attach()
        try next.settle()
        #expect(try next.history().numbers == Array(1...100))
        #expect(next.delivered().numbers == Array(1...20))
    }

    @Test func aFileThatIsReplacedIsLeftAlone() throws {
        let folder = try StoreFolder()
        let other = try StoreRun(folder.path + "/other.db")
        other.append(1...700)
        other.submit(1...5)
        other.end()
        let run = try StoreRun(folder.file)
        run.attach(limit: 3)
        run.append(1...10)
        run.submit(11...20)
        try run.settle()
        rename(folder.file, folder.path + "/kept.db")
        rename(folder.path + "/other.db", folder.file)
        let before = try Data(contentsOf: URL(fileURLWithPath: folder.file))
        run.append(11...11)
        run.submit(21...21)
        try run.settle()
        #expect(run.published.numbers == Array(1...11) && run.jumps.isEmpty)
        #expect(run.store.statistics.failure?.contains("restart Binnacle to use that one") == true)
        #expect(run.of(.storeFailed).first?.text(.reason)?.contains("removed or replaced") == true)
        run.attach()
        try run.settle()
        #expect(run.delivered().numbers == Array(11...13) + Array(11...21), "and nothing that waits is lost")
        run.end()
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file)) == before)
        unlink(folder.file + "-wal")
        let next = try StoreRun(folder.file)
        next.attach()
        try next.settle()
        #expect(next.store.lastSequence == 700 && next.delivered().numbers == Array(1...5))
    }

    /// A reader's lock has root make a second file to lock, which the account of the store has to open later.
    @Test(.enabled(if: geteuid() == 0, "needs root")) func whatRootLocksBelongsToTheOwnerOfTheStore() throws {
        let folder = try StoreFolder()
        try StoreRun(folder.file).end()
        try #require(chown(folder.file, 1, 1) == 0)
        let reader = try Descriptor(path: folder.file, flags: O_RDONLY)
        try lockStoreByte(of: reader.raw, F_RDLCK)
        try StoreRun(folder.file).end()
        let status = try fileStatus(folder.file + "-lock")
        #expect(status.st_uid == 1 && status.st_gid == 1 && status.st_mode & 0o7777 == 0o600)
    }

    @Test func aLogThatIsRemovedIsMergedBefore() throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.file)
        run.append(1...100)
        try run.settle()
        unlink(folder.file + "-wal")
        run.append(101...200)
        #expect(try run.history().numbers == Array(1...200))
        run.end()
        let next = try StoreRun(folder.file)
        #expect(try next.history().numbers == Array(1...200))
    }
}

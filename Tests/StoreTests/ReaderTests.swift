import Binnacle
import Foundation
import LinuxSystem
import Store
import TestSupport
import Testing

/// The events can be read without a daemon, and nothing is changed by that.
@Suite struct ReaderTests {
    private func contents(_ folder: StoreFolder) throws -> [String: Data] {
        try Dictionary(
            uniqueKeysWithValues: folder.names.map {
                ($0, try Data(contentsOf: URL(fileURLWithPath: folder.path + "/" + $0)))
            })
    }

    /// A folder with what another process copies of an open store, as a kill would leave it.
    private func killed() throws -> StoreFolder {
        let (source, target) = (try StoreFolder(), try StoreFolder())
        let run = try StoreRun(source.file)
        run.append(1...500)
        try run.settle()
        let child = Child(["cp", "-r", source.path + "/.", target.path])
        try child.run()
        child.waitUntilExit()
        return target
    }

    @Test func aStoreThatWasClosed() throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.file)
        run.append(1...5000)
        run.end()
        let before = try contents(folder)
        let reader = EventStoreReader(path: folder.file)
        #expect(try StoreRun.pages(EventQuery(limit: 100)) { try reader.read($0) }.numbers == Array(1...5000))
        let query = EventQuery(after: 10, filter: EventFilter(sensors: ["odd"]), limit: 3)
        #expect(try reader.read(query).lines.map(\.sequence) == [11, 13, 15])
        #expect(try reader.read(query).first == 1)
        #expect(try contents(folder) == before)
    }

    @Test func aStoreWhoseDaemonWasKilled() throws {
        let folder = try killed()
        #expect(folder.names == ["events.db", "events.db-wal"])
        let before = try contents(folder)
        let reader = EventStoreReader(path: folder.file)
        #expect(try StoreRun.pages(EventQuery()) { try reader.read($0) }.numbers == Array(1...500))
        #expect(try contents(folder) == before)
        let run = try StoreRun(folder.file)
        // What the killed daemon had reserved is not used again.
        #expect(run.store.lastSequence > 500 && run.reports == [])
        #expect(try run.history().numbers == Array(1...500))
    }

    @Test func aStoreThatADaemonHas() throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.file)
        run.append(1...5)
        try run.settle()
        let reader = EventStoreReader(path: folder.file)
        let failure = #expect(throws: EventStoreReader.Failure.self) { _ = try reader.read(EventQuery()) }
        #expect(failure == .inUse(path: folder.file))
        run.append(6...6)
        #expect(try run.history().numbers == Array(1...6))
        #expect(run.reports == [])
    }

    @Test(.enabled(if: geteuid() == 0, "needs root"), arguments: ["", "events.db", "events.db-wal"])
    func aLogThatAnotherAccountMayChange(name: String) throws {
        let folder = try killed()
        try #require(chown(folder.path + "/" + name, 1, 1) == 0)
        let before = try contents(folder)
        let failure = #expect(throws: EventStoreReader.Failure.self) {
            _ = try EventStoreReader(path: folder.file).read(EventQuery())
        }
        #expect(failure?.description.contains("belongs to ") == true, "\(String(describing: failure))")
        #expect(try contents(folder) == before)
    }

    @Test func aJournalBesideAStore() throws {
        let folder = try killed()
        try Data([1]).write(to: URL(fileURLWithPath: folder.file + "-journal"))
        let before = try contents(folder)
        let failure = #expect(throws: EventStoreReader.Failure.self) {
            _ = try EventStoreReader(path: folder.file).read(EventQuery())
        }
        #expect(failure?.description.contains("events.db-journal: a journal") == true, "\(String(describing: failure))")
        #expect(try contents(folder) == before)
    }

    @Test func whatIsNoStore() throws {
        let folder = try StoreFolder()
        let reader = EventStoreReader(path: folder.file)
        for path in [folder.file, folder.path + "/nowhere/events.db"] {
            let failure = #expect(throws: EventStoreReader.Failure.self) {
                _ = try EventStoreReader(path: path).read(EventQuery())
            }
            #expect(failure == .missing(path: path))
        }
        #expect(folder.names == [])
        try Data(repeating: UInt8(ascii: "x"), count: 10_000).write(to: URL(fileURLWithPath: folder.file))
        var failure = #expect(throws: EventStoreReader.Failure.self) { _ = try reader.read(EventQuery()) }
        #expect(failure?.description.contains("no event store") == true)
        try Data().write(to: URL(fileURLWithPath: folder.file))
        #expect(try reader.read(EventQuery()).lines == [])
        try FileManager.default.removeItem(atPath: folder.file)
        mkfifo(folder.file, 0o600)
        failure = #expect(throws: EventStoreReader.Failure.self) { _ = try reader.read(EventQuery()) }
        #expect(failure?.description.contains("no regular file") == true)
    }
}

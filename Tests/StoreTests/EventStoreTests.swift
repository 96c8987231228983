import Binnacle
import Foundation
import LinuxSystem
import Store
import Synchronization
import Testing

/// What goes in comes out: at once, and after a restart.
@Suite struct EventStoreTests {
    @Test func whatIsAppendedIsPublishedAndRead() throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.file)
        #expect(run.store.lastSequence == 0)
        run.append(1...5000)
        #expect(try run.history().numbers == Array(1...5000))
        #expect(run.published == (1...5000).map { StoreRun.event($0) })
        let statistics = run.store.statistics
        #expect(statistics.lastSequence == 5000)
        #expect(statistics.failure == nil && statistics.notStoredCount == 0 && statistics.queueCount == 0)
        #expect(statistics.fileBytes > 0)
        run.end()
        #expect(run.reports == [])
        #expect(folder.names == ["events.db"], "nothing is left beside the file")
        unlink(folder.file)
        #expect(run.store.statistics.fileBytes > 0, "statistics do not wait for the disk")
    }

    @Test func aRestartGoesOn() throws {
        let folder = try StoreFolder()
        let first = try StoreRun(folder.file)
        let identity = first.store.identity
        first.append(1...10)
        first.end()
        let second = try StoreRun(folder.file)
        #expect(second.store.lastSequence == 10)
        #expect(second.store.identity == identity)
        #expect(try second.history() == (1...10).map { StoreRun.event($0) })
        second.append(11...12)
        #expect(try second.history(EventQuery(after: 9)).numbers == [10, 11, 12])
        #expect(second.store.statistics.oldestWallNanoseconds == StoreRun.event(1).wallNanoseconds)
        try second.wait("the events to be counted") { second.store.statistics.eventCount == 12 }
    }

    @Test func pagesAreFilteredAndBounded() throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.file)
        run.append(1...6000)
        run.store.append(StoreRun.event(6001, kind: .shake))
        var query = EventQuery(limit: 7)
        #expect(try run.page(query).lines.map(\.sequence) == Array(1...7))
        #expect(try !run.page(query).isLast)
        query.filter = EventFilter(kinds: [.shake])
        // Much is looked through for nothing, and not all at once.
        let page = try run.page(query)
        #expect(page.lines.isEmpty && !page.isLast && page.through < 6000 && page.first == 1)
        #expect(try run.history(query).numbers == [6001])
        query.filter = EventFilter(sensors: ["even"])
        #expect(try run.history(query).numbers == (1...3000).map { $0 * 2 })
        query = EventQuery(sinceNanoseconds: StoreRun.event(5999).wallNanoseconds)
        #expect(try run.history(query).numbers == [5999, 6000, 6001])
        #expect(try run.page(EventQuery(after: 6001)).isLast)
    }

    /// A clock that is set back hides nothing, and a filter does not choose where a query begins.
    @Test func aTimeIsAPlaceToBegin() throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.file)
        run.append(1...3000)
        run.append(3001...6000, wall: StoreRun.beginning)
        run.store.append(StoreRun.event(6001, kind: .shake, wall: StoreRun.beginning))
        var query = EventQuery(sinceNanoseconds: StoreRun.event(2990).wallNanoseconds)
        #expect(try run.history(query).numbers == Array(2990...6001))
        query.filter = EventFilter(kinds: [.shake])
        #expect(try run.history(query).numbers == [6001])
        let early = try run.page(query)
        #expect(early.lines.isEmpty && !early.hasBegun && early.through < 2990)
        query.after = early.through
        let begun = try run.page(query)
        #expect(begun.lines.isEmpty && begun.hasBegun)
    }

    @Test func aNumberThatIsThereAlreadyIsPublishedAndNotStored() throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.file)
        run.append(1...3)
        run.store.append(StoreRun.event(2, kind: .shake))
        run.store.append(StoreRun.event(.max))
        #expect(try run.history() == (1...3).map { StoreRun.event($0) })
        #expect(run.published.count == 5)
        #expect(run.store.statistics.notStoredCount == 2)
        // It is a failure that is told.
        #expect(run.reports.map(\.kind) == [.eventsDropped])
    }

    @Test func dropsOfTheStoreAreToldAtGrowingIntervals() throws {
        let folder = try StoreFolder()
        let time = Atomic<Int64>(1_000_000_000)
        let clock = StoreClock(wall: StoreRun.clock.wall, monotonic: { time.load(ordering: .relaxed) })
        let run = try StoreRun(folder.file, clock: clock)
        run.append(1...3)
        for second in 1...20 {
            run.store.append(StoreRun.event(2, kind: .shake))
            try run.wait("the drop") { run.store.statistics.notStoredCount == second }
            time.add(1_000_000_000, ordering: .relaxed)
        }
        // After 0, 1, 3, 7 and 15 seconds.
        #expect(run.of(.eventsDropped).count <= 5)
        run.end()
        #expect(run.of(.eventsDropped).compactMap { $0.integer(.count) }.reduce(0, +) == 20)
    }

    @Test func whatHasNoRoomIsDroppedAndTold() throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.file, capacity: 10)
        let (begun, released) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        run.store.attach("stuck", limit: 1) { _ in
            begun.signal()
            released.wait()
        }
        run.store.submit(StoreRun.event(1), for: "stuck")
        begun.wait()
        run.append(2...30)
        #expect(run.store.statistics.droppedCount == 20)
        #expect(run.of(.eventsDropped).first?.integer(.count) == 1)
        released.signal()
        run.end()
        #expect(run.of(.eventsDropped).compactMap { $0.integer(.count) }.reduce(0, +) == 20)
        #expect(run.published.numbers == Array(2...10))
    }

    @Test func whatWasAskedBeforeTheEndIsDone() throws {
        let folder = try StoreFolder()
        for round in UInt64(0)..<20 {
            let run = try StoreRun(folder.file)
            run.append(round * 100 + 1...round * 100 + 100)
            run.submit(round * 100 + 1...round * 100 + 100)
            run.end()
            #expect(run.store.hasEnded)
        }
        let run = try StoreRun(folder.file)
        run.attach()
        #expect(try run.history().numbers == Array(1...2000))
        #expect(run.delivered().numbers == Array(1...2000))
        run.end()
        // A store that has ended answers, too.
        #expect(try run.page().failure != nil)
    }
}

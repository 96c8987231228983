import Binnacle
import Foundation
import LinuxSystem
import Store
import Synchronization
import TestSupport
import Testing

/// The file stays within its limits, and nothing is removed before its time.
@Suite struct RetentionTests {
    private static let day: Int64 = 86_400_000_000_000
    private static let hour: Int64 = 3_600_000_000_000

    /// Clocks that a test sets.
    final class Clocks: Sendable {
        private let times = Mutex((wall: StoreRun.beginning, monotonic: SystemClock.monotonic()))
        var clock: StoreClock {
            StoreClock(
                wall: { self.times.withLock { $0.wall } },
                // The time goes on by itself, too, or nothing would ever be due.
                monotonic: { self.offset.load(ordering: .relaxed) + SystemClock.monotonic() })
        }
        private let offset = Atomic<Int64>(0)
        func setWall(_ wall: Int64) { times.withLock { $0.wall = wall } }
        func pass(_ nanoseconds: Int64) { offset.add(nanoseconds, ordering: .relaxed) }
    }

    @Test func theOldestAreRemovedWhenThereAreTooMany() throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.file) { $0.keepEvents = 1000 }
        run.append(1...5000)
        try run.wait("the removal") { run.store.statistics.eventCount == 1000 }
        #expect(try run.history().numbers == Array(4001...5000))
        #expect(try run.page().first == 4001)
        #expect(run.store.statistics.oldestWallNanoseconds == StoreRun.event(4001).wallNanoseconds)
        var settings = EventStoreSettings(path: folder.file)
        settings.keepEvents = 10
        run.store.change(settings)
        try run.wait("the removal") { run.store.statistics.eventCount == 10 }
        run.append(5001...5005)
        try run.settle()
        try run.wait("the removal") { run.store.statistics.eventCount == 10 }
        #expect(try run.history().numbers == Array(4996...5005))
        #expect(run.reports == [])
    }

    @Test func theLastNumberOutlivesItsEvent() throws {
        let folder = try StoreFolder()
        let first = try StoreRun(folder.file) { $0.keepEvents = 0 }
        first.append(1...100)
        try first.settle()
        try first.wait("the removal") { first.store.statistics.eventCount == 0 }
        first.end()
        let second = try StoreRun(folder.file)
        #expect(second.store.lastSequence == 100)
        #expect(try second.page() == (lines: [], first: 0))
    }

    @Test func theOldestAreRemovedWhenTheFileIsTooLarge() throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.file) { $0.keepMegabytes = 1 }
        for batch in UInt64(0)..<20 {
            run.append(batch * 1000 + 1...batch * 1000 + 1000)
            try run.settle()
        }
        try run.wait("the removal") { try run.page().first > 10_000 }
        run.end()
        for round in 0..<600 {
            let database = try Database(path: folder.file, access: .readImmutable)
            let (pages, free) = (
                try database.integer("PRAGMA page_count"), try database.integer("PRAGMA freelist_count")
            )
            if try (#require(pages) - #require(free)) * 4096 <= 1_000_000 { break }
            #expect(round < 599, "it is still too large")
            // The next run goes on with it.
            let next = try StoreRun(folder.file) { $0.keepMegabytes = 1 }
            try next.settle(turns: 10)
            next.end()
        }
        let next = try StoreRun(folder.file)
        #expect(try next.history().last?.sequence == 20_000)
        #expect(run.reports == [])
    }

    /// The limit is that of the folder: the log counts, and a flood does not run ahead of the removals.
    @Test(arguments: [1.0, 5]) func theFolderStaysWithinTheLimit(_ megabytes: Double) throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.file) { $0.keepMegabytes = megabytes }
        run.attach(acknowledges: true)
        var largest = 0
        for batch in UInt64(0)..<UInt64(40 * megabytes) {
            let numbers = batch * 1000 + 1...batch * 1000 + 1000
            run.append(numbers)
            run.submit(numbers)
            try run.settle()
            let size = folder.names.reduce(0) { sum, name in
                var status = stat()
                return lstat(folder.path + "/" + name, &status) == 0 ? sum + Int(status.st_size) : sum
            }
            largest = max(largest, size)
        }
        #expect(Double(largest) <= 1.25 * megabytes * 1e6, "\(largest)")
        #expect(try run.page().first > 1000, "it was full")
    }

    @Test func whatWaitsIsRemovedLast() throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.file) { $0.keepMegabytes = 1 }
        run.attach("broker", limit: 5)
        for batch in UInt64(0)..<10 {
            run.append(batch * 1000 + 1...batch * 1000 + 1000)
            run.submit(batch * 1000 + 1...batch * 1000 + 1000, for: "broker")
            try run.settle()
        }
        try run.wait("the removal") {
            run.store.statistics.removedDeliveryCount > 0 && run.store.statistics.eventCount == 0
        }
        try run.waitForEndOfRemovals()
        run.submit(10_001...10_001, for: "broker")
        try run.settle()
        let told = try #require(run.of(.eventsDropped).first)
        #expect(told.text(.handler) == "broker" && told.text(.reason)?.contains("larger than 1.0 MB") == true)
        // What is left is complete, up to the newest.
        var done = 0
        while true {
            let delivered = run.delivered("broker")
            guard delivered.count > done else { break }
            for delivery in delivered.dropFirst(done) { run.store.acknowledge("broker", delivery.ticket) }
            done = delivered.count
            try run.settle()
        }
        let removed = run.store.statistics.removedDeliveryCount
        // On a slow machine the log grows beyond the limit again while the handler acknowledges, and more of the oldest is removed
        // behind what the handler has.
        let numbers = run.delivered("broker").numbers
        #expect(numbers.starts(with: 1...5) && numbers.last == 10_001)
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy(<))
        #expect(numbers.count + removed == 10_001)
        run.end()
        #expect(run.of(.eventsDropped).compactMap { $0.integer(.count) }.reduce(0, +) == removed)
    }

    @Test func spaceIsGivenBackToTheDisk() throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.file)
        run.submit(1...20_000)
        try run.settle()
        run.attach(acknowledges: true)
        try run.wait("the acknowledgements") {
            run.store.statistics.handlers.first.map { $0.waitingCount + $0.unacknowledgedCount } == 0
        }
        run.end()
        // It is given back bit by bit, while nothing else is to be done.
        for _ in 0..<600 {
            let next = try StoreRun(folder.file)
            try next.settle(turns: 50)
            next.end()
            let size = try FileManager.default.attributesOfItem(atPath: folder.file)[.size] as? Int
            if try #require(size) < 1_500_000 { return }
        }
        Issue.record("it was more than 3 MB, and most of that is still not given back")
    }

    @Test func theOldOfEarlierRunsAreRemoved() throws {
        let folder = try StoreFolder()
        let clocks = Clocks()
        let first = try StoreRun(folder.file, clock: clocks.clock)
        first.append(1...10, wall: StoreRun.beginning)
        first.append(11...20, wall: StoreRun.beginning + 10 * Self.day)
        first.submit(1...10, for: "gone")
        first.end()
        clocks.setWall(StoreRun.beginning + 35 * Self.day)
        let second = try StoreRun(folder.file, clock: clocks.clock)
        second.append(21...21, wall: StoreRun.beginning + 35 * Self.day)
        try second.wait("the removal") { second.store.statistics.eventCount == 11 }
        #expect(try second.history().numbers == Array(11...21))
        // Their handler is not configured.
        second.store.expect(["alarm"])
        try second.wait("the removal") { second.store.statistics.removedDeliveryCount == 10 }
        #expect(second.of(.eventsDropped).first?.text(.handler) == "gone")
    }

    @Test(arguments: [-1, 1, 50 * 365]) func aClockThatIsSetRemovesNothingOfThisRun(_ days: Int64) throws {
        let folder = try StoreFolder()
        let clocks = Clocks()
        let run = try StoreRun(folder.file, clock: clocks.clock)
        run.append(1...10, wall: StoreRun.beginning)
        run.submit(1...10, for: "gone")
        try run.settle()
        clocks.setWall(StoreRun.beginning + days * Self.day)
        run.append(11...20, wall: StoreRun.beginning + days * Self.day)
        // Two passes over the limits.
        for _ in 0..<2 {
            run.store.change(EventStoreSettings(path: folder.file))
            try run.settle(turns: 50)
        }
        #expect(try run.history().numbers == Array(1...20))
        #expect(run.store.statistics.removedDeliveryCount == 0)
        // A month later they are old, by any clock.
        clocks.pass(31 * Self.day)
        clocks.setWall(StoreRun.beginning + (days + 31) * Self.day)
        run.append(21...21, wall: StoreRun.beginning + (days + 31) * Self.day)
        run.store.change(EventStoreSettings(path: folder.file))
        try run.settle()
        // The wall clock that was set back says of ten of them that they are younger than that.
        #expect(try run.history().numbers.last == 21)
        #expect(run.published.numbers == Array(1...21))
    }

    @Test func anEventFromTheFutureKeepsNothingBehindIt() throws {
        let folder = try StoreFolder()
        let clocks = Clocks()
        let first = try StoreRun(folder.file, clock: clocks.clock)
        first.append(1...1, wall: StoreRun.beginning + 20_000 * Self.day)
        first.append(2...1000, wall: StoreRun.beginning)
        first.append(1001...1001, wall: StoreRun.beginning + 20_000 * Self.day)
        first.append(1002...1002, wall: StoreRun.beginning + 35 * Self.day)
        first.end()
        clocks.setWall(StoreRun.beginning + 40 * Self.day)
        let second = try StoreRun(folder.file, clock: clocks.clock)
        clocks.pass(Self.hour)
        second.store.change(EventStoreSettings(path: folder.file))
        // Left without the events behind it, the first one would show a hole.
        try second.wait("the removal") { second.store.statistics.eventCount == 2 }
        #expect(try second.history().numbers == [1001, 1002])
    }

    /// Applies the store's limits twice.
    private func keepWithinLimits(_ run: StoreRun, _ change: (inout EventStoreSettings) -> Void = { _ in }) throws {
        var settings = EventStoreSettings(path: run.path)
        change(&settings)
        for _ in 0..<2 {
            run.store.change(settings)
            try run.settle(turns: 50)
        }
    }

    @Test(arguments: [5, 1000]) func whatWaitsForAConfiguredHandlerStays(_ keepEvents: Int) throws {
        let folder = try StoreFolder()
        let clocks = Clocks()
        let first = try StoreRun(folder.file, clock: clocks.clock)
        first.append(1...10, wall: StoreRun.beginning)
        first.append(11...20, wall: StoreRun.beginning + 10 * Self.day)
        for name in ["alarm", "gone"] { first.submit(1...10, for: name) }
        first.end()
        clocks.setWall(StoreRun.beginning + 35 * Self.day)
        let second = try StoreRun(folder.file, clock: clocks.clock) { $0.keepEvents = keepEvents }
        try second.wait("the removal") { second.store.statistics.eventCount == min(10, keepEvents) }
        func keep() throws { try keepWithinLimits(second) { $0.keepEvents = keepEvents } }
        try keep()
        #expect(second.store.statistics.removedDeliveryCount == 0, "the configured handlers are not known yet")
        second.store.expect(["alarm"])
        try second.wait("the removal") { second.store.statistics.removedDeliveryCount == 10 }
        second.attach()
        second.store.detach("alarm")
        try keep()
        #expect(second.store.statistics.removedDeliveryCount == 10)
        second.note { $0.delivered = [:] }
        second.attach()
        second.attach("gone")
        try second.settle()
        #expect(second.delivered().numbers == Array(1...10) && second.delivered("gone").isEmpty)
        second.end()
        #expect(second.of(.eventsDropped).allSatisfy { $0.text(.handler) == "gone" })
        #expect(second.of(.eventsDropped).compactMap { $0.integer(.count) }.reduce(0, +) == 10)
    }

    @Test func whatWasRemovedIsNotReckonedWithAnyMore() throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.file) { $0.keepMegabytes = 1 }
        run.attach("broker", limit: 5)
        run.submit(1...10, for: "broker")
        try run.settle()
        let had = run.delivered("broker")
        run.store.detach("broker")
        run.submit(11...10_000, for: "broker")
        try run.wait("the removal") { run.store.statistics.removedDeliveryCount > 10 }
        try run.waitForEndOfRemovals()
        let removed = run.store.statistics.removedDeliveryCount
        let left = 10_000 - removed
        #expect(had.count == 5 && run.store.statistics.handlers.first?.waitingCount == left)
        for delivery in had.dropFirst() { run.store.acknowledge("broker", delivery.ticket) }
        try run.settle()
        #expect(run.store.statistics.handlers.first?.waitingCount == left)
        run.note { $0.delivered = [:] }
        run.attach("broker")
        try run.settle()
        let delivered = run.delivered("broker")
        #expect(delivered.count == left)
        for delivery in delivered { run.store.acknowledge("broker", delivery.ticket) }
        try run.settle()
        #expect(run.store.statistics.handlers.first?.position == delivered.last?.ticket)
    }

    @Test func aClockThatIsFarAheadIsNotBelievedAtOnce() throws {
        let folder = try StoreFolder()
        let clocks = Clocks()
        let first = try StoreRun(folder.file, clock: clocks.clock)
        first.append(1...20, wall: StoreRun.beginning)
        first.end()
        clocks.setWall(StoreRun.beginning + 20_000 * Self.day)
        let second = try StoreRun(folder.file, clock: clocks.clock)
        second.append(21...21, wall: StoreRun.beginning + 20_000 * Self.day)
        try keepWithinLimits(second)
        #expect(try second.history().numbers == Array(1...21))
        clocks.pass(Self.hour)
        second.store.change(EventStoreSettings(path: folder.file))
        try second.wait("the removal") { second.store.statistics.eventCount == 1 }
        #expect(try second.history().numbers == [21])
    }

    /// What a run has stored is as young as the run by the monotonic clock.
    @Test func agesAreThoseOfTheMonotonicClock() throws {
        let folder = try StoreFolder()
        let clocks = Clocks()
        let run = try StoreRun(folder.file, clock: clocks.clock)
        run.append(1...10, wall: StoreRun.beginning)
        run.submit(1...10, for: "gone")
        run.store.expect([])
        clocks.setWall(StoreRun.beginning + 31 * Self.day)
        try keepWithinLimits(run)
        #expect(try run.history().numbers == Array(1...10) && run.store.statistics.removedDeliveryCount == 0)
        clocks.pass(29 * Self.day)
        try keepWithinLimits(run)
        #expect(try run.history().numbers == Array(1...10), "the run is younger than 30 days")
        clocks.pass(2 * Self.day)
        run.append(11...11, wall: StoreRun.beginning + 31 * Self.day)
        run.store.change(EventStoreSettings(path: folder.file))
        try run.wait("the removal") {
            run.store.statistics.eventCount == 1 && run.store.statistics.removedDeliveryCount == 10
        }
        #expect(try run.history().numbers == [11])
    }
}

private func == (page: EventPage, expected: (lines: [EventLine], first: UInt64)) -> Bool {
    page.lines == expected.lines && page.first == expected.first && page.isLast
}

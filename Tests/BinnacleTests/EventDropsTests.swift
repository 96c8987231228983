import Binnacle
import Synchronization
import Testing

/// When the drops of a full queue are told.
@Suite struct EventDropsTests {
    private final class Told: Sendable {
        let counts = Mutex<[Int64]>([])
        func take(_ event: Event) {
            guard case .integer(let count)? = event.figure(.count) else { return }
            counts.withLock { $0.append(count) }
        }
        var all: [Int64] { counts.withLock { $0 } }
    }

    private let start = ContinuousClock.now

    @Test func aQueueThatStaysFullIsToldAtGrowingIntervals() {
        let told = Told()
        let drops = EventDrops(handler: "slow", reason: "more than 4 events wait for it", report: told.take)
        for second in 0..<600 {
            drops.add(1, at: start + .seconds(second))
            _ = drops.reportDue(hasRoom: false, at: start + .seconds(second) + .milliseconds(1))
        }
        // After 0, 1, 3, 7, 15, 31 and 63 seconds, and then each minute.
        #expect(Array(told.all.prefix(7)) == [1, 1, 2, 4, 8, 16, 32])
        #expect(told.all.count == 7 + 8)
        #expect(told.all.dropFirst(7).allSatisfy { $0 == 60 })
        drops.reportRest()
        #expect(told.all.reduce(0, +) == 600)
    }

    @Test func theRestIsToldWhenThereHasBeenRoomForASecond() {
        let told = Told()
        let drops = EventDrops(handler: "slow", reason: "more than 4 events wait for it", report: told.take)
        for tenth in 0..<5 { drops.add(1, at: start + .milliseconds(100 * tenth)) }
        #expect(told.all == [1])
        // A moment of room is not the end.
        #expect(drops.reportDue(hasRoom: true, at: start + .milliseconds(500)) == .milliseconds(500))
        #expect(told.all == [1])
        #expect(drops.reportDue(hasRoom: true, at: start + .milliseconds(1400)) == nil)
        #expect(told.all == [1, 4])
        #expect(drops.reportDue(hasRoom: true, at: start + .seconds(9)) == nil)
        // The next drop is reported without delay, and the intervals begin again.
        drops.add(1, at: start + .seconds(10))
        drops.add(1, at: start + .seconds(11))
        #expect(told.all == [1, 4, 1, 1])
    }

    @Test func nothingIsDueWithoutDrops() {
        let told = Told()
        let drops = EventDrops(handler: nil, reason: "none", report: told.take)
        #expect(drops.reportDue(hasRoom: true) == nil && drops.reportDue(hasRoom: false) == nil)
        drops.reportRest()
        #expect(told.all.isEmpty)
    }
}

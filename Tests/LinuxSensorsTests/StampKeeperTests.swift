import Binnacle
import LinuxSensors
import TestSupport
import Testing

/// Stamps of every sort become stamps on the monotonic clock that never fall, and what is missing is found.
@Suite struct StampKeeperTests {
    private let second: Int64 = 1_000_000_000
    private let now: Int64 = 500_000_000_000_000
    private let wall: Int64 = 1_790_000_000_000_000_000

    private func keeper(rateHz: Double? = 100, after raws: [Int64] = []) -> StampKeeper {
        var keeper = StampKeeper(rateHz: rateHz, findsOverruns: true)
        for raw in raws { _ = keeper.stamp(raw, behind: 0, arrival: raw, realtime: { self.wall }) }
        return keeper
    }

    @Test func stampsOfTheMonotonicClockStayAsTheyAre() {
        var keeper = keeper()
        for number in 0..<100 {
            let raw = now + Int64(number) * 10_000_000
            let result = keeper.stamp(raw, behind: 0, arrival: raw + 123_456)
            #expect(result.timeNanoseconds == raw)
            #expect(result.finding == nil)
        }
        #expect(keeper.takeNotice() == nil)
    }

    @Test func stampsOfTheWallClockAreMoved() {
        var keeper = keeper()
        let first = keeper.stamp(wall - 2000, behind: 0, arrival: now, realtime: { self.wall })
        #expect(first.timeNanoseconds == now - 2000)
        #expect(keeper.takeNotice()?.contains("wall clock") == true)
        #expect(keeper.takeNotice() == nil, "told once")
        // The wall clock is set by an hour; stamps and clock move together.
        let hour = 3600 * second
        let second = keeper.stamp(
            wall + hour + 8_000_000, behind: 0, arrival: now + 10_000_000, realtime: { self.wall + hour + 10_000_000 })
        #expect(second.timeNanoseconds == now + 8_000_000)
        #expect(second.finding == nil)
    }

    @Test func stampsOfTheDevicesOwnClockAreMovedByAConstant() {
        var keeper = keeper()
        for number in 0..<50 {
            let jitter = Int64(number % 3) * 1_000_000
            let result = keeper.stamp(
                1_000_000 + Int64(number) * 10_000_000, behind: 0, arrival: now + Int64(number) * 10_000_000 + jitter,
                realtime: { self.wall })
            #expect(
                result.timeNanoseconds == now + Int64(number) * 10_000_000, "the arrival's jitter is not taken over")
        }
        #expect(keeper.takeNotice()?.contains("clock of its own") == true)
    }

    @Test(arguments: [nil, 0] as [Int64?])
    func missingStampsAreMadeFromTheArrival(raw: Int64?) {
        var keeper = keeper()
        // Four scans in one reading lie one interval apart and end at its arrival.
        let first = (0..<4).map { keeper.stamp(raw, behind: 3 - $0, arrival: now).timeNanoseconds - now }
        #expect(first == [-30_000_000, -20_000_000, -10_000_000, 0])
        #expect(keeper.takeNotice()?.contains("time at which samples arrive") == true)
        // Not enough time for four intervals has passed: they share what there is, and none falls before the last.
        let second = (0..<4).map { keeper.stamp(raw, behind: 3 - $0, arrival: now + 8_000_000).timeNanoseconds - now }
        #expect(second == second.sorted() && second[0] > 0 && second[3] == 8_000_000)
    }

    @Test func anOverrunIsFoundWithItsSize() {
        var keeper = keeper(after: (0..<100).map { now + $0 * 10_000_000 })
        let last = now + 99 * 10_000_000
        let result = keeper.stamp(last + 51 * 10_000_000, behind: 0, arrival: last + 51 * 10_000_000)
        #expect(result.finding?.cause == .overrun)
        #expect(result.finding?.count == 50)
        #expect(result.finding.map { abs($0.durationSeconds - 0.51) < 1e-9 } == true)
    }

    @Test(arguments: [1, 3, 20])
    func aShortLossIsFoundOnceTheSamplesBehindItAreInStep(missing: Int64) {
        var keeper = keeper(after: (0..<100).map { now + $0 * 10_000_000 })
        let next = now + (100 + missing) * 10_000_000
        let findings = (0..<30).compactMap { number in
            let time = next + Int64(number) * 10_000_000
            return keeper.stamp(time, behind: 0, arrival: time).finding.map { (number, $0) }
        }
        #expect(findings.map(\.0) == [16])
        #expect(findings.first?.1.cause == .overrun)
        #expect(findings.first?.1.count == Int(missing))
        #expect(findings.first.map { abs($0.1.durationSeconds - Double(missing + 1) * 0.01) < 1e-9 } == true)
    }

    /// As a busy machine or hub sends: some late, then those that waited meanwhile, on each other's heels.
    @Test(arguments: [1, 2, 5, 20], [0.02, 0.2, 0.6])
    func samplesThatWereLateAreNotLost(late: Int, pace: Double) {
        var keeper = keeper(after: (0..<100).map { now + $0 * 10_000_000 })
        var generator = SeededGenerator(seed: 5)
        var time = now + 99 * 10_000_000
        var due = time
        for number in 1...400 {
            due += 10_000_000
            let wait = number % 50 == 1 ? Int64(late) * 10_000_000 : Int64.random(in: 0...500_000, using: &generator)
            // In time, or as soon as the one before allows it.
            time = max(due + (number % 50 == 1 ? wait : 0), time + Int64(pace * 10_000_000)) + wait % 1_000_000
            let finding = keeper.stamp(time, behind: 0, arrival: time).finding
            #expect(finding == nil, "sample \(number)")
        }
    }

    @Test func aJitteringDeviceLosesNothing() {
        var generator = SeededGenerator(seed: 3)
        var keeper = keeper()
        var time = now
        for _ in 0..<2000 {
            time += Int64.random(in: 4_000_000...16_000_000, using: &generator)
            #expect(keeper.stamp(time, behind: 0, arrival: time).finding == nil)
        }
    }

    @Test func aRateThatTheDriverOnlyClaimsIsLearned() {
        var keeper = keeper(rateHz: 100)
        for number in 0..<100 {
            let time = now + Int64(number) * 100_000_000
            #expect(keeper.stamp(time, behind: 0, arrival: time).finding == nil)
        }
        // It changes its mind; a few wrong words are the price of finding real losses at once.
        var findings = 0
        for number in 1..<100 {
            let time = now + 9_900_000_000 + Int64(number) * 1_000_000_000
            if keeper.stamp(time, behind: 0, arrival: time).finding != nil { findings += 1 }
        }
        #expect(findings <= 4)
    }

    @Test func aClockThatIsSetBackGoesOnAndSaysSo() {
        var keeper = keeper(after: (0..<50).map { now + $0 * 10_000_000 })
        let last = now + 49 * 10_000_000
        let result = keeper.stamp(last - 5 * second, behind: 0, arrival: last + 10_000_000)
        #expect(result.finding?.cause == .clock)
        #expect(result.timeNanoseconds > last)
        let next = keeper.stamp(last - 5 * second + 10_000_000, behind: 0, arrival: last + 20_000_000)
        #expect(next.finding == nil)
        #expect(next.timeNanoseconds == result.timeNanoseconds + 10_000_000)
        // Two stamps that change places by a little are no such thing.
        let little = keeper.stamp(last - 5 * second + 9_000_000, behind: 0, arrival: last + 21_000_000)
        #expect(little.finding == nil && little.timeNanoseconds == next.timeNanoseconds)
    }

    @Test func aClockFarFromEverybodysIsBroughtBack() {
        var keeper = keeper(after: (0..<50).map { now + $0 * 10_000_000 })
        let arrival = now + 500_000_000
        let result = keeper.stamp(now + 3600 * second, behind: 0, arrival: arrival)
        #expect(result.finding?.cause == .clock)
        #expect(result.timeNanoseconds == arrival)
    }

    @Test func hostileStampsNeverTrapAndNeverFall() {
        var generator = SeededGenerator(seed: 99)
        let edges: [Int64?] = [.min, .min + 1, -1, 0, 1, .max - 1, .max, nil]
        for _ in 0..<200 {
            var keeper = StampKeeper(
                rateHz: [nil, 0, -1, .nan, .infinity, 1e-30, 1e5][Int.random(in: 0..<7, using: &generator)],
                findsOverruns: true)
            var last = Int64.min
            var arrival = now
            for _ in 0..<100 {
                arrival += Int64.random(in: 0...20_000_000, using: &generator)
                let raw: Int64? =
                    Bool.random(using: &generator)
                    ? edges[Int.random(in: 0..<edges.count, using: &generator)]
                    : Int64.random(in: .min ... .max, using: &generator)
                let time = keeper.stamp(
                    raw, behind: Int.random(in: 0...5, using: &generator), arrival: arrival, realtime: { self.wall }
                ).timeNanoseconds
                #expect(time >= last)
                last = time
            }
        }
    }

    @Test func nothingFallsBelowTheLastStampOfAnEarlierOpening() {
        var keeper = StampKeeper(rateHz: 100, findsOverruns: true, floor: now + second)
        #expect(keeper.stamp(now, behind: 0, arrival: now).timeNanoseconds == now + second)
        #expect(keeper.hold(at: now + 2 * second) == now + 2 * second)
    }

    @Test func equalStampsTeachNothingAndTrapNowhere() {
        var keeper = keeper()
        for number in 0..<2000 { _ = keeper.stamp(now, behind: 0, arrival: now + Int64(number) * 10_000_000) }
        #expect(keeper.intervalNanoseconds.map { $0 > 1e6 } == true)
        let result = keeper.stamp(now + 20 * second, behind: 0, arrival: now + 20 * second)
        #expect((result.finding?.count ?? 0) < 10_000)
        // A device that stamps what it has gathered in one go loses nothing.
        var bursts = self.keeper()
        var findings = 0
        for burst in 0..<200 {
            for _ in 0..<32 {
                let time = now + Int64(burst) * 320_000_000
                if bursts.stamp(time, behind: 0, arrival: time).finding != nil { findings += 1 }
            }
        }
        #expect(findings <= 1)
    }

    @Test(arguments: [5, 10])
    func whoLosesAgainAndAgainSaysSo(period: Int) {
        var keeper = keeper(after: (0..<100).map { now + $0 * 10_000_000 })
        var time = now + 99 * 10_000_000
        var told = 0
        for number in 1...2000 {
            time += number % period == 0 ? 40_000_000 : 10_000_000
            told += keeper.stamp(time, behind: 0, arrival: time).finding?.count ?? 0
        }
        let lost = 2000 / period * 3
        #expect(told > lost / 2, "told \(told) of \(lost)")
    }
}

import Binnacle
import LinuxSensors
import LinuxSystem
import TestSupport
import Testing

/// Stamps of every sort become stamps on the monotonic clock that never fall, and what is missing is found.
@Suite struct StampTests {
    private let second: Int64 = 1_000_000_000
    private let now: Int64 = 500_000_000_000_000
    private let wall: Int64 = 1_790_000_000_000_000_000

    private func stamper(rateHz: Double? = 100, after raws: [Int64] = []) -> ScanStamper {
        var stamper = ScanStamper(rateHz: rateHz)
        for raw in raws { _ = stamper.stamp(raw, behind: 0, arrival: raw, realtime: { self.wall }) }
        return stamper
    }

    @Test func stampsOfTheMonotonicClockStayAsTheyAre() {
        var stamper = stamper()
        for number in 0..<100 {
            let raw = now + Int64(number) * 10_000_000
            let result = stamper.stamp(raw, behind: 0, arrival: raw + 123_456)
            #expect(result.timeNanoseconds == raw)
            #expect(result.finding == nil)
        }
        #expect(stamper.takeNotice() == nil)
    }

    @Test func stampsOfTheWallClockAreMoved() {
        var stamper = stamper()
        let first = stamper.stamp(wall - 2000, behind: 0, arrival: now, realtime: { self.wall })
        #expect(first.timeNanoseconds == now - 2000)
        #expect(stamper.takeNotice()?.contains("wall clock") == true)
        #expect(stamper.takeNotice() == nil, "reported once")
        // The wall clock is set by an hour; stamps and clock move together.
        let hour = 3600 * second
        let second = stamper.stamp(
            wall + hour + 8_000_000, behind: 0, arrival: now + 10_000_000, realtime: { self.wall + hour + 10_000_000 })
        #expect(second.timeNanoseconds == now + 8_000_000)
        #expect(second.finding == nil)
    }

    @Test func stampsOfTheDevicesOwnClockAreMovedByAConstant() {
        var stamper = stamper()
        for number in 0..<50 {
            let jitter = Int64(number % 3) * 1_000_000
            let result = stamper.stamp(
                1_000_000 + Int64(number) * 10_000_000, behind: 0, arrival: now + Int64(number) * 10_000_000 + jitter,
                realtime: { self.wall })
            #expect(
                result.timeNanoseconds == now + Int64(number) * 10_000_000, "the arrival's jitter is not taken over")
        }
        #expect(stamper.takeNotice()?.contains("clock of its own") == true)
    }

    /// The clock of a sensor hub begins with the hub, which may start seconds before the kernel.
    @Test(arguments: [6, 20] as [Int64])
    func aClockThatBeganAtAnotherTimeIsMoved(ahead: Int64) {
        var stamper = ScanStamper(rateHz: 100)
        for number in 0..<100 {
            let arrival = now + Int64(number) * 10_000_000
            let result = stamper.stamp(arrival + ahead * second, behind: 0, arrival: arrival, realtime: { self.wall })
            #expect(result.timeNanoseconds == arrival)
            #expect(result.finding == nil)
        }
        #expect(stamper.takeNotice()?.contains("clock of its own") == true)
    }

    /// Of a machine that read late, or of a driver that computes when a sample was taken, the stamps stay.
    @Test(arguments: [-20_000, 4900] as [Int64])
    func theFirstStampOfTheMonotonicClockMayBeOldOrAhead(milliseconds: Int64) {
        var stamper = ScanStamper(rateHz: 100)
        let raw = now + milliseconds * 1_000_000
        #expect(stamper.stamp(raw, behind: 0, arrival: now, realtime: { self.wall }).timeNanoseconds == raw)
        #expect(stamper.takeNotice() == nil)
    }

    /// Microseconds that are taken for nanoseconds would make a second of movement a millisecond.
    @Test(arguments: [0.001, 0.01, 2])
    func stampsInAnotherUnitAreMadeFromTheArrival(factor: Double) {
        var stamper = ScanStamper(rateHz: 100)
        var times: [Int64] = []
        var findings = 0
        for number in 0..<2000 {
            let arrival = now + Int64(number) * 10_000_000
            let raw = 1_000_000 + Int64(Double(number) * 10_000_000 * factor)
            let result = stamper.stamp(raw, behind: 0, arrival: arrival, realtime: { self.wall })
            times.append(result.timeNanoseconds)
            if result.finding != nil { findings += 1 }
        }
        #expect(times == times.sorted())
        #expect(times[1500...] == (1500..<2000).map { now + $0 * 10_000_000 }[...])
        // What is slower than its rate seems to lose samples.
        #expect(findings == 0 || factor > 1)
        #expect(stamper.clock.isStampless)
        #expect(stamper.takeNotice()?.contains("another unit") == true)
    }

    /// A quartz that is off by 80 millionths is followed: after three hours it would be off by 0.9 s.
    @Test(arguments: [80, -80] as [Int64], [1, 4])
    func aClockOfItsOwnThatRunsAwayIsFollowed(millionths: Int64, together: Int) {
        var stamper = stamper()
        var generator = SeededGenerator(seed: 7)
        let count = 3 * 3600 * 100
        var (last, worst) = (Int64.min, Int64(0))
        for first in stride(from: 0, to: count, by: together) {
            // The newest of a read is 0.2 to 8 ms old.
            let late = Int64.random(in: 200_000...8_000_000, using: &generator)
            let arrival = now + Int64(first + together - 1) * 10_000_000 + late
            for number in first..<(first + together) {
                let elapsed = Int64(number) * 10_000_000
                let result = stamper.stamp(
                    5_000_000 + elapsed + elapsed / 1_000_000 * millionths, behind: first + together - 1 - number,
                    arrival: arrival, realtime: { self.wall })
                #expect(result.finding == nil)
                #expect(result.timeNanoseconds > last)
                last = result.timeNanoseconds
                worst = max(worst, abs(last - now - elapsed))
            }
        }
        // The first sample's lateness is not known.
        #expect(worst < 12_000_000)
    }

    @Test(arguments: [nil, 0] as [Int64?])
    func missingStampsAreMadeFromTheArrival(raw: Int64?) {
        var stamper = stamper()
        // Four scans in one reading lie one interval apart and end at its arrival.
        let first = (0..<4).map { stamper.stamp(raw, behind: 3 - $0, arrival: now).timeNanoseconds - now }
        #expect(first == [-30_000_000, -20_000_000, -10_000_000, 0])
        #expect(stamper.takeNotice()?.contains("time at which samples arrive") == true)
        // Not enough time for four intervals has passed: they share what there is, and none falls before the last.
        let second = (0..<4).map { stamper.stamp(raw, behind: 3 - $0, arrival: now + 8_000_000).timeNanoseconds - now }
        #expect(second == second.sorted() && second[0] > 0 && second[3] == 8_000_000)
    }

    /// A driver may stamp samples with the chip's last interrupt, which a timer's samples never raise.
    @Test(arguments: [0, 1] as [Int64])
    func stampsThatStandStillAreMadeFromTheArrival(factor: Int64) {
        var stamper = stamper()
        let raw = now * factor
        var times: [Int64] = []
        for number in 0..<100 {
            let result = stamper.stamp(raw, behind: 0, arrival: now + Int64(number) * 10_000_000)
            times.append(result.timeNanoseconds)
            #expect(result.finding == nil)
        }
        #expect(times.last == now + 990_000_000 && times == times.sorted())
        #expect(stamper.clock.isStampless)
        #expect(stamper.takeNotice()?.contains("time at which samples arrive") == true)
        // An interrupt changes the stamp, and still makes none for the samples; so does the next stretch of samples.
        for known in [stamper, ScanStamper(rateHz: 100, floor: times.last, isStampless: true)] {
            var later = known
            let time = later.stamp(now + second, behind: 0, arrival: now + 2 * second).timeNanoseconds
            #expect(time == now + 2 * second)
        }
    }

    /// Samples that came in one go may have one stamp.
    @Test func oneStampForWhatWasGatheredIsAStamp() {
        var stamper = stamper()
        for burst in 0..<10 {
            for _ in 0..<50 {
                _ = stamper.stamp(now + Int64(burst) * second, behind: 0, arrival: now + Int64(burst) * second)
            }
        }
        #expect(!stamper.clock.isStampless)
    }

    /// Of a device whose samples are read late, and which does not know some of their stamps.
    @Test(arguments: [[100], [100, 101], [0], [0, 1], [50, 100, 150, 200, 250]] as [[Int]], [false, true])
    func aStampOfZeroMovesNoOther(zeros: [Int], isWall: Bool) {
        var stamper = stamper()
        var times: [Int64] = []
        let distance = isWall ? wall - now : 0
        for number in 0..<400 {
            let taken = now + Int64(number) * 10_000_000
            let arrival = taken + 50_000_000
            let result = stamper.stamp(
                zeros.contains(number) ? 0 : taken + distance, behind: 0, arrival: arrival,
                realtime: { arrival + self.wall - self.now })
            #expect(result.finding == nil)
            times.append(result.timeNanoseconds)
        }
        #expect(times == times.sorted())
        #expect(!stamper.clock.isStampless)
        // A first sample is stamped with its arrival, which the others have to reach.
        for number in 10..<400 {
            let error = times[number] - now - Int64(number) * 10_000_000
            #expect(zeros.contains(number) ? abs(error) < 1000 : error == 0, "sample \(number)")
        }
    }

    @Test func aFirstStampOfZeroIsNotSaidToBeTheRule() {
        var stamper = stamper()
        _ = stamper.stamp(0, behind: 0, arrival: now)
        #expect(stamper.takeNotice() == nil)
        let next = now + 10_000_000
        #expect(stamper.stamp(next, behind: 0, arrival: next).timeNanoseconds == next)
        #expect(stamper.takeNotice() == nil)
    }

    @Test func aStampOfZeroHidesNoSilence() {
        var stamper = stamper(after: (0..<100).map { now + $0 * 10_000_000 })
        let time = now + 200 * 10_000_000
        #expect(stamper.stamp(0, behind: 0, arrival: time).finding == nil)
        let result = stamper.stamp(time + 10_000_000, behind: 0, arrival: time + 10_000_000)
        #expect(result.timeNanoseconds == time + 10_000_000)
        #expect(result.finding?.cause == .overrun)
    }

    @Test func stampsThatBecomeZeroAreMadeAndTold() {
        var stamper = stamper(after: (0..<100).map { now + $0 * 10_000_000 })
        var time: Int64 = 0
        for number in 100..<200 {
            time = stamper.stamp(0, behind: 0, arrival: now + Int64(number) * 10_000_000).timeNanoseconds
        }
        #expect(time == now + 199 * 10_000_000)
        #expect(stamper.clock.isStampless)
        #expect(stamper.takeNotice()?.contains("timestamps of 0") == true)
    }

    @Test func anOverrunIsFoundWithItsSize() {
        var stamper = stamper(after: (0..<100).map { now + $0 * 10_000_000 })
        let last = now + 99 * 10_000_000
        let result = stamper.stamp(last + 51 * 10_000_000, behind: 0, arrival: last + 51 * 10_000_000)
        #expect(result.finding?.cause == .overrun)
        #expect(result.finding?.count == 50)
        #expect(result.finding.map { abs($0.durationSeconds - 0.51) < 1e-9 } == true)
    }

    @Test(arguments: [1, 3, 20])
    func aShortLossIsFoundOnceTheSamplesBehindItAreInStep(missing: Int64) {
        var stamper = stamper(after: (0..<100).map { now + $0 * 10_000_000 })
        let next = now + (100 + missing) * 10_000_000
        let findings = (0..<30).compactMap { number in
            let time = next + Int64(number) * 10_000_000
            return stamper.stamp(time, behind: 0, arrival: time).finding.map { (number, $0) }
        }
        #expect(findings.map(\.0) == [16])
        #expect(findings.first?.1.cause == .overrun)
        #expect(findings.first?.1.count == Int(missing))
        #expect(findings.first.map { abs($0.1.durationSeconds - Double(missing + 1) * 0.01) < 1e-9 } == true)
    }

    /// As a busy machine or hub sends: some late, then those that waited meanwhile, on each other's heels.
    @Test(arguments: [1, 2, 5, 20], [0.02, 0.2, 0.6])
    func samplesThatWereLateAreNotLost(late: Int, pace: Double) {
        var stamper = stamper(after: (0..<100).map { now + $0 * 10_000_000 })
        var generator = SeededGenerator(seed: 5)
        var time = now + 99 * 10_000_000
        var due = time
        for number in 1...400 {
            due += 10_000_000
            let wait = number % 50 == 1 ? Int64(late) * 10_000_000 : Int64.random(in: 0...500_000, using: &generator)
            // In time, or as soon as the one before allows it.
            time = max(due + (number % 50 == 1 ? wait : 0), time + Int64(pace * 10_000_000)) + wait % 1_000_000
            let finding = stamper.stamp(time, behind: 0, arrival: time).finding
            #expect(finding == nil, "sample \(number)")
        }
    }

    /// The stamps of samples that a busy hub sends in bursts, at a rate near the one that the driver states.
    private func bursts(rate: Double, milliseconds: ClosedRange<Double>, seconds: Double) -> [Int64] {
        var generator = SeededGenerator(seed: 11)
        var (stamps, sent, time): ([Int64], Double, Double) = ([], 0, 0)
        while time < seconds {
            time += Double.random(in: milliseconds, using: &generator) * 1e-3
            var stamp = time
            while sent < time * rate {
                stamps.append(now + Int64(stamp * 1e9))
                stamp += Double.random(in: 2e-6...0.4 / rate, using: &generator)
                sent += 1
            }
            time = max(time, stamp)
        }
        return stamps
    }

    @Test(arguments: [0.97, 1, 1.03], [0.3...1, 1...10, 20...60] as [ClosedRange<Double>])
    func whatComesInBurstsIsNotLost(share: Double, milliseconds: ClosedRange<Double>) {
        var stamper = stamper(rateHz: 10_000)
        var told = 0
        for stamp in bursts(rate: 10_000 * share, milliseconds: milliseconds, seconds: 20) {
            told += stamper.stamp(stamp, behind: 0, arrival: stamp).finding?.count ?? 0
        }
        #expect(told == 0, "told \(told) of 200,000")
        #expect(stamper.gaps.intervalNanoseconds.map { abs($0 * share / 1e5 - 1) < 0.25 } == true)
    }

    /// Longer than any burst.
    @Test func aLongLossBetweenBurstsIsFound() {
        var stamper = stamper(rateHz: 10_000)
        var told: [Int] = []
        for stamp in bursts(rate: 10_000, milliseconds: 1...10, seconds: 4) {
            guard !(2_000_000_000..<2_300_000_000).contains(stamp - now) else { continue }
            told += stamper.stamp(stamp, behind: 0, arrival: stamp).finding.flatMap(\.count).map { [$0] } ?? []
        }
        #expect(told.count == 1 && (2700...3300).contains(told[0]), "told \(told), 3000 were lost")
    }

    /// Its samples seem to come in bursts, but it states another rate.
    @Test func aDeviceThatLosesMostOfItsSamplesSaysSo() {
        var stamper = stamper(rateHz: 1000)
        var told = 0
        for number in 0..<Int64(50_000) where number % 50 < 18 {
            let time = now + number * 1_000_000
            told += stamper.stamp(time, behind: 0, arrival: time).finding?.count ?? 0
        }
        #expect((30_000...32_000).contains(told), "told \(told) of 32,000")
    }

    @Test(arguments: [25, 100, 1600])
    func aDeviceThatIsFasterThanItsDriverSaysIsKnownSoon(rate: Double) {
        var stamper = stamper(rateHz: 10)
        for number in 0..<Int64(3 * rate) {
            let time = now + number * Int64(1e9 / rate)
            #expect(stamper.stamp(time, behind: 0, arrival: time).finding == nil)
        }
        #expect(stamper.gaps.intervalNanoseconds.map { abs($0 * rate / 1e9 - 1) < 0.02 } == true)
    }

    @Test func aJitteringDeviceLosesNothing() {
        var generator = SeededGenerator(seed: 3)
        var stamper = stamper()
        var time = now
        for _ in 0..<2000 {
            time += Int64.random(in: 4_000_000...16_000_000, using: &generator)
            #expect(stamper.stamp(time, behind: 0, arrival: time).finding == nil)
        }
    }

    @Test func aRateThatTheDriverOnlyClaimsIsLearned() {
        var stamper = stamper(rateHz: 100)
        for number in 0..<100 {
            let time = now + Int64(number) * 100_000_000
            #expect(stamper.stamp(time, behind: 0, arrival: time).finding == nil)
        }
        // It changes its mind; a few wrong words are the price of finding real losses at once.
        var findings = 0
        for number in 1..<100 {
            let time = now + 9_900_000_000 + Int64(number) * 1_000_000_000
            if stamper.stamp(time, behind: 0, arrival: time).finding != nil { findings += 1 }
        }
        #expect(findings <= 4)
    }

    @Test func aClockThatIsSetBackGoesOnAndSaysSo() {
        var stamper = stamper(after: (0..<50).map { now + $0 * 10_000_000 })
        let last = now + 49 * 10_000_000
        let result = stamper.stamp(last - 5 * second, behind: 0, arrival: last + 10_000_000)
        #expect(result.finding?.cause == .clock)
        #expect(result.timeNanoseconds > last)
        let next = stamper.stamp(last - 5 * second + 10_000_000, behind: 0, arrival: last + 20_000_000)
        #expect(next.finding == nil)
        #expect(next.timeNanoseconds == result.timeNanoseconds + 10_000_000)
        // Two stamps that change places by a little are no such thing.
        let little = stamper.stamp(last - 5 * second + 9_000_000, behind: 0, arrival: last + 21_000_000)
        #expect(little.finding == nil && little.timeNanoseconds == next.timeNanoseconds)
    }

    /// A clock that is set with each sample would be reported with each; what jumps once an hour is.
    @Test(arguments: [1, 3, 360_000] as [Int64])
    func aClockThatIsSetAgainAndAgainIsNotUsed(period: Int64) {
        var stamper = stamper()
        var times: [Int64] = []
        var findings = 0
        let step = period > 1000 ? period : 1
        for number in 0..<Int64(200) {
            let arrival = now + number * step * 10_000_000
            let raw = arrival + (number * step / period % 2) * 5400 * second
            let result = stamper.stamp(raw, behind: 0, arrival: arrival)
            times.append(result.timeNanoseconds)
            if result.finding?.cause == .clock { findings += 1 }
        }
        #expect(times == times.sorted() && times.last == now + 199 * step * 10_000_000)
        #expect(stamper.clock.isStampless == (period < 1000))
        #expect(period < 1000 ? findings == 9 : findings > 9, "\(findings)")
        #expect((stamper.takeNotice()?.contains("set again and again") == true) == (period < 1000))
    }

    @Test func aClockFarFromEverybodysIsBroughtBack() {
        var stamper = stamper(after: (0..<50).map { now + $0 * 10_000_000 })
        let arrival = now + 500_000_000
        let result = stamper.stamp(now + 3600 * second, behind: 0, arrival: arrival)
        #expect(result.finding?.cause == .clock)
        #expect(result.timeNanoseconds == arrival)
    }

    @Test func hostileStampsNeverTrapAndNeverFall() {
        var generator = SeededGenerator(seed: 99)
        let edges: [Int64?] = [.min, .min + 1, -1, 0, 1, .max - 1, .max, nil]
        for _ in 0..<200 {
            var stamper = ScanStamper(
                rateHz: [nil, 0, -1, .nan, .infinity, 1e-30, 1e5][Int.random(in: 0..<7, using: &generator)])
            var last = Int64.min
            var arrival = now
            for _ in 0..<100 {
                arrival += Int64.random(in: 0...20_000_000, using: &generator)
                let raw: Int64? =
                    Bool.random(using: &generator)
                    ? edges[Int.random(in: 0..<edges.count, using: &generator)]
                    : Int64.random(in: .min ... .max, using: &generator)
                let time = stamper.stamp(
                    raw, behind: Int.random(in: 0...5, using: &generator), arrival: arrival, realtime: { self.wall }
                ).timeNanoseconds
                #expect(time >= last)
                last = time
            }
        }
    }

    @Test func nothingFallsBelowTheLastStampOfAnEarlierOpening() {
        var stamper = ScanStamper(rateHz: 100, floor: now + second)
        #expect(stamper.stamp(now, behind: 0, arrival: now).timeNanoseconds == now + second)
        var clock = ClockMap(floor: now + second)
        #expect(clock.time(of: now, arrival: now).nanoseconds == now + second)
        #expect(clock.hold(at: now + 2 * second) == now + 2 * second)
    }

    @Test func equalStampsTeachNothingAndTrapNowhere() {
        var stamper = stamper()
        for number in 0..<2000 { _ = stamper.stamp(now, behind: 0, arrival: now + Int64(number) * 10_000_000) }
        #expect(stamper.gaps.intervalNanoseconds.map { $0 > 1e6 } == true)
        let result = stamper.stamp(now + 20 * second, behind: 0, arrival: now + 20 * second)
        #expect((result.finding?.count ?? 0) < 10_000)
        // A device that stamps what it has gathered in one go loses nothing.
        var bursts = self.stamper()
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
        var stamper = stamper(after: (0..<100).map { now + $0 * 10_000_000 })
        var time = now + 99 * 10_000_000
        var told = 0
        for number in 1...2000 {
            time += number % period == 0 ? 40_000_000 : 10_000_000
            told += stamper.stamp(time, behind: 0, arrival: time).finding?.count ?? 0
        }
        let lost = 2000 / period * 3
        #expect(told > lost / 2, "told \(told) of \(lost)")
    }
}

extension ScanStamper {
    /// The stamp of one sample, and what was found before it.
    mutating func stamp(
        _ raw: Int64?, behind: Int, arrival: Int64, realtime: () -> Int64 = SystemClock.realtime
    ) -> (timeNanoseconds: Int64, finding: Finding?) {
        var time = raw ?? 0
        var finding: Finding?
        stamp(
            &time, count: 1, isStamped: raw != nil, arrival: arrival, behind: behind, realtime: realtime
        ) { found, _ in finding = found }
        return (time, finding)
    }
}

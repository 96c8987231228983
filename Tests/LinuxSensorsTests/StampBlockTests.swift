import Binnacle
import LinuxSensors
import TestSupport
import Testing

/// Stamps of a whole reading at once are those that one after the other would get, to the last bit.
@Suite struct StampBlockTests {
    private struct Told: Equatable {
        var times: [Int64] = []
        var findings: [ScanStamper.Finding] = []
        var intervals: [UInt64?] = []
        var lasts: [Int64?] = []
        var notice: String?
    }

    /// Readings of a device: when each was made, and the raw stamps in it.
    private struct Readings {
        var list: [(arrival: Int64, stamps: [Int64])] = []

        init(_ random: inout SeededGenerator) {
            let clock: Int64 = [0, 1_790_000_000_000_000_000, 4_000_000_000, -5].randomElement(using: &random) ?? 0
            let interval: Int64 = [1, 900, 100_000, 1_000_000, 10_000_000].randomElement(using: &random) ?? 1_000_000
            let jitter: Int64 = [0, 0, 10, 2].randomElement(using: &random) ?? 0
            let rarity: Double = [0, 0.002, 0.02, 0.3].randomElement(using: &random) ?? 0
            var arrival: Int64 = [500_000_000_000_000, 20_000_000_000_000_000].randomElement(using: &random) ?? 0
            var shift = clock
            var next = arrival
            for _ in 0..<Int.random(in: 1...30, using: &random) {
                var stamps: [Int64] = []
                for _ in 0..<Int.random(in: 1...40, using: &random) {
                    next += interval
                    if jitter > 0 {
                        next += Int64.random(in: -interval / 12...interval / jitter, using: &random)
                    }
                    stamps.append(next &+ shift)
                    guard Double.random(in: 0..<1, using: &random) < rarity else { continue }
                    switch Int.random(in: 0..<9, using: &random) {
                    case 0: stamps[stamps.count - 1] = 0
                    case 1: next += interval * 3
                    case 2: next += 400_000_000
                    case 3: stamps.append(next &+ shift)
                    case 4: stamps.append(next &+ shift - interval / 2)
                    case 5: shift &+= 100_000_000_000
                    case 6: shift &-= 7_000_000_000
                    case 7: stamps.append([.min, .max, 1, -1].randomElement(using: &random) ?? 0)
                    default: next += interval * Int64.random(in: 1...40, using: &random)
                    }
                }
                arrival = max(arrival, next) + 1000
                list.append((arrival, stamps))
            }
        }
    }

    @Test func blocksGiveWhatSinglesGive() {
        for seed in 0..<3000 {
            var random = SeededGenerator(seed: UInt64(seed))
            let readings = Readings(&random)
            let isStamped = Int.random(in: 0..<10, using: &random) > 0
            let rateHz: Double? = [nil, 100, 1000].randomElement(using: &random) ?? nil
            let floor: Int64? = Bool.random(using: &random) ? 500_000_001_000_000 : nil
            var single = ScanStamper(rateHz: rateHz, floor: floor)
            var block = single
            var (ofSingle, ofBlock) = (Told(), Told())
            for (arrival, stamps) in readings.list {
                let wall = arrival + 1_789_500_000_000_000_000
                for (index, raw) in stamps.enumerated() {
                    let (time, finding) = single.stamp(
                        isStamped ? raw : nil, behind: stamps.count - 1 - index, arrival: arrival, realtime: { wall })
                    ofSingle.times.append(time)
                    if let finding { ofSingle.findings.append(finding) }
                }
                ofSingle.intervals.append(single.gaps.intervalNanoseconds?.bitPattern)
                ofSingle.lasts.append(single.clock.last)
                var column = stamps
                let first = Int.random(in: 0...stamps.count, using: &random)
                for part in [0..<first, first..<stamps.count] {
                    column.withUnsafeMutableBufferPointer { column in
                        guard let start = column.baseAddress else { return }
                        block.stamp(
                            start + part.lowerBound, count: part.count, isStamped: isStamped,
                            arrival: arrival, behind: stamps.count - part.upperBound, realtime: { wall }
                        ) { finding, time in
                            #expect(ofSingle.times.contains(time))
                            ofBlock.findings.append(finding)
                        }
                    }
                }
                ofBlock.times += column
                ofBlock.intervals.append(block.gaps.intervalNanoseconds?.bitPattern)
                ofBlock.lasts.append(block.clock.last)
            }
            ofSingle.notice = single.takeNotice()
            ofBlock.notice = block.takeNotice()
            guard ofSingle != ofBlock else { continue }
            let place = zip(ofSingle.times, ofBlock.times).enumerated().first { $1.0 != $1.1 }?.offset
            Issue.record("seed \(seed): stamp \(String(describing: place)), \(ofSingle.findings.count) findings")
            return
        }
    }
}

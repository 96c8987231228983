import KernelReferences
import Kernels
import TestSupport
import Testing

/// K1, in every form that this machine has, against the loop in C: the whole list of crossings and the state.
@Suite struct ThresholdFuzzTests {
    private struct Outcome: Equatable, CustomStringConvertible {
        var rises: [Int] = []
        var falls: [Int] = []
        var isInside: Bool

        var description: String { "rises \(rises.prefix(20)), falls \(falls.prefix(20)), \(isInside)" }
    }

    /// What the reference in C says about the whole.
    private func expected(_ random: ThresholdCase, isColumn: Bool) -> Outcome {
        let count = random.x.count
        var list = [UInt32](repeating: 0, count: count)
        var side: UInt64 = random.startsInside ? 1 : 0
        let (high, low) = (random.threshold.high, random.threshold.low)
        let (under, floor) = (random.threshold.under, random.threshold.floor)
        let found =
            isColumn
            ? reference_crossings_column(random.x.start, count, high, low, under, floor, &side, &list)
            : reference_crossings_vectors(
                random.x.start, random.y.start, random.z.start, count, high, low, under, floor, &side, &list)
        var outcome = Outcome(isInside: side != 0)
        for (position, index) in list.prefix(found).enumerated() {
            if random.startsInside == position.isMultiple(of: 2) {
                outcome.falls.append(Int(index))
            } else {
                outcome.rises.append(Int(index))
            }
        }
        return outcome
    }

    /// What a form says about the ranges, one after the other.
    private func found(
        _ random: ThresholdCase, _ ranges: [Range<Int>], isColumn: Bool, _ set: InstructionSet,
        _ list: inout CrossingList
    ) -> Outcome {
        var outcome = Outcome(isInside: random.startsInside)
        for range in ranges {
            if isColumn {
                findCrossings(
                    values: random.x.start, range: range, threshold: random.threshold, isInside: &outcome.isInside,
                    crossings: &list, using: set)
            } else {
                findCrossings(
                    x: random.x.start, y: random.y.start, z: random.z.start, range: range,
                    threshold: random.threshold, isInside: &outcome.isInside, crossings: &list, using: set)
            }
            for position in 0..<list.count {
                let index = range.lowerBound + list[position]
                if list.isRising(position) { outcome.rises.append(index) } else { outcome.falls.append(index) }
            }
        }
        return outcome
    }

    @Test(arguments: InstructionSet.available, [true, false])
    func everyFormFindsWhatTheReferenceFinds(set: InstructionSet, isColumn: Bool) {
        var list = CrossingList()
        KernelFuzz.run("K1 \(isColumn)") { number, generator in
            let random = ThresholdCase(number, &generator, isColumn: isColumn)
            let expected = expected(random, isColumn: isColumn)
            let whole = 0..<random.x.count
            for ranges in [[whole], KernelFuzz.cuts(whole, &generator)] {
                let found = found(random, ranges, isColumn: isColumn, set, &list)
                if found != expected { return "\(set) of \(ranges): \(found) instead of \(expected)" }
            }
            return nil
        }
    }

    @Test(arguments: InstructionSet.available, [true, false])
    func everyCutOfEveryLengthGivesTheSame(set: InstructionSet, isColumn: Bool) {
        var list = CrossingList()
        for length in Array(0...70) + [127, 128, 191, 255, 256, 257] {
            var generator = SeededGenerator(seed: UInt64(length))
            // A case's number decides its length; every fifth has a longer one.
            let random = ThresholdCase(
                length % 5 == 4 ? length + 258 : length, &generator, isColumn: isColumn)
            #expect(random.x.count == length)
            let expected = expected(random, isColumn: isColumn)
            for cut in 0...length {
                let found = found(random, [0..<cut, cut..<length], isColumn: isColumn, set, &list)
                guard found != expected else { continue }
                Issue.record("length \(length) cut at \(cut): \(found) instead of \(expected)")
                return
            }
        }
    }

    @Test(arguments: InstructionSet.available)
    func whatIsReportedKeepsItsDistance(set: InstructionSet) {
        var list = CrossingList()
        KernelFuzz.run("refractory") { number, generator in
            let random = ThresholdCase(number, &generator, isColumn: false)
            let refractory = Int64(number % 201)
            var expected: [Int] = []
            var lastExpected: Int64?
            for index in self.expected(random, isColumn: false).rises {
                let time = random.times.start[index]
                if let last = lastExpected, Double(time) - Double(last) < 1e6, time - last < refractory { continue }
                lastExpected = time
                expected.append(index)
            }
            var isInside = random.startsInside
            var last: Int64?
            var reported: [Int] = []
            for range in KernelFuzz.cuts(0..<random.x.count, &generator) {
                findCrossings(
                    x: random.x.start, y: random.y.start, z: random.z.start, range: range,
                    threshold: random.threshold, isInside: &isInside, crossings: &list, using: set)
                reportRises(
                    in: list, times: random.times.start, range: range, refractoryNanoseconds: refractory,
                    lastReportNanoseconds: &last
                ) { reported.append($0) }
            }
            if reported != expected { return "\(set): \(reported) instead of \(expected)" }
            return last == lastExpected ? nil : "\(set): the last one at \(String(describing: last))"
        }
    }

    @Test(arguments: InstructionSet.available, [true, false])
    func extremesAreThoseOfTheReference(set: InstructionSet, isColumn: Bool) {
        KernelFuzz.run("extremes \(isColumn)") { number, generator in
            let random = ThresholdCase(number, &generator, isColumn: isColumn)
            let (x, y, z) = (random.x.start, random.y.start, random.z.start)
            var least: Float = 0
            var greatest: Float = 0
            let found: Extremes
            if isColumn {
                reference_extremes_column(x, random.x.count, &least, &greatest)
                found = extremes(of: x, range: 0..<random.x.count, using: set)
            } else {
                reference_extremes_vectors(x, y, z, random.x.count, &least, &greatest)
                found = extremes(x: x, y: y, z: z, range: 0..<random.x.count, using: set)
            }
            let isSame =
                found.least.bitPattern == least.bitPattern && found.greatest.bitPattern == greatest.bitPattern
            return isSame ? nil : "\(set): \(found) instead of \(least) and \(greatest)"
        }
    }
}

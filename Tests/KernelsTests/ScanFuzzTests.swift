import Kernels
import TestSupport
import Testing

/// Decoding, and K2, in every form that this machine has, against what is read byte by byte.
@Suite struct ScanFuzzTests {
    @Test func decodingGivesTheBitsOfTheSlowWay() {
        KernelFuzz.run("decode") { number, generator in
            let random = ScanCase(number, &generator)
            let count = random.count
            let set = InstructionSet.available[number % InstructionSet.available.count]
            let isStamped = Bool.random(using: &generator)
            let offset = Int.random(in: 0...7, using: &generator)
            let times = FuzzColumn([Int64](repeating: 77, count: count + 1), offset: offset)
            let columns = (0..<3).map { _ in FuzzColumn([Float](repeating: 77, count: count + 1), offset: offset) }
            decodeScans(
                random.scans.start, count: count, format: random.format, conversion: random.conversion,
                times: isStamped ? times.start : nil, x: columns[0].start, y: columns[1].start, z: columns[2].start,
                using: set)
            for scan in 0..<count {
                let sample = ScanCase.sample(scan, random.scans.start, random.format, random.conversion)
                let found = columns.map { $0.start[scan].bitPattern }
                if found != [sample.x.bitPattern, sample.y.bitPattern, sample.z.bitPattern] {
                    return "\(set), \(random.format), scan \(scan) of \(count): \(columns.map { $0.start[scan] })"
                }
                let stamp = isStamped ? ScanCase.stamp(scan, random.scans.start, random.format) : 77
                if times.start[scan] != stamp { return "\(set), \(random.format), stamp \(scan): \(times.start[scan])" }
            }
            let isKept = columns.allSatisfy { $0.start[count] == 77 } && times.start[count] == 77
            return isKept ? nil : "\(set), \(random.format): wrote past the end"
        }
    }

    private struct Outcome: Equatable, CustomStringConvertible {
        var crossings: [Int] = []
        var isInside: Bool

        var description: String { "\(crossings.prefix(20)) \(isInside)" }
    }

    /// What arithmetic without limits says where the conversion only scales and turns; what the kernel's own rule says
    /// otherwise, sample by sample.
    private func expected(_ random: ScanCase, _ threshold: ScanThreshold) -> Outcome {
        var outcome = Outcome(isInside: random.startsInside)
        let row = random.conversion.x
        let squaredScale = (row.x * row.x + row.y * row.y) + row.z * row.z
        for scan in 0..<random.count {
            let raw = ScanCase.raw(scan, random.scans.start, random.format)
            let squared: Double
            if threshold.isExact {
                squared = Double(raw.reduce(UInt64(0)) { $0 + UInt64($1 * $1) }) * squaredScale
            } else {
                squared = Self.form(random.conversion, raw.map { Double($0) })
            }
            let limits = random.threshold
            let isInside = squared > Double(limits.high) || squared < Double(limits.under)
            let isOutside = squared >= Double(limits.floor) && squared < Double(limits.low)
            guard outcome.isInside ? isOutside && !isInside : isInside else { continue }
            outcome.isInside.toggle()
            outcome.crossings.append(scan)
        }
        return outcome
    }

    /// The squared length as a polynomial, in the order that ``ScanThreshold`` promises.
    private static func form(_ conversion: ScanConversion, _ v: [Double]) -> Double {
        let rows = [conversion.x, conversion.y, conversion.z]
        func p(_ a: Int, _ b: Int) -> Double { rows.reduce(0) { $0 + $1[a] * $1[b] } }
        let ofX = (p(0, 0) * v[0] + (2 * p(0, 1) * v[1] + (2 * p(0, 2) * v[2] + 2 * p(0, 3)))) * v[0]
        let ofY = (p(1, 1) * v[1] + (2 * p(1, 2) * v[2] + 2 * p(1, 3))) * v[1]
        let ofZ = (p(2, 2) * v[2] + 2 * p(2, 3)) * v[2]
        return (ofX + ofY) + (ofZ + p(3, 3))
    }

    private func found(
        _ random: ScanCase, _ threshold: ScanThreshold, _ ranges: [Range<Int>], _ set: InstructionSet,
        _ list: inout CrossingList
    ) -> Outcome {
        var outcome = Outcome(isInside: random.startsInside)
        for range in ranges {
            let wasInside = outcome.isInside
            threshold.findCrossings(
                scans: random.scans.start + range.lowerBound * random.format.stride, count: range.count,
                isInside: &outcome.isInside, crossings: &list, using: set)
            for position in 0..<list.count {
                #expect(list.isRising(position) == (wasInside != position.isMultiple(of: 2)))
                outcome.crossings.append(range.lowerBound + list[position])
            }
        }
        return outcome
    }

    @Test func everyFormFindsWhatTheSlowLoopFinds() {
        var list = CrossingList()
        KernelFuzz.run("K2") { number, generator in
            let random = ScanCase(number, &generator)
            let threshold = ScanThreshold(
                format: random.format, conversion: random.conversion, threshold: random.threshold)
            let expected = expected(random, threshold)
            let whole = 0..<random.count
            for set in InstructionSet.available {
                for ranges in [[whole], KernelFuzz.cuts(whole, &generator)] {
                    let found = found(random, threshold, ranges, set, &list)
                    guard found != expected else { continue }
                    return "\(set), \(random.format), \(ranges): \(found) instead of \(expected)"
                }
            }
            return nil
        }
    }

    @Test(arguments: InstructionSet.available)
    func everyCutOfEveryLengthGivesTheSame(set: InstructionSet) {
        var list = CrossingList()
        for number in 0..<16 {
            var generator = SeededGenerator(seed: UInt64(number))
            // A case's number decides its length.
            let random = ScanCase([257, 131, 128, 65][number % 4], &generator)
            let threshold = ScanThreshold(
                format: random.format, conversion: random.conversion, threshold: random.threshold)
            let expected = expected(random, threshold)
            for cut in 0...random.count {
                let found = found(random, threshold, [0..<cut, cut..<random.count], set, &list)
                guard found != expected else { continue }
                Issue.record("case \(number), \(random.format), cut at \(cut): \(found) instead of \(expected)")
                return
            }
        }
    }

    /// Three times −32768 squared is past Int32, and two of them are just past it.
    @Test(arguments: InstructionSet.available, ScanFormat.Element.allCases)
    func theGreatestRawValuesDoNotOverflow(set: InstructionSet, element: ScanFormat.Element) throws {
        let size = element.byteCount
        let format = try #require(
            ScanFormat(
                stride: 4 * size, element: element, axisOffsets: (0, size, 2 * size), timestampOffset: nil))
        let least = -Double(1 << (8 * size - 1))
        let lengths: [Float] = (0...3).map { Float(Double($0) * least * least) }
        for axes in 1...3 {
            var scan = [UInt8](repeating: 0, count: 4 * size)
            for axis in 0..<axes { scan[axis * size + (element == .int16BigEndian ? 0 : size - 1)] = 0x80 }
            let scans = Array(repeating: scan, count: 130).flatMap { $0 }
            var list = CrossingList()
            for (limit, rises) in [(lengths[axes].nextDown, true), (lengths[axes], false)] {
                let threshold = ScanThreshold(
                    format: format, conversion: .none, threshold: Threshold(high: limit, low: 0))
                var isInside = false
                threshold.findCrossings(scans: scans, count: 130, isInside: &isInside, crossings: &list, using: set)
                #expect(list.count == (rises ? 1 : 0) && isInside == rises, "\(axes) axes, \(limit)")
            }
        }
    }

    @Test func aTurnAloneKeepsIntegersAndASkewDoesNot() throws {
        let format = try #require(
            ScanFormat(stride: 8, element: .int16LittleEndian, axisOffsets: (0, 2, 4), timestampOffset: nil))
        func isExact(_ conversion: ScanConversion) -> Bool {
            ScanThreshold(format: format, conversion: conversion, threshold: Threshold(high: 1, low: 1)).isExact
        }
        #expect(isExact(.none))
        #expect(isExact(ScanConversion(x: [0, 3, 0, 0], y: [-3, 0, 0, 0], z: [0, 0, 3, 0])))
        #expect(isExact(ScanConversion(x: [0.6, 0.8, 0, 0], y: [-0.8, 0.6, 0, 0], z: [0, 0, 1, 0])))
        #expect(!isExact(ScanConversion(x: [1, 0, 0, 0], y: [0, 1.001, 0, 0], z: [0, 0, 1, 0])))
        #expect(!isExact(ScanConversion(x: [1, 0, 0, 0], y: [0, 1, 0, 0.1], z: [0, 0, 1, 0])))
        #expect(!isExact(ScanConversion(x: [1, 0.001, 0, 0], y: [0, 1, 0, 0], z: [0, 0, 1, 0])))
        #expect(!isExact(ScanConversion(x: [.nan, 0, 0, 0], y: [0, 1, 0, 0], z: [0, 0, 1, 0])))
    }

    @Test func whatDoesNotFitIsNoFormat() {
        func format(_ stride: Int, _ shift: Int, _ x: Int, _ y: Int, _ z: Int, _ stamp: Int?) -> ScanFormat? {
            ScanFormat(
                stride: stride, element: .int16LittleEndian, shift: shift, axisOffsets: (x, y, z),
                timestampOffset: stamp)
        }
        #expect(format(16, 4, 4, 0, 2, 8) != nil)
        #expect(format(6, 0, 0, 2, 4, nil) != nil)
        #expect(format(6, 16, 0, 2, 4, nil) == nil)
        #expect(format(6, 0, 0, 2, 5, nil) == nil)
        #expect(format(8, 0, 0, 1, 4, nil) == nil)
        #expect(format(16, 0, 0, 2, 4, 5) == nil)
        #expect(format(16, 0, -2, 2, 4, 8) == nil)
        #expect(format(16, 0, .max, 2, 4, 8) == nil)
    }

    @Test func scalingMultipliesWhatIsInTheRange() {
        var values: [Float] = [1, 2, 3, .nan]
        scale(&values, range: 1..<3, by: 9.80665)
        #expect(values[0] == 1 && values[1] == 2 * 9.80665 && values[2] == 3 * 9.80665 && values[3].isNaN)
    }
}

import Kernels
import TestSupport
import Testing

/// Decoding in every form that this machine has, against what is read byte by byte.
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
}

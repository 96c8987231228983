import Kernels
import TestSupport
import Testing

@Suite struct SampleCheckTests {
    /// The same, one sample at a time.
    private func reference(_ times: [Int64], _ axes: [[Float]], limit: Float, before: Int64?) -> Bool {
        var before = before
        for (row, time) in times.enumerated() {
            if let before {
                let (distance, overflow) = time.subtractingReportingOverflow(before)
                if overflow || distance <= 0 || distance > 1 << 33 { return false }
            }
            before = time
            for axis in axes where !(axis[row].magnitude <= limit) { return false }
        }
        return true
    }

    private func check(_ times: [Int64], _ axes: [[Float]], limit: Float, follows: Bool) {
        // The source lies as badly as it can.
        let count = times.count - 1
        var bytes = [UInt8](repeating: 0, count: 1)
        for time in times.dropFirst() { withUnsafeBytes(of: time) { bytes += $0 } }
        var copies = [times[0]] + [Int64](repeating: 7, count: count)
        let result = bytes.withUnsafeBytes { source in
            copies.withUnsafeMutableBufferPointer { target in
                guard let from = source.baseAddress, let to = target.baseAddress else { return false }
                return copyChecking(
                    from + 1, to: to + 1, x: axes[0], y: axes[1], z: axes[2],
                    count: count, limit: limit, follows: follows)
            }
        }
        let expected = reference(Array(times.dropFirst()), axes, limit: limit, before: follows ? times[0] : nil)
        #expect(result == expected, "\(count) \(follows)")
        if copies != times { Issue.record("the copies differ, \(count)") }
    }

    @Test func eachFaultIsFoundWhereverItIs() {
        for count in 0...200 {
            let times = (0...count).map { Int64($0) * 10_000_000 - 1_000 }
            let axes = (0..<3).map { axis in (0..<count).map { Float($0 * axis) - 100 } }
            for follows in [true, false] { check(times, axes, limit: 1e7, follows: follows) }
            for row in stride(from: 0, to: count, by: count > 20 ? 7 : 1) {
                for value in [Float.nan, .infinity, -.infinity, 1.0000001e7, -1e30, 1e7, -1e7, -0.0] {
                    var bad = axes
                    bad[row % 3][row] = value
                    check(times, bad, limit: 1e7, follows: true)
                }
                let extremes: [Int64] = [
                    .min, .max, times[row], times[row] + 1, times[row] + 1 << 33, times[row] + 1 << 33 + 1,
                ]
                for time in extremes {
                    var bad = times
                    bad[row + 1] = time
                    for follows in [true, false] { check(bad, axes, limit: 1e7, follows: follows) }
                }
            }
        }
    }

    @Test(arguments: 1...20)
    func randomSamplesAreJudgedAsOneByOne(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<200 {
            let count = Int.random(in: 0...300, using: &random)
            var time = Int64.random(in: .min ... .max, using: &random)
            let times = (0...count).map { _ in
                time &+= Int64.random(
                    in: 1...(Int.random(in: 0..<900, using: &random) == 0 ? 1 << 34 : 1 << 33), using: &random)
                return time
            }
            let axes = (0..<3).map { _ in
                (0..<count).map { _ in
                    let pattern = UInt32.random(in: 0...UInt32.max, using: &random)
                    let value = Float(bitPattern: pattern)
                    return Int.random(in: 0..<900, using: &random) == 0 || value.magnitude <= 3 ? value : 3
                }
            }
            check(times, axes, limit: 3, follows: Bool.random(using: &random))
        }
    }
}

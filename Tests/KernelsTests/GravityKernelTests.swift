import Kernels
import TestSupport
import Testing

@Suite struct GravityKernelTests {
    private struct Columns {
        var times: [Int64] = []
        var x: [Float] = []
        var y: [Float] = []
        var z: [Float] = []

        mutating func append(_ time: Int64, _ sample: SIMD3<Float>) {
            times.append(time)
            x.append(sample.x)
            y.append(sample.y)
            z.append(sample.z)
        }
    }

    private func separate(
        _ columns: Columns, cuts: [Int], timeConstantSeconds: Float = 0.5
    ) -> (user: [Float], total: [Float], gravity: GravityFilter) {
        let count = columns.times.count
        var user = [Float](repeating: -1, count: count)
        var total = user
        var gravity = GravityFilter(timeConstantSeconds: timeConstantSeconds)
        for (start, end) in zip([0] + cuts, cuts + [count]) {
            separateGravity(
                times: columns.times, x: columns.x, y: columns.y, z: columns.z, range: start..<end, gravity: &gravity,
                userSquared: &user, totalSquared: &total)
        }
        return (user, total, gravity)
    }

    private func randomColumns(_ count: Int, seed: UInt64, withBad: Bool) -> Columns {
        var random = SeededGenerator(seed: seed)
        var columns = Columns()
        var time: Int64 = 0
        for _ in 0..<count {
            time += Int64.random(in: 0...20_000_000, using: &random)
            var sample = SIMD3<Float>(
                Float.random(in: -1...1, using: &random), Float.random(in: -1...1, using: &random),
                9.8 + Float.random(in: -1...1, using: &random))
            if withBad, Int.random(in: 0..<10, using: &random) == 0 {
                sample.y = [.nan, .infinity, -.infinity, 1e30].randomElement(using: &random) ?? .nan
            }
            columns.append(time, sample)
        }
        return columns
    }

    @Test func restLeavesNoUserAcceleration() {
        var columns = Columns()
        for i in 0..<100 { columns.append(Int64(i) * 10_000_000, SIMD3(0, 0, 9.80665)) }
        let result = separate(columns, cuts: [])
        #expect(result.user.allSatisfy { $0 == 0 })
        #expect(result.total.allSatisfy { abs($0 - 9.80665 * 9.80665) < 1e-4 })
    }

    /// After a step the filter has gone 1 − (τ/(τ+dt))ⁿ of the way: the closed form of equal steps.
    @Test func aStepDecaysAsTheTimeConstantSays() {
        var columns = Columns()
        columns.append(-2_000_000_000, .zero)
        columns.append(-1_000_000_000, .zero)
        columns.append(0, .zero)
        for i in 1...50 { columns.append(Int64(i) * 10_000_000, SIMD3(1, 0, 0)) }
        let result = separate(columns, cuts: [])
        for i in 1...50 {
            var rest = 1.0
            for _ in 0..<i { rest *= 0.5 / 0.51 }
            #expect(abs(Double(result.user[i + 2].squareRoot()) - rest) < 1e-5)
        }
    }

    /// Until the time constant has passed, gravity is the mean of the samples after the first.
    @Test func aWrongFirstSampleIsForgotten() {
        var columns = Columns()
        columns.append(0, SIMD3(0, 0, -9.8))
        for i in 1...50 { columns.append(Int64(i) * 10_000_000, SIMD3(i == 1 ? 1 : 0, 0, 9.8)) }
        let result = separate(columns, cuts: [])
        for i in 2...50 { #expect(abs(result.user[i].squareRoot() - 1 / Float(i)) < 1e-4) }
    }

    @Test func everyCutGivesTheSameBits() {
        let columns = randomColumns(97, seed: 5, withBad: true)
        let whole = separate(columns, cuts: [])
        let cuts = (0...97).map { [$0] } + [1, 3, 5, 7, 8, 12].map { Array(stride(from: $0, to: 97, by: $0)) }
        for cut in cuts {
            let parts = separate(columns, cuts: cut)
            #expect(parts.user.map(\.bitPattern) == whole.user.map(\.bitPattern))
            #expect(parts.total.map(\.bitPattern) == whole.total.map(\.bitPattern))
            #expect(parts.gravity == whole.gravity)
        }
    }

    /// The low-pass filter of docs/detection.md, in Double and one sample after the other.
    @Test(arguments: [0.01, 0.5, 20])
    func followsTheFormula(timeConstant: Double) {
        let columns = randomColumns(20_000, seed: 7, withBad: false)
        var gravity = SIMD3<Double>(Double(columns.x[0]), Double(columns.y[0]), Double(columns.z[0]))
        let result = separate(columns, cuts: [], timeConstantSeconds: Float(timeConstant))
        for i in columns.times.indices {
            let sample = SIMD3<Double>(Double(columns.x[i]), Double(columns.y[i]), Double(columns.z[i]))
            let dt = i == 0 ? 0 : Double(columns.times[i] - columns.times[i - 1]) * 1e-9
            let memory = min(timeConstant, Double(columns.times[max(i, 1) - 1] - columns.times[0]) * 1e-9)
            if dt > 0 { gravity += (sample - gravity) * (dt / (memory + dt)) }
            let user = ((sample - gravity) * (sample - gravity)).sum().squareRoot()
            guard abs(Double(result.user[i].squareRoot()) - user) > 2e-5 else { continue }
            Issue.record("sample \(i): \(result.user[i].squareRoot()) in place of \(user)")
            return
        }
    }

    @Test func whatIsNotFiniteChangesNothingElse() {
        let bad = randomColumns(200, seed: 6, withBad: true)
        var clean = Columns()
        var kept: [Int] = []
        for i in bad.times.indices {
            let sample = SIMD3(bad.x[i], bad.y[i], bad.z[i])
            guard (sample * sample).sum() < .infinity else { continue }
            clean.append(bad.times[i], sample)
            kept.append(i)
        }
        let badResult = separate(bad, cuts: [])
        let cleanResult = separate(clean, cuts: [])
        #expect(kept.map { badResult.user[$0].bitPattern } == cleanResult.user.map(\.bitPattern))
        for i in bad.times.indices where !kept.contains(i) {
            #expect(badResult.user[i].isNaN && badResult.total[i].isNaN)
        }
    }

    @Test func aRepeatedStampDoesNotMoveTheFilter() {
        var filter = OnePoleFilter(timeConstantSeconds: 0.5)
        filter.step(SIMD3(1, 2, 3), timeNanoseconds: 7)
        filter.step(SIMD3(100, 100, 100), timeNanoseconds: 7)
        #expect(filter.value == SIMD3(1, 2, 3))
    }
}

@Suite struct ColumnSearchTests {
    @Test func findsTheFirstStampNotBefore() {
        let times: [Int64] = [1, 3, 3, 5, 9]
        for deadline in Int64(-1)...11 {
            let expected = times.firstIndex { $0 >= deadline } ?? times.count
            #expect(firstIndex(in: times, range: 0..<times.count, notBefore: deadline) == expected)
        }
    }

    @Test func findsGapsAlsoWhereTheDistanceOverflows() {
        let times: [Int64] = [.min, .max - 10, .max - 5, .max]
        #expect(firstGap(in: times, range: 1..<4, longerThan: 5) == 1)
        #expect(firstGap(in: times, range: 2..<4, longerThan: 5) == 4)
        #expect(firstGap(in: times, range: 2..<4, longerThan: 4) == 2)
    }

    @Test(arguments: 0..<50)
    func findsTheGapThatAScanFinds(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var times: [Int64] = [Bool.random(using: &random) ? .min : 0]
        let longest = Int64([1, 6, 20, 5000].randomElement(using: &random) ?? 1)
        for _ in 0..<Int.random(in: 0...300, using: &random) {
            times.append(times[times.count - 1] + Int64.random(in: 0...longest, using: &random))
        }
        for start in stride(from: 1, to: times.count, by: 7) {
            let expected = (start..<times.count).first { times[$0] - times[$0 - 1] > 5 } ?? times.count
            #expect(firstGap(in: times, range: start..<times.count, longerThan: 5) == expected)
        }
    }

    @Test func extremesIgnoreNaN() {
        let values: [Float] = [.nan, 3, .nan, 1, 2]
        let found = extremes(of: values, range: 0..<5)
        #expect(found.least == 1 && found.greatest == 3)
        let none = extremes(of: values, range: 2..<3)
        #expect(none.least == .infinity && none.greatest == -.infinity)
    }
}

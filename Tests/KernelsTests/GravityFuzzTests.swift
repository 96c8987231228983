import Kernels
import TestSupport
import Testing

/// K4 in every form that this machine has, against the loop that is written to be read.
@Suite struct GravityFuzzTests {
    /// Random samples; every kind of rarity in some of the cases.
    private struct Case {
        let times: FuzzColumn<Int64>
        let axes: [FuzzColumn<Float>]
        let filter: GravityFilter
        var count: Int { times.count }

        init(_ count: Int, _ random: inout SeededGenerator) {
            let tau: Float = [0, 0.01, 0.1, 0.5, 3, 1e4, .infinity, 1e-30].randomElement(using: &random) ?? 0.5
            let unusable: Float = [0, 0, 0.001, 0.1, 1].randomElement(using: &random) ?? 0
            let repeated: Float = [0, 0, 0.001, 0.5, 1].randomElement(using: &random) ?? 0
            let far: Float = [0, 0, 0, 0.001, 0.1].randomElement(using: &random) ?? 0
            let interval: Int64 = [1, 1000, 1_000_000, 10_000_000].randomElement(using: &random) ?? 1000
            let noise: Float = [0, 1e-6, 0.1, 10, 1e18].randomElement(using: &random) ?? 0.1
            var time: Int64 = [0, Int64.min, -5, 1_700_000_000_000_000_000].randomElement(using: &random) ?? 0
            var times: [Int64] = []
            var samples: [[Float]] = [[], [], []]
            var rest = SIMD3<Float>(-0, 0, 9.8)
            // Longer than all but one of the time constants: only then are there whole runs.
            let start: Int64 = [0, 20_000_000_000_000, 20_000_000_000_000].randomElement(using: &random) ?? 0
            // Few random numbers, used to the last bit: there are many samples.
            for index in 0..<count {
                let bits = random.next()
                if index == 1 { time += start }
                if Self.part(bits, 0) < far {
                    time += Int64(bits >> 24)
                    rest = [-rest.y, rest.x, Self.part(bits, 1) * 10]
                } else if Self.part(bits, 0) >= repeated {
                    time += 1 + Int64(bits >> 32) % interval
                }
                times.append(time)
                let others = random.next()
                for axis in 0..<3 {
                    let share = Self.part(others, axis)
                    let isUsable = Self.part(bits, axis) >= unusable
                    let value = noise == 0 ? rest[axis] : rest[axis] + (2 * share - 1) * noise
                    samples[axis].append(
                        isUsable ? value : KernelFuzz.special[Int(others >> 60) % KernelFuzz.special.count])
                }
            }
            let offset = Int.random(in: 0...7, using: &random)
            self.times = FuzzColumn(times, offset: offset)
            axes = samples.map { FuzzColumn($0, offset: offset) }
            filter = GravityFilter(timeConstantSeconds: tau)
        }

        /// A number from 0 to 1 from sixteen of 64 random bits.
        private static func part(_ bits: UInt64, _ number: Int) -> Float {
            Float(UInt16(truncatingIfNeeded: bits >> UInt64(16 * number))) / 65536
        }
    }

    private struct Outcome: Equatable {
        var user: [UInt32]
        var total: [UInt32]
        var filter: GravityFilter

        /// Where two differ first.
        func difference(from other: Outcome) -> String {
            if let i = user.indices.first(where: { user[$0] != other.user[$0] }) {
                return "user \(i) of \(user.count): \(String(user[i], radix: 16)) \(String(other.user[i], radix: 16))"
            }
            if let i = total.indices.first(where: { total[$0] != other.total[$0] }) { return "total \(i)" }
            return "state \(filter), \(other.filter)"
        }
    }

    private func run(_ random: Case, _ ranges: [Range<Int>], _ set: InstructionSet) -> Outcome {
        var filter = random.filter
        let user = FuzzColumn([Float](repeating: 1, count: random.count), offset: 0)
        let total = FuzzColumn([Float](repeating: 1, count: random.count), offset: 0)
        for range in ranges {
            separateGravity(
                times: random.times.start, x: random.axes[0].start, y: random.axes[1].start, z: random.axes[2].start,
                range: range, gravity: &filter, userSquared: user.start, totalSquared: total.start, using: set)
        }
        func bits(_ column: FuzzColumn<Float>) -> [UInt32] { (0..<random.count).map { column.start[$0].bitPattern } }
        return Outcome(user: bits(user), total: bits(total), filter: filter)
    }

    /// Says which form gives something else than the reference, and where.
    private func fault(_ random: Case, _ generator: inout SeededGenerator) -> String? {
        let whole = 0..<random.count
        let expected = run(random, [whole], .scalar)
        for set in InstructionSet.available {
            for ranges in [[whole], KernelFuzz.cuts(whole, &generator)] {
                let found = run(random, ranges, set)
                if found != expected { return "\(set), \(ranges): \(found.difference(from: expected))" }
            }
        }
        return nil
    }

    @Test func everyFormGivesTheBitsOfTheReference() {
        KernelFuzz.run("K4") { number, generator in
            let random = Case(KernelFuzz.length(number, &generator), &generator)
            return fault(random, &generator)
        }
    }

    @Test func longRangesGiveTheBitsOfTheReference() {
        for number in 0..<max(40, KernelFuzz.caseCount / 50) {
            var generator = SeededGenerator(seed: UInt64(number))
            let random = Case(Int.random(in: 2000...20_000, using: &generator), &generator)
            guard let fault = fault(random, &generator) else { continue }
            Issue.record("case \(number): \(fault)")
            return
        }
    }
}

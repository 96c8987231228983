import KernelReferences
import Kernels
import TestSupport
import Testing

/// K3 against the arc tangent in Double, and its forms against each other.
@Suite struct FacingFuzzTests {
    private struct FacingCase {
        let sector: Sector
        let reference: reference_sector
        var acceleration: [SIMD3<Float>] = []
        var field: [SIMD3<Float>] = []
        let startsFacing: Bool

        init(_ number: Int, _ random: inout SeededGenerator, count: Int, specialShare: Double) {
            let bearings: [Double] = [0, 180, 90, 270, .random(in: 0..<360, using: &random)]
            let bearing = bearings.randomElement(using: &random) ?? 0
            let tolerance = Bool.random(using: &random) ? 90 : Double.random(in: 0.5...179, using: &random)
            let exit = Bool.random(using: &random) ? tolerance : Double.random(in: tolerance...179.5, using: &random)
            let axis = Int.random(in: 0..<3, using: &random)
            let isReversed = Bool.random(using: &random)
            sector = Sector(
                axis: axis, isReversed: isReversed, bearingDegrees: bearing, toleranceDegrees: tolerance,
                exitDegrees: exit)
            reference = reference_sector(
                axis: Int32(axis), is_reversed: isReversed ? 1 : 0, bearing: bearing, tolerance: tolerance, exit: exit)
            startsFacing = Bool.random(using: &random)
            // What lasts is passed over in blocks; what changes is not.
            let lasting = [1, 1, 40, 700].randomElement(using: &random) ?? 1
            for index in 0..<count {
                if index % lasting == 0 {
                    acceleration.append(Self.vector(&random, 1...20))
                    field.append(Self.vector(&random, 20...70))
                } else {
                    acceleration.append(acceleration[index - 1])
                    field.append(field[index - 1])
                }
                guard Double.random(in: 0..<1, using: &random) < specialShare else { continue }
                let value = KernelFuzz.special.randomElement(using: &random) ?? 0
                let axis = Int.random(in: 0..<3, using: &random)
                if Bool.random(using: &random) { acceleration[index][axis] = value } else { field[index][axis] = value }
            }
        }

        /// A vector of any direction, and of a length in a range.
        private static func vector(_ random: inout SeededGenerator, _ lengths: ClosedRange<Float>) -> SIMD3<Float> {
            while true {
                let vector = SIMD3<Float>.random(in: -1...1, using: &random)
                let square = (vector * vector).sum()
                guard square > 0.01, square <= 1 else { continue }
                return vector * (Float.random(in: lengths, using: &random) / square.squareRoot())
            }
        }
    }

    /// The columns of a case's vectors, as the kernel takes them.
    private final class Columns {
        let columns: AxisColumns
        private let owners: [FuzzColumn<Float>]

        init(_ vectors: [SIMD3<Float>], _ random: inout SeededGenerator) {
            owners = (0..<3).map { axis in
                FuzzColumn(vectors.map { $0[axis] }, offset: Int.random(in: 0..<17, using: &random))
            }
            columns = AxisColumns(x: owners[0].start, y: owners[1].start, z: owners[2].start)
        }
    }

    private func find(
        _ random: FacingCase, _ acceleration: Columns, _ field: Columns, _ ranges: [Range<Int>], _ set: InstructionSet,
        _ list: inout CrossingList
    ) -> (crossings: [Int], isFacing: Bool) {
        var isFacing = random.startsFacing
        var crossings: [Int] = []
        for range in ranges {
            findFacing(
                acceleration: acceleration.columns, field: field.columns, range: range, sector: random.sector,
                isFacing: &isFacing, crossings: &list, using: set)
            for position in 0..<list.count {
                let index = range.lowerBound + list[position]
                crossings.append(list.isRising(position) ? index : ~index)
            }
        }
        return (crossings, isFacing)
    }

    @Test(arguments: InstructionSet.available)
    func everyFormFindsWhatTheReferenceFinds(set: InstructionSet) {
        var list = CrossingList()
        KernelFuzz.run("K3") { number, generator in
            let count = KernelFuzz.length(number, &generator)
            let specialShare = Bool.random(using: &generator) ? 0 : KernelFuzz.share(&generator)
            let random = FacingCase(number, &generator, count: count, specialShare: specialShare)
            let acceleration = Columns(random.acceleration, &generator)
            let field = Columns(random.field, &generator)
            let expected = find(random, acceleration, field, [0..<count], .scalar, &list)
            for ranges in [[0..<count], KernelFuzz.cuts(0..<count, &generator)] {
                let found = find(random, acceleration, field, ranges, set, &list)
                if found != expected { return "\(set) of \(ranges): \(found) instead of \(expected)" }
            }
            return nil
        }
    }

    /// A hundred orientations a case, each decided by itself, in the form that is the reference of all others.
    @Test func theArcTangentDisagreesAtTheEdgeAlone() {
        var list = CrossingList()
        var edges = 0
        var count = 0
        KernelFuzz.run("K3 and the arc tangent") { number, generator in
            let random = FacingCase(number, &generator, count: 100, specialShare: 0)
            let acceleration = Columns(random.acceleration, &generator)
            let field = Columns(random.field, &generator)
            for index in 0..<100 {
                let (a, m) = (random.acceleration[index], random.field[index])
                var reference = random.reference
                var nearest = 0.0
                let expected = reference_facing(&reference, [a.x, a.y, a.z], [m.x, m.y, m.z], &nearest)
                // From either side: only what says something can change it.
                var sides = [false, true]
                for position in 0..<2 {
                    findFacing(
                        acceleration: acceleration.columns, field: field.columns, range: index..<index + 1,
                        sector: random.sector, isFacing: &sides[position], crossings: &list, using: .scalar)
                }
                let found: Int32 = sides == [true, true] ? 1 : sides == [false, false] ? -1 : 0
                count += 1
                guard found != expected else { continue }
                edges += 1
                if nearest > 1e-4 { return "\(a) \(m): \(found) instead of \(expected), \(nearest)° from a limit" }
            }
            return nil
        }
        print(
            "K3: \(edges) of \(count) orientations are decided otherwise than by atan2, all within 0.0001° of a limit")
        #expect(count >= KernelFuzz.caseCount * 100)
    }

    @Test(arguments: InstructionSet.available)
    func whatIsNoVectorChangesNothing(set: InstructionSet) {
        let up = SIMD3<Float>(0, 0, 9.8)
        let north = SIMD3<Float>(0, 20, -40)
        let useless: [(SIMD3<Float>, SIMD3<Float>)] = [
            (.zero, north), (up, .zero), (up, SIMD3(0, 0, -45)), (SIMD3(0, .nan, 9.8), north),
            (SIMD3(0, 0, .infinity), north), (up, SIMD3(0, -.infinity, 0)), (up * 1e12, north * 1e12),
            (up * 1e-12, north), (SIMD3(0, 9.8, 0), north),
        ]
        let sector = Sector(
            axis: 1, isReversed: false, bearingDegrees: 0, toleranceDegrees: 10, exitDegrees: 15)
        var generator = SeededGenerator(seed: 1)
        var list = CrossingList()
        for (a, m) in useless {
            let acceleration = Columns([SIMD3<Float>](repeating: a, count: 300), &generator)
            let field = Columns([SIMD3<Float>](repeating: m, count: 300), &generator)
            for side in [false, true] {
                var isFacing = side
                findFacing(
                    acceleration: acceleration.columns, field: field.columns, range: 0..<300, sector: sector,
                    isFacing: &isFacing, crossings: &list, using: set)
                #expect(isFacing == side && list.count == 0, "\(a) \(m)")
            }
        }
    }
}

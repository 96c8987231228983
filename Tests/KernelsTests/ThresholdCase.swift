import Kernels
import TestSupport

/// A random threshold, and vectors whose squared lengths are around it, on it and far away from it.
struct ThresholdCase {
    let threshold: Threshold
    let x: FuzzColumn<Float>
    let y: FuzzColumn<Float>
    let z: FuzzColumn<Float>
    let times: FuzzColumn<Int64>
    let startsInside: Bool

    /// Makes a case; with `isColumn`, `x` alone is the measure, so that the limits are to be found in it.
    init(_ number: Int, _ random: inout SeededGenerator, isColumn: Bool) {
        let count = KernelFuzz.length(number, &random)
        let threshold = ThresholdCase.threshold(&random, isColumn: isColumn)
        let eventShare = KernelFuzz.share(&random)
        let specialShare = Bool.random(using: &random) ? 0 : KernelFuzz.share(&random)
        var columns: [[Float]] = [[], [], []]
        var times: [Int64] = []
        var isInside = Bool.random(using: &random)
        startsInside = Bool.random(using: &random)
        let starts: [Int64] = [.min, 0, .max - 300_000, Int64.random(in: .min...0, using: &random)]
        var time: Int64 = starts.randomElement(using: &random) ?? 0
        for _ in 0..<count {
            if Double.random(in: 0..<1, using: &random) < eventShare { isInside.toggle() }
            var vector = ThresholdCase.vector(isInside, threshold, &random, isColumn: isColumn)
            if Double.random(in: 0..<1, using: &random) < specialShare {
                let axis = isColumn ? 0 : Int.random(in: 0..<3, using: &random)
                vector[axis] = KernelFuzz.special.randomElement(using: &random) ?? 0
            }
            for axis in 0..<3 { columns[axis].append(vector[axis]) }
            times.append(time)
            // With bounds that no end of the range of stamps can be passed by.
            time += Int64.random(in: 0...100, using: &random)
        }
        self.threshold = threshold
        x = FuzzColumn(columns[0], offset: Int.random(in: 0..<17, using: &random))
        y = FuzzColumn(columns[1], offset: Int.random(in: 0..<17, using: &random))
        z = FuzzColumn(columns[2], offset: Int.random(in: 0..<17, using: &random))
        self.times = FuzzColumn(times, offset: 0)
    }

    private static func threshold(_ random: inout SeededGenerator, isColumn: Bool) -> Threshold {
        var limits = (0..<4).map { _ in Float.random(in: isColumn ? -2...2 : 0...3, using: &random) }
        if Int.random(in: 0..<4, using: &random) == 0 { limits[1] = limits[0] }
        if Int.random(in: 0..<4, using: &random) == 0 { limits[2] = limits[3] }
        if Int.random(in: 0..<20, using: &random) == 0 { limits[0] = .infinity }
        if Int.random(in: 0..<20, using: &random) == 0 { limits[1] = .leastNonzeroMagnitude }
        limits.sort()
        return Bool.random(using: &random)
            ? Threshold(high: limits[3], low: limits[2])
            : Threshold(high: limits[3], low: limits[2], under: limits[0], floor: limits[1])
    }

    /// A vector whose measure is on one side, in between, or exactly a limit or next to it.
    private static func vector(
        _ isInside: Bool, _ threshold: Threshold, _ random: inout SeededGenerator, isColumn: Bool
    ) -> [Float] {
        let limits = [threshold.high, threshold.low, threshold.under, threshold.floor].filter(\.isFinite)
        let limit = limits.randomElement(using: &random) ?? 1
        var measure: Float
        switch Int.random(in: 0..<10, using: &random) {
        case 0: measure = [limit, limit.nextUp, limit.nextDown].randomElement(using: &random) ?? limit
        case 1: measure = Float.random(in: -3...3, using: &random)
        case 2 where threshold.under.isFinite: measure = isInside ? threshold.under - 0.1 : threshold.floor
        default:
            measure = isInside ? threshold.high + 0.1 : (max(threshold.floor, -3) + threshold.low) / 2
        }
        if isColumn { return [measure, 0, 0] }
        // One axis alone squares to what is asked for as nearly as Float can.
        let length = max(measure, 0).squareRoot()
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return [0, 0, -length]
        case 1: return [length, 0, 0]
        default: return [length * 0.6, length * -0.48, length * 0.64]
        }
    }
}

import Kernels
import TestSupport
import Testing

/// The crossings as one would look for them with one state and one `if`.
private func slowCrossings(_ values: [Float], _ threshold: Threshold, inside: inout Bool) -> [Crossing] {
    var crossings: [Crossing] = []
    for (index, value) in values.enumerated() {
        let was = inside
        if value > threshold.high { inside = true }
        if value < threshold.low { inside = false }
        if inside != was { crossings.append(Crossing(index: index, isRising: inside)) }
    }
    return crossings
}

private func kernelCrossings(_ values: [Float], _ range: Range<Int>, _ threshold: Threshold, inside: inout Bool)
    -> [Crossing]
{
    var crossings: [Crossing] = []
    values.withUnsafeBufferPointer { buffer in
        guard let base = buffer.baseAddress else { return }
        findCrossings(values: base, range: range, threshold: threshold, isInside: &inside, crossings: &crossings)
    }
    return crossings
}

@Suite struct ThresholdKernelTests {
    private static let special: [Float] = [
        .nan, .signalingNaN, .infinity, -.infinity, 0, -0, .leastNonzeroMagnitude, -.leastNonzeroMagnitude, 1, 0.5, 2,
        .greatestFiniteMagnitude,
    ]

    @Test(arguments: 0..<200)
    func findsWhatTheSlowLoopFinds(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let length = Int.random(in: 0...257, using: &random)
        let high = Float.random(in: 0...1.5, using: &random)
        let threshold = Threshold(high: high, low: high - Float.random(in: 0...1, using: &random))
        let values = (0..<length).map { _ in
            Int.random(in: 0..<8, using: &random) == 0
                ? Self.special.randomElement(using: &random) ?? 0 : Float.random(in: -1...2, using: &random)
        }
        var slowInside = seed % 2 == 0
        var inside = slowInside
        let expected = slowCrossings(values, threshold, inside: &slowInside)
        let found = kernelCrossings(values, 0..<length, threshold, inside: &inside)
        #expect(found == expected)
        #expect(inside == slowInside)
    }

    @Test func everyCutGivesTheSameCrossings() {
        var random = SeededGenerator(seed: 99)
        let values = (0..<64).map { _ in Float.random(in: 0...1, using: &random) }
        let threshold = Threshold(high: 0.7, low: 0.3)
        var whole = false
        let expected = kernelCrossings(values, 0..<64, threshold, inside: &whole)
        for cut in 0...64 {
            var inside = false
            let found =
                kernelCrossings(values, 0..<cut, threshold, inside: &inside)
                + kernelCrossings(values, cut..<64, threshold, inside: &inside)
            #expect(found == expected, "cut at \(cut)")
            #expect(inside == whole)
        }
    }

    @Test func theLimitsThemselvesChangeNothing() {
        var inside = false
        #expect(kernelCrossings([1, 1, 1], 0..<3, Threshold(high: 1, low: 1), inside: &inside).isEmpty)
        inside = true
        #expect(kernelCrossings([1, 1, 1], 0..<3, Threshold(high: 1, low: 1), inside: &inside).isEmpty)
    }
}

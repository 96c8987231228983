import Kernels
import TestSupport
import Testing

@Suite struct ThresholdKernelTests {
    private func crossings(_ values: [Float], _ threshold: Threshold, inside: inout Bool, _ set: InstructionSet)
        -> [Int]
    {
        var list = CrossingList()
        findCrossings(
            values: values, range: 0..<values.count, threshold: threshold, isInside: &inside, crossings: &list,
            using: set)
        return (0..<list.count).map { list.isRising($0) ? list[$0] : -list[$0] }
    }

    @Test(arguments: InstructionSet.available)
    func theLimitsThemselvesChangeNothing(set: InstructionSet) {
        for side in [false, true] {
            var inside = side
            #expect(crossings([1, 1, 1], Threshold(high: 1, low: 1), inside: &inside, set).isEmpty)
            #expect(inside == side)
        }
    }

    @Test(arguments: InstructionSet.available)
    func aNumberThatIsNoneChangesNothing(set: InstructionSet) {
        let values: [Float] = [2, .nan, 0, .nan, 2, .nan, 2]
        var inside = false
        #expect(crossings(values, Threshold(high: 1, low: 1), inside: &inside, set) == [0, -2, 4])
        #expect(inside)
    }

    @Test(arguments: InstructionSet.available)
    func aSecondSideIsInsideBelow(set: InstructionSet) {
        let values: [Float] = [0, 2.5, -2, 0, 1.2, -1.2, 3, -1.2, 0.5]
        var inside = false
        let threshold = Threshold(high: 2, low: 1, under: -1.5, floor: -1)
        #expect(crossings(values, threshold, inside: &inside, set) == [1, -3, 6, -8])
        #expect(!inside)
    }
}

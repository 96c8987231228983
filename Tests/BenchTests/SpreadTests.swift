import Bench
import Testing

@Suite struct SpreadTests {
    @Test(
        arguments: [
            ([3], 3, 3, 3), ([2, 1], 1, 1.5, 2), ([5, 1, 3], 1, 3, 5), ([4, 1, 2, 3], 1, 2.5, 4),
            ([7, 7, 7, 7, 9], 7, 7, 9),
        ] as [([Double], Double, Double, Double)])
    func theMedianIsInTheMiddle(values: [Double], minimum: Double, median: Double, maximum: Double) {
        let spread = Spread(values)
        #expect(spread.minimum == minimum)
        #expect(spread.median == median)
        #expect(spread.maximum == maximum)
    }

    @Test func theMedianIsComparedWithTheBest() {
        #expect(Spread([10, 12, 40]).medianToBest == 1.2)
        #expect(Spread([10, 10, 40]).medianToBest == 1)
        #expect(Spread([0, 1]).medianToBest == 1)
    }

    @Test func scalingKeepsTheOrder() {
        #expect(Spread([2, 4, 6]).scaled(by: 0.5) == Spread([1, 2, 3]))
    }
}

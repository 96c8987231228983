import Bench
import Testing

@Suite struct EventRowTests {
    private func sides(_ row: EventRow, _ count: Int) -> [Bool] {
        var sides: [Bool] = []
        row.forEach(count: count) { index, isInside in
            #expect(index == sides.count)
            sides.append(isInside)
        }
        return sides
    }

    @Test(
        arguments: [(100, 0), (1000, 0.01), (1000, 0.5), (64, 0.5), (1344, 0.0001), (50_000, 0.0001)] as [(Int, Double)]
    )
    func theSideChangesAsOftenAsTheRowSays(count: Int, rate: Double) {
        var numbers = SeededNumbers(seed: 7)
        let row = EventRow(count: count, rate: rate, numbers: &numbers)
        let sides = sides(row, count)
        let changes = zip([false] + sides, sides).count { $0 != $1 }
        #expect(changes == row.changeCount)
        #expect(sides.count == count)
        // It ends as it began, so that it can follow itself.
        #expect(sides.last == false || rate == 0)
        let average = Double(row.changeCount) / Double(count * row.period)
        #expect(abs(average - rate) <= 0.2 * rate + 0.001 * (rate > 0.1 ? 40 : 1))
    }

    @Test func aShortRowHasItsChangesSeldom() {
        var numbers = SeededNumbers(seed: 7)
        let row = EventRow(count: 1000, rate: 0.0001, numbers: &numbers)
        #expect(row.changeCount == 2)
        #expect(row.period == 20)
        #expect((0..<40).count(where: row.isEventful) == 2)
    }
}

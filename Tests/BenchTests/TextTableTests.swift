import Bench
import Testing

@Suite struct TextTableTests {
    @Test func columnsAreAsWideAsTheirWidestCell() {
        var table = TextTable(["level", "ns", "GB/s"])
        table.add(["L1", "0.061", "196.9"])
        table.add(["DRAM", "12", ""])
        #expect(table.lines == ["level     ns   GB/s", "L1     0.061  196.9", "DRAM      12"])
    }

    @Test func aShortRowEndsEarly() {
        var table = TextTable(["a", "b", "c"])
        table.add(["x"])
        #expect(table.lines == ["a  b  c", "x"])
    }
}

import Bench
import Testing

@Suite struct MachineTests {
    @Test func levelsAreSmallerThanTheirCacheAndMainMemoryLarger() {
        let levels = MemoryLevel.all([32 << 10, 512 << 10, 32 << 20])
        #expect(levels.map(\.name) == ["L1", "L2", "L3", "DRAM"])
        #expect(levels.map(\.byteCount) == [16 << 10, 256 << 10, 8 << 20, 256 << 20])
    }

    @Test func aMachineThatSaysNothingOfItsCachesIsMeasuredAllTheSame() {
        let levels = MemoryLevel.all([])
        #expect(levels.map(\.name) == ["L1", "L2", "DRAM"])
        #expect(levels.last?.byteCount == 64 << 20)
    }

    @Test func theNameOfTheProcessorIsFound() {
        let text = "processor\t: 0\nvendor_id\t: X\nmodel name\t: Some: Chip 7\n\nprocessor\t: 1\nmodel name\t: Other\n"
        #expect(Machine.model(inText: text) == "Some: Chip 7")
        #expect(Machine.model(inText: "processor\t: 0\nFeatures\t: fp asimd\n") == nil)
    }
}

import Bench
import Testing

@Suite struct MachineTests {
    @Test(
        arguments: [("32K", 32_768), ("512K", 524_288), ("16M", 16_777_216), ("1G", 1 << 30), ("77", 77)]
            as [(String, Int)])
    func sizesAreReadAsTheKernelWritesThem(text: String, size: Int) {
        #expect(Machine.byteCount(text) == size)
    }

    @Test(arguments: ["", "K", "-1K", "12Q", "1.5M", "99999999999G", "0"])
    func whatIsNoSizeIsNone(text: String) {
        #expect(Machine.byteCount(text) == nil)
    }

    @Test func levelsAreSmallerThanTheirCacheAndMainMemoryLarger() {
        let levels = MemoryLevel.all([32 << 10, 512 << 10, 32 << 20], memoryFactor: 8)
        #expect(levels.map(\.name) == ["L1", "L2", "L3", "DRAM"])
        let byteCounts: [Int] = [16 << 10, 256 << 10, 8 << 20, 256 << 20]
        #expect(levels.map(\.byteCount) == byteCounts)
    }

    @Test func aMachineThatSaysNothingOfItsCachesIsMeasuredAllTheSame() {
        let levels = MemoryLevel.all([], memoryFactor: 8)
        #expect(levels.map(\.name) == ["L1", "L2", "DRAM"])
        #expect(levels.last?.byteCount == 64 << 20)
    }

    @Test func theNameOfTheProcessorIsFound() {
        let text = "processor\t: 0\nvendor_id\t: X\nmodel name\t: Some: Chip 7\n\nprocessor\t: 1\nmodel name\t: Other\n"
        #expect(Machine.model(inText: text) == "Some: Chip 7")
        #expect(Machine.model(inText: "processor\t: 0\nFeatures\t: fp asimd\n") == nil)
    }
}

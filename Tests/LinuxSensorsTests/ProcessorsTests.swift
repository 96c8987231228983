import LinuxSystem
import TestSupport
import Testing

@Suite struct ProcessorsTests {
    @Test func aProcessorThatMayNotBeUsedDoesNotCount() throws {
        #expect(try onOneProcessor { Processors.availableCount } == 1)
        let output = try TemporaryFile()
        let nproc = Child(["nproc"])
        nproc.standardOutput = try output.writer()
        // It asks these variables first.
        nproc.environment = ["OMP_NUM_THREADS": "", "OMP_THREAD_LIMIT": ""]
        try nproc.run()
        nproc.waitUntilExit()
        #expect(try "\(Processors.availableCount)\n" == output.text())
    }
}

import TestSupport
import Testing

/// What a daemon keeps resident.
@Suite struct ResidentMemoryTests {
    @Test func whatAStartNeededIsGivenBackAndWhatIsUsedAgainComesBack() throws {
        let configuration = """
            [sensor.deck]
            source = "simulated"
            model = "shake"
            [motion.deck]
            accelerometer = "deck"

            """
        let run = try DaemonRun(configuration, ["--json"]).start()
        try waitUntil("less memory than at the start: \(try run.memory("VmRSS")) of \(try run.memory("VmHWM")) kB") {
            try run.memory("VmHWM") - run.memory("VmRSS") > 1024
        }
        let count = try run.events().count
        try waitUntil("further events") { try run.events().count > count }
        try run.configure(configuration + "threshold_g = 0.3\n")
        run.reload()
        try run.waitForMessage("configuration reloaded: 1 of 1 sensors keep running")
        #expect(run.stop() == 0)
    }
}

import Foundation
import TestSupport
import Testing

/// A daemon that appends its events to a file: with a store each gets there at least once, however it ends.
@Suite struct FileHandlerTests {
    private let folder: TemporaryFolder
    private var store: String { folder.path + "/events.db" }

    init() throws {
        folder = try TemporaryFolder([:])
    }

    private func configuration(floods: Bool) -> String {
        """
        [store]
        path = "\(store)"
        [socket]
        path = "\(folder.path)/binnacle.sock"
        \(NoiseFlood.sections(floods: floods))
        [handler.lines]
        on = ["shake"]
        file = "\(folder.path)/events.jsonl"
        """
    }

    private func shakes(_ text: String) throws -> [Int] {
        try text.split(separator: "\n").compactMap { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return object?["kind"] as? String == "shake" ? object?["seq"] as? Int : nil
        }
    }

    @Test func nothingThatWasAppendedIsMissingAfterKills() throws {
        var generator = SeededGenerator(seed: 7)
        for round in 0..<10 {
            let run = try DaemonRun(configuration(floods: true)).start()
            // On a busy machine all others may be killed before their first event.
            if round == 0 {
                try waitUntil("an event") {
                    let text = try? String(contentsOfFile: folder.path + "/events.jsonl", encoding: .utf8)
                    return text?.contains("\n") == true
                }
            }
            usleep(UInt32.random(in: 50_000...300_000, using: &generator))
            run.process.end()
        }
        let run = try DaemonRun(configuration(floods: false)).start()
        let status = ["status", "--json", "--socket", folder.path + "/binnacle.sock"]
        try waitUntil("a handler that has nothing left to do") {
            let result = try Binary.run(status)
            return result.output.contains("\"stored\":0") && result.output.contains("\"unacknowledged\":0")
                && result.output.contains("\"action\":\"file\"")
        }
        #expect(run.stop() == 0)
        let written = try shakes(try String(contentsOfFile: folder.path + "/events.jsonl", encoding: .utf8))
        let events = try Binary.run("events", "--json", "--store", store)
        try #require(events.status == 0, "\(events.errors)")
        let kept = try shakes(events.output)
        #expect(!kept.isEmpty && Set(kept).isSubset(of: written), "\(Set(kept).subtracting(written).count) are missing")
        var seen: Set<Int> = []
        let firstTimes = written.filter { seen.insert($0).inserted }
        #expect(firstTimes == firstTimes.sorted(), "nothing overtakes another event")
    }

    @Test func aReplayWritesTheFileWhenItIsAskedTo() throws {
        try folder.write("trace.csv", "time_s,ax,ay,az\n0,0,0,9.8\n0.01,0,0,90\n0.07,0,0,9.8\n")
        try folder.write(
            "binnacle.toml",
            """
            [sensor.box]
            source = "trace"
            file = "trace.csv"
            [motion.moved]
            accelerometer = "box"
            [handler.lines]
            on = ["shock"]
            file = "events.jsonl"
            """)
        let words = ["replay", "--config", folder.path + "/binnacle.toml"]
        #expect(try Binary.run(words).status == 0)
        #expect(access(folder.path + "/events.jsonl", F_OK) != 0)
        #expect(try Binary.run(words + ["--handlers"]).status == 0)
        let lines = try String(contentsOfFile: folder.path + "/events.jsonl", encoding: .utf8)
        #expect(lines.split(separator: "\n").count == 1 && lines.contains("\"kind\":\"shock\""))
    }
}

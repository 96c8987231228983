import Foundation
import TestSupport
import Testing

/// What `binnacle bench` writes; never how fast anything is.
@Suite struct BenchTests {
    private func objects(_ arguments: [String]) throws -> [[String: Any]] {
        let result = try Binary.run(["bench", "--quick", "--json"] + arguments)
        #expect(result.status == 0, "\(result.errors)")
        return try result.lines.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any], "\($0)")
        }
    }

    @Test(.enabled(if: Binary.isOptimized, "would take minutes")) func everyFigureOfAKernelIsThere() throws {
        let objects = try objects(["--kernel", "k1"])
        #expect(objects.first?["type"] as? String == "machine")
        #expect(objects.last?["type"] as? String == "noise")
        for key in ["model", "processors", "instruction_sets", "instruction_set", "caches"] {
            #expect(objects.first?[key] != nil, "\(key)")
        }
        for key in ["is_too_noisy", "worst_median_to_best", "sentence"] { #expect(objects.last?[key] != nil, "\(key)") }
        let figures = objects.dropFirst().dropLast()
        #expect(figures.count > 12)
        var forms: Set<String> = []
        for figure in figures {
            #expect(figure["type"] as? String == "kernel")
            #expect(figure["kernel"] as? String == "k1")
            #expect(figure["is_checked"] as? Bool == true)
            for key in [
                "ns_per_sample", "ns_per_sample_min", "ns_per_sample_max", "gb_per_s", "limit_gb_per_s",
                "limit_percent",
            ] {
                let value = try #require(figure[key] as? Double, "\(key): \(figure)")
                #expect(value > 0 && value < 1e6, "\(key): \(figure)")
            }
            for key in ["name", "level", "bytes", "samples", "event_rate"] { #expect(figure[key] != nil, "\(key)") }
            forms.insert(try #require(figure["form"] as? String))
        }
        #expect(forms.isSuperset(of: ["scalar", "baseline"]))
    }

    @Test(.enabled(if: Binary.isOptimized, "would take minutes")) func theLivePathTellsItsEvents() throws {
        let objects = try objects(["--kernel", "live"])
        let batches = objects.filter { $0["type"] as? String == "live" }.compactMap { $0["batch"] as? Int }
        #expect(Set(batches) == [1, 16, 128])
        let counts = objects.filter { $0["type"] as? String == "live_count" }
        #expect(counts.count == 2)
        for count in counts {
            #expect((count["events"] as? Int ?? 0) > 0)
            // Where the kernel grants no breakpoints, there is no count.
            if let allocations = count["allocations"] as? Int { #expect(allocations >= 0) }
        }
    }

    @Test(.enabled(if: Binary.isOptimized, "would take minutes")) func recordingsGiveTheSameEventsInEveryFormat() throws
    {
        let traces = try objects(["--kernel", "traces"]).filter { $0["type"] as? String == "trace" }
        let formats = Set(traces.compactMap { $0["format"] as? String })
        #expect(formats == ["csv", "arrows"])
        for form in ["threshold", "gravity"] {
            let events = traces.filter { $0["form"] as? String == form }.compactMap { $0["events"] as? Int }
            #expect(events.count == 2)
            #expect(Set(events).count == 1)
            #expect((events.first ?? 0) > 0)
        }
        // Nothing is left behind.
        let folder = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        let mine = try FileManager.default.contentsOfDirectory(atPath: folder).filter {
            $0.hasPrefix("binnacle-bench-") && FileManager.default.fileExists(atPath: "\(folder)/\($0)/trace.csv")
        }
        #expect(mine.isEmpty, "\(mine)")
    }

    @Test(.enabled(if: Binary.isOptimized, "would take minutes")) func theTableNamesTheMachine() throws {
        let result = try Binary.run("bench", "--quick", "--kernel", "limits")
        #expect(result.status == 0)
        #expect(result.output.hasPrefix("machine: "))
        for word in ["L1", "DRAM", "instruction sets: ", "The machine was "] { #expect(result.output.contains(word)) }
    }

    @Test func aCancelledMeasurementLeavesNothingBehind() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("binnacle-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let process = Binary.process(["bench", "--kernel", "traces"])
        process.environment = ["TMPDIR": folder.path]
        let output = try TemporaryFile()
        process.standardOutput = try output.writer()
        try process.run()
        try waitUntil("its files") { try !FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty }
        kill(process.processIdentifier, SIGINT)
        process.waitUntilExit()
        #expect(process.terminationStatus == 130)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test(
        arguments: [
            (["--kernel", "k9"], "did you mean `k1`?"), (["--kernel"], "needs a value"), (["x"], "takes no 'x'"),
            (["--quik"], "did you mean `--quick`?"),
        ] as [([String], String)])
    func wrongUseIsExplained(arguments: [String], message: String) throws {
        let result = try Binary.run(["bench"] + arguments)
        #expect(result.status == 64)
        #expect(result.errors.contains(message), "\(result.errors)")
    }

    @Test func helpSaysWhatIsMeasured() throws {
        let help = try Binary.run("bench", "--help")
        #expect(help.status == 0)
        for word in ["--quick", "--kernel", "--json", "k1", "live", "traces"] { #expect(help.output.contains(word)) }
    }
}

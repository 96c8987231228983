import Foundation
import TestSupport
import Testing

/// Recorded and simulated traces with the events they have to give, through the binary that users run.
@Suite struct GoldenTests {
    /// The traces' files by their names.
    static let traces: [String: String] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: Binary.golden)) ?? []
        let traces = files.filter { $0.hasSuffix(".csv") || $0.hasSuffix(".evemu") }
        return Dictionary(uniqueKeysWithValues: traces.map { (String($0.prefix { $0 != "." }), $0) })
    }()

    static let names = traces.keys.sorted()

    private func arguments(_ name: String) -> [String] {
        let configuration = "\(name).toml"
        let hasOne = FileManager.default.fileExists(atPath: "\(Binary.golden)/\(configuration)")
        return ["replay", "--json"] + (hasOne ? ["--config", configuration] : []) + [GoldenTests.traces[name] ?? name]
    }

    private func expected(_ name: String, _ suffix: String) throws -> String {
        String(
            decoding: try Data(contentsOf: URL(fileURLWithPath: "\(Binary.golden)/\(name).\(suffix)")), as: UTF8.self)
    }

    @Test func thereAreGoldenTraces() {
        #expect(GoldenTests.names.count >= 8)
    }

    @Test(arguments: names)
    func aReplayGivesItsEvents(name: String) throws {
        let result = try Binary.run(arguments(name), in: Binary.golden)
        let events = try expected(name, "events")
        #expect(result.output == events, "\(name): see `make golden`")
        #expect(!events.isEmpty)
        let messages = try expected(name, "messages")
        #expect(result.errors.hasPrefix(messages))
    }

    @Test(arguments: names)
    func theEventsDoNotDependOnTheBatchTheSpeedOrTheRun(name: String) throws {
        let expected = try Binary.run(arguments(name), in: Binary.golden).output
        for options in [
            ["--batch", "1"], ["--batch", "7"], ["--batch", "4096"], ["--speed", "max"], ["--speed", "1e6"], [],
        ] {
            let result = try Binary.run(arguments(name) + options, in: Binary.golden)
            #expect(result.output == expected, "\(name) \(options)")
        }
    }

    @Test(arguments: names)
    func everyLineIsAnObjectWithTheKeysThatAreDocumented(name: String) throws {
        var last = 0
        for line in try Binary.run(arguments(name), in: Binary.golden).lines {
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            for key in ["seq", "kind", "detector", "sensor", "time_ns"] { #expect(object[key] != nil, "\(line)") }
            let number = try #require(object["seq"] as? Int)
            #expect(number == last + 1)
            last = number
        }
    }
}

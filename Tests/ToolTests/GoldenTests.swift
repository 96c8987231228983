import Foundation
import TestSupport
import Testing

/// Recorded and simulated traces with the events they have to give, through the binary that users run.
@Suite struct GoldenTests {
    static let files = Set((try? FileManager.default.contentsOfDirectory(atPath: Binary.golden)) ?? [])
    /// The traces' files by their names.
    static let traces: [String: String] = {
        let traces = files.filter { $0.hasSuffix(".csv") || $0.hasSuffix(".evemu") }
        return Dictionary(uniqueKeysWithValues: traces.map { (String($0.prefix { $0 != "." }), $0) })
    }()

    /// Those with a trace, or with a configuration that names files elsewhere.
    static let names = files.filter { $0.hasSuffix(".events") }.map { String($0.dropLast(7)) }.sorted()

    static func arguments(_ name: String) -> [String] {
        let configuration = "\(name).toml"
        let hasOne = GoldenTests.files.contains(configuration)
        return ["replay", "--json"] + (hasOne ? ["--config", configuration] : [])
            + (GoldenTests.traces[name].map { [$0] } ?? [])
            + ((try? expected(name, "options")).map { $0.split(whereSeparator: \.isWhitespace).map(String.init) } ?? [])
    }

    private static func expected(_ name: String, _ suffix: String) throws -> String {
        String(
            decoding: try Data(contentsOf: URL(fileURLWithPath: "\(Binary.golden)/\(name).\(suffix)")), as: UTF8.self)
    }

    @Test func thereAreGoldenTraces() {
        #expect(GoldenTests.names.count >= 8)
    }

    @Test(arguments: names)
    func aReplayGivesItsEvents(name: String) throws {
        let result = try Binary.run(Self.arguments(name), in: Binary.golden)
        let events = try Self.expected(name, "events")
        #expect(result.output == events, "\(name): see `make golden`")
        #expect(!events.isEmpty)
        let messages = try Self.expected(name, "messages")
        #expect(result.errors.hasPrefix(messages))
    }

    @Test(arguments: names)
    func theEventsDoNotDependOnTheBatchTheSpeedOrTheRun(name: String) throws {
        let expected = try Binary.run(Self.arguments(name), in: Binary.golden).output
        for options in [
            ["--batch", "1"], ["--batch", "7"], ["--batch", "4096"], ["--speed", "max"], ["--speed", "1e6"], [],
        ] {
            let result = try Binary.run(Self.arguments(name) + options, in: Binary.golden)
            #expect(result.output == expected, "\(name) \(options)")
        }
    }

    @Test(arguments: names)
    func everyLineIsAnObjectWithTheKeysThatAreDocumented(name: String) throws {
        var last = 0
        for line in try Binary.run(Self.arguments(name), in: Binary.golden).lines {
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            for key in ["seq", "kind", "detector", "sensor", "time_ns"] { #expect(object[key] != nil, "\(line)") }
            let number = try #require(object["seq"] as? Int)
            #expect(number == last + 1)
            last = number
        }
    }

    // MARK: - Without the gyroscope

    /// Traces with a gyroscope that are compared with what the compass alone gives.
    static let compassNames = files.filter { $0.hasSuffix(".compass") }.map { String($0.dropLast(8)) }.sorted()

    /// What a sensor whose maker has removed the hard iron is read with.
    private func withoutIron(_ name: String) -> [String] {
        ["--set", "north.\(detector(name)).hard_iron_uT=0"]
    }

    private func detector(_ name: String) -> String { name == "xio" ? "x" : "north" }

    @Test(arguments: compassNames)
    func withoutTheGyroscopeItsEventsAreThoseOfTheCompass(name: String) throws {
        let wanted = try Self.expected(name, "compass")
        #expect(wanted != (try Self.expected(name, "events")))
        let unused = ["--set", "north.\(detector(name)).gyroscope=none"] + withoutIron(name)
        #expect(try Binary.run(Self.arguments(name) + unused, in: Binary.golden).output == wanted)
    }

    /// Left out, the columns of a gyroscope change nothing either.
    @Test func withoutItsColumnsTheEventsAreThoseOfTheCompass() throws {
        #expect(GoldenTests.compassNames == ["walk", "xio"])
        let walk = ["Accelerometer", "Magnetometer"].map { "\(Binary.fixtures)/phyphox_walk/\($0).csv" }
        #expect(
            try Binary.run(["replay", "--json"] + walk + withoutIron("walk")).output
                == (try Self.expected("walk", "compass")))
        let xio = try cut(columns: 1..<4, of: "xio.csv")
        let cutXio = try Binary.run(
            ["replay", "--json", "--config", "xio.toml", xio.path] + withoutIron("xio"), in: Binary.golden)
        #expect(cutXio.output == (try Self.expected("xio", "compass")))
        // The other one is too long to be kept twice.
        let trace = try cut(columns: 7..<10, of: "broad05.csv")
        let broad05 = try Binary.run("replay", "--json", trace.path)
        #expect(!broad05.output.isEmpty)
        let unused = ["--set", "north.north.gyroscope=none"]
        #expect(try Binary.run(Self.arguments("broad05") + unused, in: Binary.golden).output == broad05.output)
        #expect(broad05.output != (try Self.expected("broad05", "events")))
    }

    /// A copy of a trace without some of its columns.
    private func cut(columns: Range<Int>, of file: String) throws -> TemporaryFile {
        let text = try String(contentsOfFile: "\(Binary.golden)/\(file)", encoding: .utf8)
        let rows = text.split(separator: "\n").map { row -> String in
            var cells = row.split(separator: ",", omittingEmptySubsequences: false)
            cells.removeSubrange(columns)
            return cells.joined(separator: ",")
        }
        return try TemporaryFile(rows.joined(separator: "\n") + "\n", suffix: ".csv")
    }
}

import Foundation
import TestSupport
import Testing

/// `binnacle replay --each` and `--report`.
@Suite struct ReplayBatchTests {
    private struct Line: Decodable {
        let recording: String
        let kind: String
        let status: Int?
        let reason: String?
        let samples: Int?
        let skipped: [String: Int]?
        let events: Int?
        let seconds: Double?
        let seq: Int?
    }

    /// Rows at 100 Hz, which move from a second on.
    private static func rows(seconds: Int, changing: (Int) -> String? = { _ in nil }) -> String {
        var text = "time_s,acceleration_x_m_s2,acceleration_y_m_s2,acceleration_z_m_s2\n"
        for index in 0..<(100 * seconds) {
            let time = String(format: "%.2f", Double(index) / 100)
            let x = index % 200 >= 100 ? 3 * sin(Double(index)) : 0
            text += changing(index) ?? "\(time),\(x),0,9.80665"
            text += "\n"
        }
        return text
    }

    private func decode(_ text: String) throws -> [Line] {
        try text.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    }

    /// As those of `find -print0`, whose names may have line ends; a name that is not UTF-8 is said to be none.
    @Test func namesMayEndWithNUL() throws {
        let folder = try TemporaryFolder(["a.csv": Self.rows(seconds: 6), "b\nc.csv": Self.rows(seconds: 6)])
        let names = ["a.csv", "b\nc.csv"].map { folder.path + "/" + $0 }
        let result = try Binary.run(["replay", "--each"], input: names.map { $0 + "\0" }.joined())
        let outcomes = try decode(result.output).filter { $0.kind.hasPrefix("recording.") }
        #expect(outcomes.map(\.recording) == names && outcomes.map(\.status) == [0, 0], "\(result.errors)")
        let mixed = try Binary.run(["replay", "--each"], input: "\(names[0])\n\(names[0])\0\n")
        #expect(mixed.output.contains("recording.failed"), "\(mixed)")
        let windows = try Binary.run(["replay", "--each"], input: names[0] + "\r\n")
        #expect(windows.output.contains("the list has the line ends of Windows"), "\(windows)")
        let strange = try Binary.run(["replay", "--each"], input: "a\u{FFFD}.csv\n")
        #expect(strange.output.contains("the name is not UTF-8"), "\(strange)")
    }

    @Test func eachRecordingIsPlayedByItself() throws {
        let folder = try TemporaryFolder([
            "a.csv": Self.rows(seconds: 6), "empty.csv": "", "malformed.csv": String(repeating: "?\n", count: 50),
            "b.csv": Self.rows(seconds: 8) { $0 == 50 ? "0.50,nan,0,9.8" : nil },
        ])
        // A pipe without a writer, a folder and a device have a row like any other.
        #expect(mkfifo(folder.path + "/pipe", 0o600) == 0)
        let names =
            ["a.csv", "empty.csv", "missing.csv", "malformed.csv", "b.csv", "a.csv", "pipe", "."].map {
                folder.path + "/" + $0
            } + ["/dev/zero"]
        let result = try Binary.run(["replay", "--each"], input: names.joined(separator: "\n"))
        #expect(result.status == 0, "\(result.errors)")
        let lines = try decode(result.output)
        let outcomes = lines.filter { $0.kind.hasPrefix("recording.") }
        #expect(outcomes.map(\.recording) == names)
        #expect(outcomes.map(\.status) == [0, 65, 66, 65, 0, 0, 65, 65, 65])
        #expect(outcomes.allSatisfy { ($0.kind == "recording.failed") == ($0.status != 0) })
        #expect(outcomes.allSatisfy { ($0.reason == nil) == ($0.status == 0) })
        #expect(names.allSatisfy { !result.errors.contains("\($0): \($0)") }, "each message names its recording once")
        #expect(outcomes[4].samples == 799 && outcomes[4].skipped == ["not_finite": 1])
        #expect(outcomes[4].seconds == 7.99)
        // The events are those of a replay of its own, with the recording before them.
        let alone = try Binary.run("replay", "--json", names[0])
        let start = "{\"recording\":\"\(names[0])\","
        let own = result.output.split(separator: "\n").filter { $0.hasPrefix(start + "\"seq\"") }
        let expected = alone.output.split(separator: "\n").map { start + $0.dropFirst() }
        #expect(!expected.isEmpty && own.map(String.init) == expected + expected)
        #expect(outcomes[0].events == expected.count)
    }

    /// Without a file the configuration is that of each recording's sensors.
    @Test func aSettingThatDoesNotFitARecordingEndsNothing() throws {
        let walk = Binary.fixtures + "/phyphox_walk"
        let folder = try TemporaryFolder(["a.csv": Self.rows(seconds: 6)])
        let names = [walk, folder.path + "/a.csv", walk]
        func outcomes(_ setting: String) throws -> [Int?] {
            let result = try Binary.run(["replay", "--each", "--set", setting], input: names.joined(separator: "\n"))
            #expect(result.status == 0, "\(result.errors)")
            return try decode(result.output).filter { $0.kind.hasPrefix("recording.") }.map(\.status)
        }
        #expect(try outcomes("north.north.hard_iron_uT=0") == [0, 0, 0])
        #expect(try outcomes("north.own.magnetometer=magnetometer") == [78, 78, 78])
    }

    @Test func aReportSaysWhatBecameOfAReplay() throws {
        let folder = try TemporaryFolder([
            "a.csv": Self.rows(seconds: 3), "empty.csv": "", "a.toml": "nothing = 1\n",
            "torn.csv": Self.rows(seconds: 3) + String(repeating: "?\n", count: 2000),
        ])
        func report(_ words: String...) throws -> (status: Int32, line: Line) {
            let file = folder.path + "/report"
            let result = try Binary.run(["replay", "--force", "--report", file] + words.map { folder.path + "/" + $0 })
            return (result.status, try #require(try decode(String(contentsOfFile: file, encoding: .utf8)).first))
        }
        let (status, line) = try report("a.csv")
        #expect(status == 0 && line.status == 0 && line.kind == "recording.replayed" && line.samples == 300)
        // A replay that did not begin leaves the report of the one before.
        let (failed, before) = try report("empty.csv")
        #expect(failed == 65 && before.status == 0)
        let (torn, failure) = try report("torn.csv")
        #expect(torn == 65 && failure.status == 65 && failure.reason?.contains("torn.csv") == true, "\(failure)")
        let nowhere = try Binary.run(["replay", "--report", folder.path + "/no/report", folder.path + "/a.csv"])
        #expect(nowhere.status == 73)
        // A report replaces nothing that is there, also not through a link, unless that is asked for.
        #expect(symlink("precious", folder.path + "/link") == 0)
        for name in ["report", "link"] {
            let before = try? String(contentsOfFile: folder.path + "/" + name, encoding: .utf8)
            let refused = try Binary.run(["replay", "--report", folder.path + "/" + name, folder.path + "/a.csv"])
            #expect(refused.status == 73 && refused.output.isEmpty)
            #expect(refused.errors.contains("is there already"))
            #expect((try? String(contentsOfFile: folder.path + "/" + name, encoding: .utf8)) == before)
        }
        #expect(access(folder.path + "/precious", F_OK) != 0)
    }

    @Test(arguments: ["a.toml", "missing.toml", ""])
    func aConfigurationThatCannotBeUsedEndsIt(name: String) throws {
        let folder = try TemporaryFolder(["a.toml": "nothing = 1\n", "a.csv": Self.rows(seconds: 1)])
        let path = folder.path + "/" + name
        for words in [["--each"], [folder.path + "/a.csv"]] {
            let result = try Binary.run(["replay", "--config", path] + words, input: folder.path + "/a.csv\n")
            #expect(result.status == 78, "\(result.errors)")
            #expect(result.output == "")
        }
    }

    @Test(arguments: [["a.csv"], ["--bind", "a=a.csv"], ["--report", "r"], ["--handlers"]])
    func whatIsNotForEachIsRefused(words: [String]) throws {
        let result = try Binary.run(["replay", "--each"] + words, input: "")
        #expect(result.status == 64 && result.errors.contains("--each"))
    }

    /// A calibration that turns the axes by a factor.
    private static func calibration(_ factor: Double) -> String {
        """
        [accelerometer]
        offset_m_s2 = [0.0, 0.0, 0.0]
        matrix = [[\(factor), 0.0, 0.0], [0.0, \(factor), 0.0], [0.0, 0.0, \(factor)]]
        fit_error_m_s2 = 0.01
        positions = 6
        """
    }

    @Test func aDeviceHasItsCalibration() throws {
        let folder = try TemporaryFolder([
            "config.toml": """
            [sensor.box]
            source = "auto"
            calibration = "calibrations/{device}.toml"
            [motion.box]
            accelerometer = "box"
            """,
            "calibrations/one.toml": Self.calibration(1), "calibrations/two.toml": Self.calibration(1.5),
            "day=1/device=one/a.csv": Self.rows(seconds: 6), "day=1/device=two/a.csv": Self.rows(seconds: 6),
            "day=1/device=three/a.csv": Self.rows(seconds: 6), "a.csv": Self.rows(seconds: 6),
        ])
        let names = ["day=1/device=one/a.csv", "day=1/device=two/a.csv", "day=1/device=three/a.csv", "a.csv"].map {
            folder.path + "/" + $0
        }
        let arguments = ["replay", "--config", folder.path + "/config.toml"]
        let result = try Binary.run(arguments + ["--each"], input: names.joined(separator: "\n"))
        #expect(result.status == 0, "\(result.errors)")
        let outcomes = try decode(result.output).filter { $0.kind.hasPrefix("recording.") }
        #expect(outcomes.map(\.status) == [0, 0, 78, 78])
        #expect(outcomes[2].reason?.contains("calibrations/three.toml") == true)
        #expect(outcomes[3].reason?.contains("device=NAME") == true)
        // The calibration was applied: with the factor 1.5 a box at rest is not at 1 g, and peaks are higher.
        let lines = result.output.split(separator: "\n")
        let peaks = names.prefix(2).map { name in
            lines.filter { $0.contains("motion.ended") && $0.contains(name) }.compactMap { line -> Double? in
                line.range(of: "\"peak_g\":").flatMap { Double(line[$0.upperBound...].prefix(6)) }
            }.max() ?? 0
        }
        #expect(peaks[0] > 0.2 && abs(peaks[1] / peaks[0] - 1.5) < 0.01, "\(peaks)")
        // A replay of one recording, too; of two devices there is none.
        #expect(try Binary.run(arguments + [names[1]]).status == 0)
        let both = try Binary.run(arguments + [names[0], names[1]])
        #expect(both.status == 78 && both.errors.contains("{device}"), "\(both.errors)")
        // Another placeholder is a mistake, whatever the recording.
        let other = try TemporaryFolder([
            "config.toml":
                "[sensor.box]\nsource = \"auto\"\ncalibration = \"{devise}\"\n[motion.m]\naccelerometer = \"box\"\n"
        ])
        let wrong = try Binary.run(["replay", "--each", "--config", other.path + "/config.toml"], input: names[0])
        #expect(wrong.status == 78 && wrong.errors.contains("device"), "\(wrong.errors)")
    }

    @Test func aTableIsAnArrowStream() throws {
        let folder = try TemporaryFolder(["a.csv": Self.rows(seconds: 6), "a.toml": "nothing = 1\n"])
        func run(_ words: [String]) throws -> (status: Int32, bytes: [UInt8], errors: String) {
            let child = Binary.process(["replay"] + words)
            let (input, output) = (try TemporaryFile(folder.path + "/a.csv\n"), try TemporaryFile())
            let errors = try TemporaryFile()
            child.standardInput = FileHandle(forReadingAtPath: input.path)
            child.standardOutput = try output.writer()
            child.standardError = try errors.writer()
            try child.run()
            child.waitUntilExit()
            let bytes = try Data(contentsOf: URL(fileURLWithPath: output.path))
            return (child.terminationStatus, [UInt8](bytes), try errors.text())
        }
        for words in [["--each", "--arrow"], ["--arrow", folder.path + "/a.csv"]] {
            let (status, bytes, errors) = try run(words)
            #expect(status == 0, "\(errors)")
            // A message begins with the mark, and the stream ends with that of its end.
            #expect(bytes.starts(with: [255, 255, 255, 255]) && bytes.suffix(8) == [255, 255, 255, 255, 0, 0, 0, 0])
            #expect(bytes.count % 8 == 0)
            #expect(String(decoding: bytes, as: UTF8.self).contains("recording.replayed") == (words[0] == "--each"))
        }
        let refused = try run(["--each", "--arrow", "--config", folder.path + "/a.toml"])
        #expect(refused.status == 78 && refused.bytes.isEmpty)
        #expect(try run(["--arrow", "--json", folder.path + "/a.csv"]).status == 64)
    }
}

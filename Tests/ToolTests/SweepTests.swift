import Foundation
import TestSupport
import Testing

/// `binnacle sweep`, `binnacle score` and `binnacle doctor --measure`.
@Suite struct SweepTests {
    private static let recording = Binary.fixtures + "/broad/broad05_rotation_breaks.csv"
    private static let labels = Binary.fixtures + "/broad/broad05_labels.csv"

    @Test func aRowForEachValueHasWhatAReplayCounts() throws {
        let result = try Binary.run(
            "sweep", "--csv", "--set", "motion.motion.threshold_g=0.05,0.2", "--set", "motion.motion.quiet_s=5",
            Self.recording)
        #expect(result.status == 0, "\(result.errors)")
        let rows = result.lines.map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
        #expect(
            rows.count == 3
                && rows[0][..<3] == ["recording", "motion.motion.threshold_g", "motion.motion.quiet_s"])
        for (value, row) in zip(["0.05", "0.2"], rows.dropFirst()) {
            let replay = try Binary.run(
                "replay", "--json", "--set", "motion.motion.threshold_g=\(value)", "--set",
                "motion.motion.quiet_s=5", Self.recording)
            var counts: [String: Int] = [:]
            for line in replay.lines {
                let event = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                counts[event?["kind"] as? String ?? "", default: 0] += 1
            }
            #expect(row[..<3] == [Self.recording, value, "5"])
            let found = Dictionary(
                uniqueKeysWithValues: zip(rows[0].dropFirst(3), row.dropFirst(3).map { Int($0) ?? -1 }))
            #expect(found.filter { $0.value > 0 } == counts)
        }
    }

    @Test func scoresAreTheSameInBothCommands() throws {
        let folder = try TemporaryFolder()
        let sweep = try Binary.run(
            "sweep", "--json", "--labels", Self.labels, "--kind", "motion.*", "--set",
            "motion.motion.detect=[\"motion\"]",
            Self.recording)
        let row = try #require(try JSONSerialization.jsonObject(with: Data(sweep.output.utf8)) as? [String: Any])
        #expect(row["motion.began"] as? Int == 4 && row["heading"] == nil && row["labels"] as? Int == 8)
        let replay = try Binary.run("replay", "--json", Self.recording)
        try replay.output.write(toFile: folder.path + "/e", atomically: true, encoding: .utf8)
        let score = try Binary.run("score", "--json", folder.path + "/e", Self.labels)
        #expect(score.status == 0 && score.errors.contains("without labels, and not scored: "))
        let all = try #require(
            try JSONSerialization.jsonObject(with: Data((score.lines.last ?? "").utf8)) as? [String: Any])
        for key in ["labels", "found", "missed", "false", "precision", "recall", "onset_mean_s", "onset_abs_s"] {
            #expect(row[key] as? Double == all[key] as? Double, "\(key)")
        }
        #expect(all["kind"] as? String == "all" && all["found"] as? Int == 8)
    }

    @Test func labelsOutsideOfTheStretchAreLeftOut() throws {
        let result = try Binary.run(
            "sweep", "--json", "--labels", Self.labels, "--kind", "motion.*", "--from", "100s", "--to", "160s",
            Self.recording)
        let row = try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        #expect(row["labels"] as? Int == 4)
        #expect(result.errors.contains("labels outside of --from and --to left out: 4"), "\(result.errors)")
    }

    /// Times since the first sample, where the stamps are others, and times in UTC.
    @Test func labelsInOtherTimesAreReported() throws {
        let folder = try TemporaryFolder([
            "since.csv": "time_s,kind\n-500,motion.began\n",
            "utc.csv": "time,kind\n2026-11-21T12:00:05Z,motion.began\n",
        ])
        let since = try Binary.run("sweep", "--json", "--labels", folder.path + "/since.csv", Self.recording)
        #expect(since.status == 0 && since.errors.contains("all labels are outside of it"), "\(since.errors)")
        let utc = try Binary.run("sweep", "--json", "--labels", folder.path + "/utc.csv", Self.recording)
        #expect(utc.status == 65 && utc.errors.contains("the stamps are no wall-clock time"), "\(utc.errors)")
    }

    /// A recording's stamps count from the boot, and it contains how far the wall clock was ahead.
    @Test func labelsInUTCFitARecordingThatHasTheDifference() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/r.arrows"
        let made = try Binary.run("record", "--simulate", "shake", "--for", "4s", "-o", path)
        #expect(made.status == 0, "\(made.errors)")
        let events = try Binary.run("replay", "--json", path).lines.map { try CalibrateTests.object($0) }
        let began = try #require(events.first { $0["kind"] as? String == "motion.began" }?["time_ns"] as? Int64)
        let form = ISO8601DateFormatter()
        let time = form.string(from: Date(timeIntervalSinceNow: Double(began - Clock.now()) * 1e-9))
        try "time,kind\n\(time),motion.began\n".write(
            toFile: folder.path + "/l.csv", atomically: true, encoding: .utf8)
        let result = try Binary.run(
            "sweep", "--json", "--labels", folder.path + "/l.csv", "--tolerance", "10s", path)
        let row = try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        #expect(row["found"] as? Int == 1, "\(result.output)\(result.errors)")
    }

    @Test func aFolderIsOneRecordingAndSeveralAreSummedUp() throws {
        let folder = try TemporaryFolder()
        for name in ["Accelerometer.csv", "Magnetometer.csv"] {
            try FileManager.default.copyItem(
                atPath: Binary.fixtures + "/phyphox_walk/" + name, toPath: folder.path + "/" + name)
        }
        let result = try Binary.run("sweep", "--csv", "--kind", "motion.began", folder.path, Self.recording)
        #expect(result.status == 0, "\(result.errors)")
        let rows = result.lines.map { $0.split(separator: ",").map(String.init) }
        #expect(rows.map(\.first) == ["recording", folder.path, Self.recording, "all"])
        let counts = rows.dropFirst().compactMap { $0.last.flatMap(Int.init) }
        #expect(counts.count == 3 && counts[0] + counts[1] == counts[2] && counts[0] > 0)
    }

    @Test func aRecordingThatCannotBeReadIsLeftOut() throws {
        let folder = try TemporaryFolder(["torn.csv": "name,place\nhere,there\n"])
        let torn = folder.path + "/torn.csv"
        let result = try Binary.run(
            "sweep", "--csv", "--kind", "motion.began", "--set", "motion.motion.threshold_g=0.05,0.2", torn,
            Self.recording)
        #expect(result.status == 65, "\(result.errors)")
        #expect(result.errors.contains("torn.csv:1") && result.errors.contains("torn.csv is left out"))
        #expect(result.errors.matches(of: /left out/).count == 1)
        let rows = result.lines.map { $0.split(separator: ",").map(String.init) }
        #expect(rows.dropFirst().map(\.first) == [Self.recording, "all", Self.recording, "all"])
        #expect(rows[1].last == rows[2].last)
        let alone = try Binary.run("sweep", "--csv", torn)
        #expect(alone.status == 65 && alone.lines.isEmpty)
    }

    /// As `replay --each` does it: the others are played.
    @Test func aRecordingWithoutASensorOrACalibrationIsLeftOut() throws {
        let sections = "[sensor.s]\nsource = \"auto\"\nSENSOR[motion.m]\naccelerometer = \"s\"\nNORTH"
        let calibration = """
            [accelerometer]
            offset_m_s2 = [0.0, 0.0, 0.0]
            matrix = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
            fit_error_m_s2 = 0.01
            positions = 6
            """
        let rows = "t_s,ax,ay,az\n" + (0..<300).map { "\(Double($0) / 100),0,0,9.81\n" }.joined()
        let folder = try TemporaryFolder([
            "north.toml": sections.replacing("SENSOR", with: "")
                .replacing("NORTH", with: "[north.n]\naccelerometer = \"s\"\nmagnetometer = \"s\"\n"),
            "fleet.toml": sections.replacing("SENSOR", with: "calibration = \"{device}.toml\"\n")
                .replacing("NORTH", with: ""),
            "one.toml": calibration, "device=one/a.csv": rows, "device=two/a.csv": rows,
        ])
        let (one, two) = (folder.path + "/device=one/a.csv", folder.path + "/device=two/a.csv")
        let walk = Binary.fixtures + "/phyphox_walk"
        for (configuration, left, played, status) in [("north", one, walk, 64 as Int32), ("fleet", two, one, 78)] {
            let result = try Binary.run(
                "sweep", "--csv", "--kind", "motion.began", "--config", "\(folder.path)/\(configuration).toml", left,
                played)
            #expect(result.status == status && result.errors.contains("\(left) is left out"), "\(result.errors)")
            #expect(result.lines.dropFirst().first?.hasPrefix(played) == true, "\(result.output)")
        }
    }

    @Test(arguments: [
        (["sweep", "/dev/null"], 65, "no regular file"),
        (["sweep"], 64, "needs a recording"), (["sweep", "--set", "a", "x.csv"], 64, "KEY=A,B,C"),
        (["sweep", "--csv", "--json", "x.csv"], 64, "choose one"), (["sweep", "/none.csv"], 66, "no such file"),
        (["sweep", "--tolerance", "1s", "x.csv"], 64, "is for --labels"),
        (["score", "x"], 64, "takes events and labels"),
        (["score", "/none", "/none"], 66, "/none"), (["doctor", "--measure", "0s"], 64, "above 0"),
        (["doctor", "--json"], 64, "is for --measure"),
        (["doctor", "--measure", "2s", "--guide"], 64, "does not go with"),
        (["doctor", "--measure", "1s"], 64, "from 2s to 24h"),
    ])
    func wrongUseIsSaid(arguments: [String], status: Int32, message: String) throws {
        let result = try Binary.run(arguments)
        #expect(result.status == status && result.errors.contains(message), "\(result.errors)")
    }

    @Test func aModelAtRestIsMeasured() throws {
        let result = try Binary.run("doctor", "--measure", "3s", "--simulate", "still", "--json")
        #expect(result.status == 0, "\(result.output) \(result.errors)")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        let streams = try #require(object["streams"] as? [[String: Any]])
        #expect(Set(streams.compactMap { $0["kind"] as? String }) == ["accelerometer", "gyroscope", "magnetometer"])
        #expect(streams.allSatisfy { ($0["rate_hz"] as? Double) == 100 && ($0["gaps"] as? Int) == 0 })
    }

    /// The values stand still at 15 m/s²: the stamps are right, and the rest is not.
    @Test func aDeviceIsMeasured() throws {
        let tree = try FifoTree()
        let box = try #require(try tree.addDevice(0, name: "accel_box"))
        try tree.set(tree.folder(0) + "/in_accel_sampling_frequency", "100\n")
        try tree.set(tree.folder(0) + "/in_temp_raw", "2430\n")
        try tree.set(tree.folder(0) + "/in_temp_scale", "10\n")
        try tree.set(tree.folder(0) + "/in_temp_offset", "100\n")
        let feeder = ReloadTests.Feeder(box, hertz: 100)
        let result = try Binary.run("doctor", "--measure", "2s", "--root", tree.root, "--json")
        _ = feeder.stop()
        #expect(result.status == 1, "\(result.output) \(result.errors)")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        #expect(object["temperatures_C"] as? [String: [Double]] == ["accel_box": [25.3, 25.3]])
        let stream = try #require((object["streams"] as? [[String: Any]])?.first)
        #expect(stream["rate_hz"] as? Double == 100 && stream["claimed_rate_hz"] as? Double == 100)
        #expect(stream["mean"] as? [Double] == [0, 0, 15] && stream["gaps"] as? Int == 0)
        let checks = (stream["checks"] as? [[String: Any]] ?? []).map {
            ($0["name"] as? String ?? "", $0["passes"] as? Bool)
        }
        #expect(checks.filter { $0.1 == false }.map(\.0) == ["rest"])
    }
}

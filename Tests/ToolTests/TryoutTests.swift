import Foundation
import TestSupport
import Testing

/// What is tried without a file: `--set`, a stretch of a recording, and something that plays a configuration's sensors.
@Suite struct TryoutTests {
    private static let broad05 = "\(Binary.fixtures)/broad/broad05_rotation_breaks.csv"
    /// The telephone's maker has removed the hard iron.
    private static let calibrated = ["--set", "north.north.hard_iron_uT=0"]
    private static let walk = ["Accelerometer", "Magnetometer"].map { "\(Binary.fixtures)/phyphox_walk/\($0).csv" }

    /// A sensor that lies still and is pushed along x with 0.9 m/s² from 2 s to 4 s and from 12 s to 14 s: each beginning
    /// and each end of a push is a motion.
    private static func pushes(_ start: Double = 0) -> String {
        var text = "time_s,ax,ay,az\n"
        for index in 0..<2000 {
            let push = (200..<400).contains(index) || (1200..<1400).contains(index)
            text += String(format: "%.2f,%@,0,9.80665\n", start + Double(index) / 100, push ? "0.9" : "0")
        }
        return text
    }

    private func events(_ result: Binary.Result) throws -> [[String: Any]] {
        try result.lines.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    private func kinds(_ result: Binary.Result) throws -> [String] {
        try events(result).compactMap { $0["kind"] as? String }
    }

    // MARK: - Settings

    @Test func aThresholdIsTriedWithoutAFile() throws {
        let trace = try TemporaryFile(Self.pushes(), suffix: ".csv")
        let plain = try Binary.run("replay", "--json", trace.path)
        #expect(try kinds(plain).filter { $0 == "motion.began" }.count == 4)
        let high = try Binary.run("replay", "--json", trace.path, "--set", "motion.motion.threshold_g=0.2")
        #expect(high.status == 0)
        #expect(!(try kinds(high).contains("motion.began")))
        let another = try Binary.run(
            "replay", "--json", trace.path, "--set", "motion.strict.threshold_g=0.2",
            "--set=motion.strict.accelerometer=accelerometer")
        #expect(another.output == plain.output)
        let handler = try Binary.run(
            "replay", "--json", trace.path, "--set", "handler.note.log=true",
            "--set", "handler.note.on=[\"motion.began\"]")
        #expect(handler.errors.split(separator: "\n").count { $0.hasPrefix("note: ") } == 4)
    }

    @Test func aSettingCompletesTheConfiguration() throws {
        let trace = try TemporaryFile(Self.pushes(), suffix: ".csv")
        let configuration = try TemporaryFile(
            "[sensor.box]\nsource = \"auto\"\n[motion.moved]\naccelerometer = \"box\"\nthreshold_g = 0.2\n",
            suffix: ".toml")
        let arguments = ["replay", "--json", "--config", configuration.path, trace.path]
        #expect(try kinds(try Binary.run(arguments)).isEmpty)
        let tried = try Binary.run(arguments + ["--set", "motion.moved.threshold_g=0.05"])
        #expect(try kinds(tried).filter { $0 == "motion.began" }.count == 4)
    }

    @Test(
        arguments: [
            ("motion.moved.treshold_g=1", 78, "--set motion.moved.treshold_g=1: column 14: unknown key `treshold_g`"),
            ("motion.moved.threshold_g=-1", 78, "--set motion.moved.threshold_g=-1: column 14: threshold_g (-1.0)"),
            ("motion.moved", 64, "--set motion.moved: has to be KEY=VALUE"),
            ("motion.new.threshold_g=1", 78, "[motion.new] has no `accelerometer`"),
            ("motion.moved.accelerometer=bax", 78, "no sensor `bax` (did you mean `box`?)"),
        ] as [(String, Int32, String)])
    func aWrongSettingIsRefused(_ setting: String, _ status: Int32, _ message: String) throws {
        let configuration = try TemporaryFile(
            "[sensor.box]\nsource = \"simulated\"\n[motion.moved]\naccelerometer = \"box\"\n", suffix: ".toml")
        for arguments in [
            ["check", configuration.path], ["run", "--config", configuration.path],
            ["replay", "--config", configuration.path, Self.broad05],
        ] {
            let result = try Binary.run(arguments + ["--set", setting])
            #expect(result.status == status, "\(arguments)")
            #expect(result.errors.contains(message), "\(arguments): \(result.errors)")
            #expect(result.output.isEmpty)
        }
    }

    @Test func aDetectorOfTheDefaultsNeedsASensorThatTheTracesHave() throws {
        let result = try Binary.run(
            ["replay", "--set", "motion.motion.accelerometer=magnetometer"] + Self.walk)
        #expect(result.status == 64)
        #expect(
            result.errors.contains(
                "motion.motion needs the accelerometer of sensor 'magnetometer'; the traces have the"))
        let unknown = try Binary.run(["replay", "--set", "motion.motion.accelerometer=lid"] + Self.walk)
        #expect(unknown.status == 78)
        #expect(unknown.errors.contains("no sensor `lid` (one of `magnetometer`, `accelerometer`"))
    }

    @Test func checkTakesASetting() throws {
        let configuration = try TemporaryFile("[sensor.box]\nsource = \"simulated\"\n", suffix: ".toml")
        let result = try Binary.run("check", configuration.path, "--set", "motion.m.accelerometer=box")
        #expect(result.status == 0)
        #expect(result.output.contains("1 motion detector"))
    }

    /// A warning has the place of the setting that causes it.
    @Test func aWarningAboutASettingNamesIt() throws {
        let configuration = try TemporaryFile(
            "[sensor.box]\nsource = \"simulated\"\n[motion.m]\naccelerometer = \"box\"\n", suffix: ".toml")
        let command = "handler.h.command=[\"/nonexistent/program\"]"
        let result = try Binary.run("check", configuration.path, "--set", command, "--set", "handler.h.on=[\"shake\"]")
        #expect(result.status == 0)
        #expect(
            (result.output + result.errors).contains("--set \(command): column "), "\(result.output)\(result.errors)")
    }

    @Test func aReloadKeepsWhatTheCommandLineSets() throws {
        let section = "[motion.moved]\naccelerometer = \"box\"\ndetect = [\"shake\"]\nshake_g = "
        let sensor = "[sensor.box]\nsource = \"simulated\"\nmodel = \"shake\"\nrate_hz = 200\n"
        let run = try DaemonRun(sensor + section + "9\n", ["--json", "--set", "motion.moved.shake_g=0.5"]).start()
        try run.waitForEvent("shake")
        let moved = "\"detector\":\"moved\""
        try run.configure(sensor + section + "8\n[motion.other]\naccelerometer = \"box\"\n")
        run.reload()
        try run.waitForMessage("configuration reloaded")
        let count = try run.output.text().components(separatedBy: moved).count
        try run.output.wait { $0.components(separatedBy: moved).count > count + 2 }
        #expect(run.stop() == 0)
    }

    // MARK: - A stretch of a recording

    /// The rows of broad05 whose time is within a range.
    private static func cut(_ range: ClosedRange<Double>) throws -> String {
        let text = try String(contentsOfFile: broad05, encoding: .utf8)
        let lines = text.split(separator: "\n")
        return lines[0] + "\n"
            + lines.dropFirst().filter { line in
                line.split(separator: ",").first.flatMap { Double($0) }.map { range.contains($0) } ?? false
            }.joined(separator: "\n") + "\n"
    }

    @Test func aStretchGivesTheEventsOfAFileWithItsSamples() throws {
        let cut = try TemporaryFile(try Self.cut(50...120), suffix: ".csv")
        let whole = try Binary.run("replay", "--json", cut.path)
        #expect(whole.lines.count > 20)
        for batch in ["1", "7", "4096"] {
            let result = try Binary.run(
                "replay", "--json", "--batch", batch, "--from", "50s", "--to", "2m", Self.broad05)
            #expect(result.status == 0)
            #expect(result.output == whole.output, "batch \(batch)")
        }
        let paced = try Binary.run(
            "replay", "--json", "--speed", "1e6", "--from", "50s", "--to", "120s", Self.broad05)
        #expect(paced.output == whole.output)
        #expect(paced.errors.contains("  the stretch from 50."))
        #expect(paced.errors.contains("s after the recording's first sample"))
    }

    @Test func severalFilesHaveOneTimeline() throws {
        let all = try events(try Binary.run(["replay", "--json"] + Self.calibrated + Self.walk))
        let result = try Binary.run(["replay", "--json", "--from", "30s", "--to", "60s"] + Self.calibrated + Self.walk)
        let times = try events(result).compactMap { $0["time_ns"] as? Int }
        // The first sample is that of the accelerometer, at 3 ms.
        #expect(times.count > 10 && times.count < all.count)
        #expect(times.allSatisfy { (30_003_446_083...60_003_446_083).contains($0) })
        #expect(try kinds(result).contains("heading"))
    }

    @Test(arguments: ["-1", "10", "abc", "1d", ""])
    func aTimeThatIsNoneIsRefused(_ text: String) throws {
        for option in ["--from", "--to"] {
            let result = try Binary.run("replay", "\(option)=\(text)", Self.broad05)
            #expect(result.status == 64)
            #expect(result.errors.contains("\(option) \(text): has to be a time after the recording's first sample"))
        }
    }

    @Test(
        arguments: [
            (["--from", "90s", "--to", "10s"], "--to 10s: has to be after --from 90s"),
            (["--from", "10s", "--to", "10s"], "--to 10s: has to be after --from 10s"),
            (["--to", "0s"], "--to 0s: has to be after the first sample"),
            (["--from", "1h"], "--from 1h: the recording ends 19.990 s after its first sample"),
            (["--from", "5.001s", "--to", "5.002s"], "--from 5.001s --to 5.002s: the recording has no sample there"),
            (["--from", "2026-11-21T12:45"], "--from 2026-11-21T12:45: the recording's stamps are no wall-clock time"),
        ])
    func aStretchThatIsNotThereIsAnError(_ arguments: [String], _ message: String) throws {
        let trace = try TemporaryFile(Self.pushes(), suffix: ".csv")
        for speed in ["max", "1e6"] {
            let result = try Binary.run(["replay", "--json", "--speed", speed, trace.path] + arguments)
            #expect(result.status == 64)
            #expect(result.errors.contains(message), "\(result.errors)")
            #expect(result.output.isEmpty)
        }
    }

    @Test func anEndBehindTheRecordingsIsTold() throws {
        let trace = try TemporaryFile(Self.pushes(), suffix: ".csv")
        let result = try Binary.run("replay", "--json", trace.path, "--from", "10s", "--to", "1h")
        #expect(result.status == 0)
        #expect(try kinds(result).filter { $0 == "motion.began" }.count == 2)
        #expect(result.errors.contains("--to 1h: the recording ends 19.990 s after its first sample"))
        #expect(result.errors.contains("  the stretch from 10.000 s to 19.990 s after the recording's first sample"))
    }

    @Test func wallClockTimesNameAStretch() throws {
        // 2026-11-21T12:45:00Z
        let trace = try TemporaryFile(Self.pushes(1_795_265_100), suffix: ".csv")
        let relative = try Binary.run("replay", "--json", trace.path, "--from", "10s", "--to", "15s")
        for times in [
            ["2026-11-21T12:45:10", "2026-11-21T12:45:15Z"], ["2026-11-21 12:45:10", "15s"],
            ["10s", "2026-11-21T12:45:15"],
        ] {
            let result = try Binary.run("replay", "--json", trace.path, "--from", times[0], "--to", times[1])
            #expect(result.status == 0)
            #expect(result.output == relative.output)
        }
        #expect(try kinds(relative) == ["motion.began", "motion.ended", "motion.began"])
        let wrong = try Binary.run("replay", trace.path, "--from", "15s", "--to", "2026-11-21T12:45:10")
        #expect(wrong.status == 64 && wrong.errors.contains("the end is before the beginning"))
        let early = try Binary.run("replay", trace.path, "--to", "2026-11-21")
        #expect(early.status == 64)
        #expect(early.errors.contains("--to 2026-11-21: the recording begins later, at 2026-11-21T12:45:00.000000Z"))
    }

    /// A recorder that writes one sensor's samples late: the order of arrival is not that of the stamps.
    @Test func samplesThatArriveLateAreInTheStretch() throws {
        var text = "time_s,ax,ay,az,mx,my,mz\n"
        for second in 0..<20 {
            for index in 0..<100 {
                text += String(format: "%.2f,0,0,9.80665,,,\n", Double(second) + Double(index) / 100)
            }
            for index in 0..<100 {
                text += String(format: "%.2f,,,,0,21,-45\n", Double(second) + Double(index) / 100)
            }
        }
        let trace = try TemporaryFile(text, suffix: ".csv")
        let result = try Binary.run("replay", trace.path, "--from", "5s", "--to", "9.5s")
        #expect(result.status == 0)
        #expect(result.output.contains("replayed 902 samples, 4.5 s recorded"), "\(result.output)")
    }

    // MARK: - In place of a configuration's sensors

    private static let boxAndLid = """
        [sensor.box]
        source = "iio"
        match = { name = "accel_box" }
        mount_matrix = "0, 1, 0; 1, 0, 0; 0, 0, -1"
        calibration = "box.toml"
        [sensor.lid]
        source = "iio"
        match = { name = "magn_lid" }
        [motion.moved]
        accelerometer = "box"
        [north.bow]
        accelerometer = "box"
        magnetometer = "lid"

        """
    private static let calibration =
        "[accelerometer]\noffset_m_s2 = [0.0, 0.0, 30.0]\nmatrix = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]\nfit_error_m_s2 = 0.01\npositions = 6\n"

    private func stand(_ arguments: [String], handlers: String = "") throws -> DaemonRun {
        let run = try DaemonRun(Self.boxAndLid + handlers, ["--json"] + arguments)
        try Self.calibration.write(toFile: run.folder + "/box.toml", atomically: true, encoding: .utf8)
        return run
    }

    @Test func aModelPlaysTheSensorsOfAConfiguration() throws {
        let witness = try TemporaryFile()
        let run = try stand(
            ["--simulate", "shake", "--set", "motion.moved.shake_g=1.2"],
            handlers: "[handler.alarm]\non = [\"shake\"]\ncommand = [\"/usr/bin/tee\", \"-a\", \"\(witness.path)\"]\n"
        ).start()
        try run.waitForEvent("shake")
        try run.waitForMessage("\(run.folder)/binnacle.toml and 1 key of the command line")
        try run.waitForMessage("sensor 'box': --simulate shake plays it, without its calibration")
        try run.waitForMessage("sensor 'lid': --simulate shake plays it")
        try run.waitForMessage("the events are handled as those of the sensors: handler 'alarm' (command)")
        try witness.wait { $0.contains("shake") }
        run.reload()
        try run.waitForMessage("configuration reloaded: 2 of 2 sensors keep running")
        #expect(run.stop() == 0)
        let events = try run.events()
        #expect(events.allSatisfy { $0["simulated"] as? Bool == true })
        let shake = try #require(events.first { $0["kind"] as? String == "shake" })
        #expect(shake["sensor"] as? String == "box" && shake["detector"] as? String == "moved")
    }

    @Test func recordingsPlayTheSensorsOfAConfiguration() throws {
        let trace = try TemporaryFile(
            "time_s,ax,ay,az,mx,my,mz\n0,0,0,39.8,0,21,-45\n0.01,0,0,120,0,21,-45\n0.07,0,0,39.8,0,21,-45\n",
            suffix: ".csv")
        let run = try stand(["--trace", trace.path]).start()
        run.process.waitUntilExit()
        #expect(run.process.terminationStatus == 0)
        let shock = try #require(try run.events().first { $0["kind"] as? String == "shock" })
        #expect(shock["sensor"] as? String == "box" && shock["detector"] as? String == "moved")
        // The calibration is applied, and the mount matrix is not: 120 − 30 m/s² along z.
        #expect(shock["peak_g"] as? Double == 9.1774)
        let errors = try run.errors.text()
        #expect(errors.contains("\(trace.path): its accelerometer plays sensor 'box'"))
        #expect(errors.contains("\(trace.path): its magnetometer plays sensor 'lid'"))
    }

    @Test func aSensorWithoutARecordingIsAnError() throws {
        let trace = try TemporaryFile("time_s,ax,ay,az\n0,0,0,9.8\n1,0,0,9.8\n", suffix: ".csv")
        let run = try stand(["--trace", trace.path]).start()
        run.process.waitUntilExit()
        #expect(run.process.terminationStatus == 64)
        let errors = try run.errors.text()
        #expect(errors.contains("north.bow needs the magnetometer of sensor 'lid', and no trace is left to play it"))
        #expect(errors.contains("name another file with --trace") && !errors.contains("--bind"))
    }

    @Test func recordingsPlayFasterThanTheClock() throws {
        // Half an hour of rest, and then a shock.
        var text = "time_s,ax,ay,az\n"
        for index in 0..<3600 { text += "\(Double(index) / 2),0,0,9.8\n" }
        text += "1800,0,0,90\n1800.5,0,0,9.8\n"
        let trace = try TemporaryFile(text, suffix: ".csv")
        let begin = Date().timeIntervalSince1970
        let run = try DaemonRun(nil, ["--trace", trace.path, "--speed", "3600", "--json"]).start()
        run.process.waitUntilExit()
        #expect(run.process.terminationStatus == 0)
        let shock = try #require(try run.events().first { $0["kind"] as? String == "shock" })
        // Stamps keep their distances, and the time of day is the clock's.
        let wall = try #require(shock["wall_time"] as? String)
        let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        let time = try Date(String(wall.prefix(23)) + "Z", strategy: format).timeIntervalSince1970
        #expect(time >= begin - 1 && time < begin + 600, "\(wall)")
        let onset = try #require(shock["onset_ns"] as? Int)
        let now = Int(Clock.now())
        #expect(onset > now + 600_000_000_000, "far ahead of the clock")
    }

    @Test(
        arguments: [
            (["--speed", "2"], "--speed is for --trace"),
            (["--trace", "a.csv", "--speed", "0"], "--speed 0: has to be"),
            (["--trace", "a.csv", "--speed", "max"], "--speed max: has to be a number above 0"),
            (["--trace", "a.csv", "--simulate", "walk"], "--trace does not go with --simulate"),
            (["--set", "x"], "--set x: has to be KEY=VALUE"),
        ])
    func aWrongCommandLineIsRefused(_ arguments: [String], _ message: String) throws {
        let result = try Binary.run(["run"] + arguments)
        #expect(result.status == 64)
        #expect(result.errors.contains(message), "\(result.errors)")
    }
}

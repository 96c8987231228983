import Foundation
import TestSupport
import Testing

/// A gyroscope's offset: calibrated, learned by the daemon, and kept for its next start.
@Suite struct GyroscopeMemoryTests {
    /// Rates in °/s at 100 Hz as a recording, with noise.
    private static func trace(_ seconds: Double, _ rate: (Double) -> [Double]) throws -> TemporaryFile {
        var generator = SeededGenerator(seed: 4)
        var lines = ["time_s,gx_dps,gy_dps,gz_dps"]
        for index in 0..<Int(seconds * 100) {
            let axes = rate(Double(index) / 100).map { $0 + Double.random(in: -0.2...0.2, using: &generator) }
            lines.append("\(Double(index) / 100)," + axes.map { "\($0)" }.joined(separator: ","))
        }
        return try TemporaryFile(lines.joined(separator: "\n") + "\n", suffix: ".csv")
    }

    @Test func tenSecondsOfRestGiveAFile() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/chip.toml"
        // It is put down after five seconds.
        let trace = try Self.trace(20) { $0 < 5 ? [90 * sin($0), 20, -3] : [3, -2, 0.5] }
        let result = try Binary.run("calibrate", "gyroscope", "--trace", trace.path, "-o", path)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("verdict: good") && result.output.contains("calibration = \"\(path)\""))
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.contains("[gyroscope]\noffset_rad_s = [0.052"), "\(text)")
        // Beside another kind it is kept, and detectors use it.
        let sphere = try CalibrateTests.trace("synth_full_sphere_400")
        let second = try Binary.run("calibrate", "--trace", sphere.path, "-o", path)
        #expect(second.output.contains("(its [gyroscope] is kept)"), "\(second.output)\(second.errors)")
        let configuration = """
            [sensor.chip]
            source = "trace"
            file = "\(folder.path)/turn.csv"
            calibration = "\(path)"
            [motion.turned]
            accelerometer = "chip"
            detect = ["rotation"]
            rotation_dps = 2.5
            """
        try configuration.write(toFile: folder.path + "/binnacle.toml", atomically: true, encoding: .utf8)
        // At once 3°/s, which is the offset: with it, no rotation.
        let rows = (0..<300).map { "\(Double($0) / 100),0,0,9.81,3,-2,0.5\n" }.joined()
        try ("time_s,ax,ay,az,gx_dps,gy_dps,gz_dps\n" + rows).write(
            toFile: folder.path + "/turn.csv", atomically: true, encoding: .utf8)
        let arguments = ["replay", "--json", "--config", folder.path + "/binnacle.toml"]
        #expect(try Binary.run(arguments).output.isEmpty)
        let plain = arguments + ["--set", "sensor.chip.calibration=\(folder.path)/none.toml"]
        try "[gyroscope]\noffset_rad_s = [0, 0, 0]\n".write(
            toFile: folder.path + "/none.toml", atomically: true, encoding: .utf8)
        #expect(try Binary.run(plain).output.contains("rotation.began"))
    }

    /// Values of which the squares leave a variance by their rounding.
    @Test(arguments: [5.3, 8.7, 9.3])
    func valuesThatNeverChangeAreDoubtful(rate: Double) throws {
        let rows = (0..<3000).map { "\(Double($0) / 100),\(rate),0,0\n" }.joined()
        let trace = try TemporaryFile("time_s,gx_dps,gy_dps,gz_dps\n" + rows, suffix: ".csv")
        let result = try Binary.run("calibrate", "gyroscope", "--trace", trace.path)
        #expect(
            result.status == 0 && result.output.contains("doubtful: the values never changed"),
            "\(result.output)\(result.errors)")
    }

    @Test(arguments: [
        ({ @Sendable (t: Double) -> [Double] in [t < 8 ? 1 : 40, 0, 0] }, "still for 7.99 s", "moving"),
        ({ @Sendable (t: Double) -> [Double] in [0.5 * t, 0, 0] }, "in a row", "moving"),
        ({ @Sendable (_: Double) -> [Double] in [0, 0, 30] }, "steady turn", "turning"),
    ])
    func whatWasNoRestIsRefused(rate: @escaping @Sendable (Double) -> [Double], words: String, name: String) throws {
        let trace = try Self.trace(15, rate)
        let arguments = ["calibrate", "gyroscope", "--trace", trace.path, "--to", name == "turning" ? "15" : "12"]
        let result = try Binary.run(arguments)
        #expect(result.status == 65 && result.errors.contains(words), "\(result.errors)")
        let json = try Binary.run(arguments + ["--json"])
        #expect(try CalibrateTests.object(json.output)["refusal"] as? String == name)
    }

    /// The daemon learns at rest, and writes it into its state folder when it ends.
    @Test func theDaemonKeepsWhatItLearned() throws {
        let tree = try FifoTree()
        let accelerometer = try #require(try tree.addDevice(0, name: "lsm6ds3_accel"))
        let gyroscope = try #require(try tree.addDevice(1, name: "lsm6ds3_gyro", prefix: "in_anglvel"))
        for number in [0, 1] { try tree.set(tree.folder(number) + "/current_timestamp_clock", "monotonic") }
        let state = try TemporaryFolder()
        let configuration = """
            [sensor.chip]
            source = "auto"
            [motion.turned]
            accelerometer = "chip"
            detect = ["rotation"]
            [socket]
            path = "\(state.path)/socket"
            """
        let run = try DaemonRun(
            configuration, ["--root", tree.root], environment: ["STATE_DIRECTORY": state.path]
        ).start()
        try run.errors.wait { $0.contains("its gyroscope is 'lsm6ds3_gyro'") }
        var said = ""
        // In real time, until it has learned that 0.03 rad/s are the offset.
        for turn in 0..<1200 {
            var clock = timespec()
            clock_gettime(CLOCK_MONOTONIC, &clock)
            let now = Int64(clock.tv_sec) * 1_000_000_000 + Int64(clock.tv_nsec)
            try gyroscope.write(FifoNode.scan(3, 0, 0, now))
            try accelerometer.write(FifoNode.scan(0, 0, 981, now))
            usleep(10_000)
            guard turn > 300, turn % 100 == 0 else { continue }
            said = try Binary.run("status", "--socket", state.path + "/socket").output
            if said.contains("gyroscope's offset 1.7") { break }
        }
        #expect(said.contains("detector turned: running: still; gyroscope's offset 1.7"), "\(said)")
        #expect(run.stop() == 0)
        let text = try String(contentsOfFile: state.path + "/gyroscopes.json", encoding: .utf8)
        #expect(text.contains("lsm6ds3_gyro\"") && text.contains("\"offset_rad_s\":[0.0"), "\(text)")
        #expect(!(try run.errors.text().contains("gyroscopes cannot")))
    }
}

import Foundation
import TestSupport
import Testing

/// `binnacle calibrate --noise`, and what a kept noise changes.
@Suite struct NoiseCalibrationTests {
    /// Normal numbers from a seed.
    private struct Normal {
        var generator: SeededGenerator
        mutating func next() -> Double {
            let (a, b) = (
                Double.random(in: 0x1p-53..<1, using: &generator), Double.random(in: 0..<1, using: &generator)
            )
            return (-2 * log(a)).squareRoot() * cos(2 * .pi * b)
        }
    }

    /// A device that lies flat and points north, with white noise of these standard deviations; `move` is added to each axis.
    private static func recording(
        seconds: Double = 60, rateHz: Double = 100, noise: (a: Double, m: Double, g: Double) = (0.02, 6, 0.01),
        hasGyroscope: Bool = true, seed: UInt64 = 11, move: (Double) -> Double = { _ in 0 }
    ) throws -> TemporaryFile {
        var normal = Normal(generator: SeededGenerator(seed: seed))
        let names = ["ax_m_s2", "ay_m_s2", "az_m_s2", "mx_uT", "my_uT", "mz_uT", "gx_rad_s", "gy_rad_s", "gz_rad_s"]
        let rest = [0, 0, 9.81, 0, 20, -45, 0, 0, 0]
        let deviations = [noise.a, noise.a, noise.a, noise.m, noise.m, noise.m, noise.g, noise.g, noise.g]
        let count = hasGyroscope ? 9 : 6
        var lines = [(["time_s"] + names.prefix(count)).joined(separator: ",")]
        for index in 0...Int(seconds * rateHz) {
            let time = Double(index) / rateHz
            let values = (0..<count).map { "\(rest[$0] + deviations[$0] * normal.next() + move(time))" }
            lines.append("\(time)," + values.joined(separator: ","))
        }
        return try TemporaryFile(lines.joined(separator: "\n") + "\n", suffix: ".csv")
    }

    /// The number of a key in a calibration file.
    private static func number(_ key: String, in text: String) throws -> Double {
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("\(key) = ") })
        return try #require(Double(line.dropFirst(key.count + 3)))
    }

    /// White noise σ at the rate f has the one-sided density σ/√(f/2).
    @Test(arguments: [50.0, 100, 400])
    func knownNoiseIsFoundAndKeptBesideOthers(rateHz: Double) throws {
        let (trace, folder) = (try Self.recording(rateHz: rateHz), try TemporaryFolder())
        let path = folder.path + "/c.toml"
        let perRoot = (rateHz / 2).squareRoot()
        for (kind, key, expected) in [
            ("accelerometer", "noise_ug_rthz", 0.02 / perRoot / 9.806_65 * 1e6),
            ("magnetometer", "noise_nT_rthz", 6000 / perRoot),
            ("gyroscope", "noise_dps_rthz", 0.01 / perRoot * 180 / .pi),
        ] {
            let made = try Binary.run("calibrate", kind, "--noise", "--trace", trace.path, "-o", path)
            #expect(made.status == 0, "\(made.errors)")
            #expect(made.output.contains("calibration = \"\(path)\"") && made.output.contains("/√Hz"))
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(abs(try Self.number(key, in: text) / expected - 1) < 0.1, "\(text)")
        }
        // A calibration goes into the same file, and neither replaces the other.
        let cloud = try CalibrateTests.trace("synth_full_sphere_400")
        let fit = try Binary.run("calibrate", "--trace", cloud.path, "-o", path)
        #expect(
            fit.status == 0 && fit.output.contains("(its [magnetometer_noise] is kept)"), "\(fit.output) \(fit.errors)")
        let again = try Binary.run("calibrate", "--noise", "--trace", trace.path, "-o", path)
        #expect(
            again.status != 0 && again.errors.contains("has a measurement of the magnetometer's noise already"),
            "\(again.errors)")
        let forced = try Binary.run("calibrate", "--noise", "--trace", trace.path, "-o", path, "--force")
        #expect(forced.status == 0 && forced.output.contains("(its [magnetometer] is kept)"))
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.components(separatedBy: "\n[").count == 5 && text.contains("hard_iron_uT = [31.9"), "\(text)")
        let configuration =
            "[sensor.box]\nsource = \"trace\"\nfile = \"\(trace.path)\"\ncalibration = \"c.toml\"\n[motion.m]\naccelerometer = \"box\"\n"
        try configuration.write(toFile: folder.path + "/b.toml", atomically: true, encoding: .utf8)
        let checked = try Binary.run("check", folder.path + "/b.toml")
        #expect(checked.status == 0, "\(checked.output) \(checked.errors)")
    }

    @Test func whatCannotBeMeasuredIsRefusedWithTheReason() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/c.toml"
        func refused(_ trace: TemporaryFile, _ kind: String = "accelerometer") throws -> (name: String?, errors: String)
        {
            let result = try Binary.run("calibrate", kind, "--noise", "--json", "--trace", trace.path, "-o", path)
            #expect(result.status == 65 && result.errors.contains("nothing was written"), "\(result.errors)")
            return (try CalibrateTests.object(result.output)["refusal"] as? String, result.errors)
        }
        let lifted = try refused(Self.recording { $0 > 30 ? 1 : 0 })
        #expect(
            lifted.name == "moving"
                && lifted.errors.contains("no measurement of the accelerometer's noise: the device moved"))
        // Shaken by hand, whose means of seconds are small.
        #expect(try refused(Self.recording { 3 * sin(2 * .pi * 2.7 * $0) }).name == "moving")
        #expect(try refused(Self.recording { 3 * sin(2 * .pi * 2 * $0) }).name == "moving")
        #expect(try refused(Self.recording { 10 * sin(0.1 * $0) }, "magnetometer").name == "moving")
        #expect(try refused(Self.recording(seconds: 5)).name == "samples")
        #expect(try refused(Self.recording(noise: (0, 0, 0))).name == "none")
        #expect(try refused(Self.recording { Int($0 * 100) % 25 == 7 ? 3 : 0 }).name == "garbled")
        #expect(!FileManager.default.fileExists(atPath: path))
        let misused = try Binary.run("calibrate", "--noise", "--field", "49")
        #expect(misused.status == 64 && misused.errors.contains("--field does not go with --noise"))
    }

    /// A sensor that is there live ends by itself after its time.
    @Test func aModelIsMeasuredLive() throws {
        let result = try Binary.run(
            "calibrate", "gyroscope", "--noise", "--simulate", "still", "--for", "10s", "--json")
        #expect(result.status == 0, "\(result.errors)")
        let found = try CalibrateTests.object(result.output)
        let figures = try #require(found["figures"] as? [String: Any])
        // Of 0.05 °/s at 100 samples a second.
        let noise: Double = try #require(figures["noise_dps_rthz"] as? Double)
        #expect(abs(noise / 0.00707 - 1) < 0.2, "\(figures)")
    }

    @Test func aKeptNoiseWidensTheAccuracyAndRaisesTheFloor() throws {
        let noisy = try Self.recording(seconds: 30, noise: (0.02, 20, 0.01))
        let clean = try Self.recording(seconds: 30, noise: (0.02, 0.1, 0.001), hasGyroscope: false)
        let folder = try TemporaryFolder()
        for kind in ["magnetometer", "accelerometer"] {
            let made = try Binary.run(
                "calibrate", kind, "--noise", "--trace", noisy.path, "-o", folder.path + "/c.toml")
            #expect(made.status == 0, "\(made.errors)")
        }
        func replay(_ line: String) throws -> (accuracy: Double, errors: String) {
            let text = """
                [sensor.box]
                source = "trace"
                file = "\(clean.path)"
                \(line)
                [north.bow]
                accelerometer = "box"
                magnetometer = "box"
                hard_iron_uT = 0
                [vibration.box]
                accelerometer = "box"
                bands = [{ name = "all", from_hz = 5, to_hz = 35, zones_g = [0.001, 0.1] }]

                """
            try text.write(toFile: folder.path + "/b.toml", atomically: true, encoding: .utf8)
            let checked = try Binary.run("check", folder.path + "/b.toml")
            let result = try Binary.run("replay", "--json", "--config", folder.path + "/b.toml")
            #expect(result.status == 0, "\(result.errors)")
            let found = try result.lines.compactMap { try CalibrateTests.object($0)["accuracy_deg"] as? Double }
            return (try #require(found.min()), checked.output + checked.errors + result.errors)
        }
        let (without, with) = (try replay(""), try replay("calibration = \"c.toml\""))
        // 2.83 µT/√Hz behind a low pass of 0.1 s are 4.5 µT in a level field of 20 µT.
        #expect(without.accuracy < 5 && abs(with.accuracy / 21 - 1) < 0.15, "\(without.accuracy) \(with.accuracy)")
        #expect(!without.errors.contains("below"), "\(without.errors)")
        // 288 µg/√Hz on three axes over 30 Hz are 2.7 mg.
        #expect(with.errors.contains("lies below the chip's noise in it (0.002"), "\(with.errors)")
        #expect(with.errors.contains("lies below the noise, 0.002"), "\(with.errors)")
        #expect(with.errors.contains("its calibration has 2"), "\(with.errors)")
    }

    @Test func aFileThatLacksItsFigureIsReported() throws {
        let folder = try TemporaryFolder([
            "c.toml": "[gyroscope_noise]\nseconds = 60\n[accelerometer_noise]\nnoise_ug_rthz = -1\n",
            "b.toml": """
            [sensor.box]
            source = "auto"
            calibration = "c.toml"
            [motion.m]
            accelerometer = "box"

            """,
        ])
        let checked = try Binary.run("check", folder.path + "/b.toml")
        #expect(
            checked.status == 78 && checked.errors.contains("has no `noise_dps_rthz`"),
            "\(checked.output)\(checked.errors)")
        #expect(checked.errors.contains("noise_ug_rthz (-1.0) is not between"))
    }
}

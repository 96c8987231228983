import Foundation
import TestSupport
import Testing

/// Taps, steps, rest and departure through the binary that users run.
@Suite struct TapStepTests {
    private func events(_ section: String, _ file: String, _ options: [String] = []) throws -> [[String: Any]] {
        let configuration = try TemporaryFile(
            "[sensor.w]\nsource = \"trace\"\nfile = \"\(file)\"\n[\(section).s]\naccelerometer = \"w\"\n",
            suffix: ".toml")
        let result = try Binary.run(["replay", "--json", "--config", configuration.path] + options)
        #expect(result.status == 0, "\(result.errors)")
        return try result.output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    private static let fixtures = "\(FileManager.default.currentDirectoryPath)/Tests/Fixtures"

    /// The counts of dariosalvi78/banglejs-algos-tester.
    @Test(arguments: [("100_2", 100), ("100_4", 100), ("150", 150)])
    func countedWalksAreCounted(name: String, truth: Int) throws {
        let steps = try events("steps", "\(Self.fixtures)/steps/\(name).csv")
        let total = steps.compactMap { $0["count"] as? Int }.reduce(0, +)
        #expect(abs(total - truth) * 100 <= 12 * truth, "\(total)")
        #expect(steps.first?["count"] as? Int == 8 && steps.last?["total"] as? Int == total)
    }

    @Test func aDriveHasFewSteps() throws {
        let steps = try events("steps", "\(Self.fixtures)/steps/drive_8min.csv")
        #expect(steps.compactMap { $0["count"] as? Int }.reduce(0, +) <= 8)
    }

    /// The same walk at 100, 50 and 25 Hz.
    @Test func theRateChangesNoCount() throws {
        let text = try String(contentsOfFile: "\(Self.fixtures)/phyphox_walk/Accelerometer.csv", encoding: .utf8)
        let lines = text.split(separator: "\n")
        for part in [1, 2, 4] {
            let kept = [lines[0]] + lines.dropFirst().enumerated().filter { $0.offset % part == 0 }.map(\.element)
            let file = try TemporaryFile(kept.joined(separator: "\n") + "\n", suffix: ".csv")
            let total = try events("steps", file.path).last?["total"] as? Int
            #expect(total.map { (166...171).contains($0) } ?? false, "\(part): \(total ?? 0)")
        }
    }

    /// The labels of BROAD: motion from 35.4 to 68.1, 76.0 to 101.2, 124.6 to 147.2 and 157.4 to 178.8 s.
    @Test func restAndDepartureFollowTheLabels() throws {
        let found = try events("stationary", "\(Self.fixtures)/broad/broad05_rotation_breaks.csv")
        let truth: [(String, Double)] = [
            ("stationary", 0), ("departed", 35.4), ("stationary", 68.1), ("departed", 76.0), ("stationary", 101.2),
            ("departed", 124.6), ("stationary", 147.2), ("departed", 157.4), ("stationary", 178.8),
        ]
        #expect(found.compactMap { $0["kind"] as? String } == truth.map(\.0))
        for (event, truth) in zip(found, truth) {
            let onset = try #require(event["onset_ns"] as? Int)
            #expect(abs(Double(onset) / 1e9 - truth.1) <= 1.5)
        }
    }

    /// A table with a machine on it: 0.2 g at 12 Hz.
    @Test func aTableThatShakesDoesNotDepart() throws {
        var text = "t_ms,ax_m_s2,ay_m_s2,az_m_s2\n"
        for row in 0..<6000 { text += "\(row * 10),\(2 * sin(2 * Double.pi * 12 * Double(row) / 100)),0,9.81\n" }
        let file = try TemporaryFile(text, suffix: ".csv")
        #expect(try events("stationary", file.path).compactMap { $0["kind"] as? String } == ["stationary"])
        #expect(try events("tap", file.path).isEmpty && events("steps", file.path).isEmpty)
    }

    /// Recordings without a tap.
    @Test(arguments: [
        "gyroscope/broad05_rotation", "gyroscope/broad07_fast_rotation", "broad/broad11_slow_translation",
        "broad/broad16_fast_translation", "xio/sensor_data", "phyphox_walk/Accelerometer",
    ])
    func recordingsWithoutTapsHaveNone(name: String) throws {
        #expect(try events("tap", "\(Self.fixtures)/\(name).csv").isEmpty)
    }

    @Test func aTappedDeviceHasTaps() throws {
        #expect(try events("tap", "\(Self.fixtures)/broad/broad25_tapping.csv").count >= 6)
    }

    @Test func aSlowSensorIsReported() throws {
        let file = try TemporaryFile(
            "[sensor.w]\nsource = \"simulated\"\nrate_hz = 100\n[tap.s]\naccelerometer = \"w\"\n", suffix: ".toml")
        let result = try Binary.run(["check", "--config", file.path])
        #expect(
            result.status == 0 && result.errors.contains("3:1: warning: [tap.s] needs at least 200 samples a second"))
    }
}

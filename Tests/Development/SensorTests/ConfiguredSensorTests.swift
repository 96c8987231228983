import Foundation
import TestSupport
import Testing

/// What a configuration says about how a device is read.
@Suite(.fewAtATime) struct ConfiguredSensorTests {
    private func configuration(_ settings: String, source: String = "iio", in station: MockStation) throws -> String {
        try station.configuration(
            """
            [sensor.chassis]
            source = "\(source)"
            match = { name = "chip" }
            \(settings)
            [motion.moved]
            accelerometer = "chassis"
            """)
    }

    struct Setting: CustomTestStringConvertible {
        let text: String
        let expected: [Double]
        var testDescription: String { text }
    }

    private static let settings = [
        Setting(text: #"acceleration = "specific_force""#, expected: [2, 1, -3]),
        Setting(text: #"acceleration = "gravity""#, expected: [-2, -1, 3]),
        Setting(text: #"mount_matrix = "1, 0, 0; 0, 1, 0; 0, 0, 1""#, expected: [1, 2, 3]),
        Setting(
            text: """
                acceleration = "gravity"
                mount_matrix = "0, 0, 1; 1, 0, 0; 0, 1, 0"
                """, expected: [-3, -1, -2]),
    ]

    /// Corner cases 8 and 19: the sign and the matrix can be set, and go before what the machine says.
    @Test(arguments: settings)
    func signAndMatrixCanBeSet(_ setting: Setting) async throws {
        let station = try MockStation()
        var device = MockDevice.polled("accel", 0, name: "chip", raw: [1, 2, 3], scale: "1")
        device.attributes["mount_matrix"] = "0, 1, 0; 1, 0, 0; 0, 0, -1"
        try station.add(device)
        let recording = try station.record("--config", try configuration(setting.text, in: station))
        try await recording.waitForRows(1)
        let sample = try #require(try await recording.stop().only("a").first)
        #expect([sample.x, sample.y, sample.z] == setting.expected)
    }

    /// The same for an input device.
    @Test(arguments: settings)
    func signAndMatrixOfAnInputDeviceCanBeSet(_ setting: Setting) async throws {
        let station = try MockStation()
        var device = MockDevice.evdev(1, name: "chip", values: [1, 2, 3], resolution: 1)
        device.properties["ACCEL_MOUNT_MATRIX"] = "0, 1, 0; 1, 0, 0; 0, 0, -1"
        try station.add(device)
        let recording = try station.record("--config", try configuration(setting.text, source: "evdev", in: station))
        try await recording.waitForRows(1)
        let sample = try #require(try await recording.stop().only("a").first)
        #expect([sample.x, sample.y, sample.z].map { ($0 / 9.80665).rounded() } == setting.expected)
    }

    /// A matrix that cannot be is no obstacle where the user gives a better one.
    @Test func aBrokenMatrixCanBeReplaced() async throws {
        let station = try MockStation()
        var device = MockDevice.polled("accel", 0, name: "chip", raw: [1, 2, 3], scale: "1")
        device.properties["ACCEL_MOUNT_MATRIX"] = "0, 0, 0; 0, 0, 0; 0, 0, 0"
        try station.add(device)
        let file = try configuration(#"mount_matrix = "1, 0, 0; 0, 1, 0; 0, 0, 1""#, in: station)
        let recording = try station.record("--config", file)
        try await recording.waitForRows(1)
        let sample = try #require(try await recording.stop().only("a").first)
        #expect([sample.x, sample.y, sample.z] == [1, 2, 3])
    }

    /// A threshold beyond what the sensor measures is a warning of `check`: an input device says its range itself, a polled
    /// one in `_raw_available`.
    @Test(arguments: ["evdev", "iio"])
    func checkKnowsTheRangeOfADevice(_ source: String) async throws {
        let station = try MockStation()
        var input = MockDevice.evdev(1, name: "chip", values: [0, 0, 1000], resolution: 1000)
        for axis in 0..<3 {
            input.axes[axis]?.minimum = -2000
            input.axes[axis]?.maximum = 2000
        }
        var polled = MockDevice.polled("accel", 0, name: "chip", raw: [0, 0, 1000])
        for axis in ["x", "y", "z"] { polled.attributes["in_accel_\(axis)_raw_available"] = "[-2000 1 2000]" }
        try station.add(source == "evdev" ? input : polled)
        let file = station.folder + "/range.toml"
        for (threshold, isBeyond) in [(1.9, false), (2.5, true)] {
            try """
            [sensor.a]
            source = "\(source)"
            match = { name = "chip" }
            [motion.a]
            accelerometer = "a"
            shock_g = \(threshold)
            [handler.out]
            on = ["motion.*"]
            stdout = true
            """.write(toFile: file, atomically: true, encoding: .utf8)
            let result = try await station.run("check", file)
            #expect(result.status == 0, "\(result.errors)")
            #expect(
                result.errors.contains("shock_g (\(threshold)) is beyond what `chip` measures") == isBeyond,
                "\(result.errors)")
        }
    }

    /// Corner case 14: the rate that is asked for, and the buffer that goes with it.
    @Test(arguments: [("10", "10"), ("30", "50"), ("400", "100")])
    func theRateCanBeSet(_ wanted: String, _ chosen: String) async throws {
        let station = try MockStation()
        let channels = ScanChannel.axes("accel", "le:s16/16>>0")
        var device = MockDevice.buffered("accel", 0, name: "chip", channels: channels, scale: "1")
        device.attributes["sampling_frequency"] = "25"
        device.attributes["in_accel_sampling_frequency"] = nil
        device.attributes["sampling_frequency_available"] = "10 50 100"
        try station.add(device)
        let path = station.path("sampling_frequency", of: device)
        let frequency = try StubbornAttribute(path: path, value: "25")
        let recording = try station.record("--config", try configuration("rate_hz = \(wanted)", in: station))
        try await recording.waitForBuffer(of: device)
        #expect(frequency.wasWritten(chosen))
        try await recording.program.waitForMessage("25 Hz")
        try await station.write(ScanEncoder(channels).scan([1, 2, 3, monotonicNow()]), to: device)
        #expect(try await recording.stop().only("a").count == 1)
    }

    /// A buffer is left alone where single values are asked for.
    @Test func pollingLeavesTheBufferAlone() async throws {
        let station = try MockStation()
        let channels = ScanChannel.axes("accel", "le:s16/16>>0")
        var device = MockDevice.buffered("accel", 0, name: "chip", channels: channels, scale: "1")
        for (axis, value) in ["x": "1", "y": "2", "z": "3"] { device.attributes["in_accel_\(axis)_raw"] = value }
        try station.add(device)
        let log = try WriteLog(device, in: station, folders: ["", "buffer0", "buffer", "scan_elements", "trigger"])
        let settings = "polling = true\nupdate_interval_s = 0.01"
        let recording = try station.record("--config", try configuration(settings, in: station))
        try await recording.waitForRows(10)
        #expect(try await recording.stop().only("a").allSatisfy { $0.x == 1 && $0.y == 2 && $0.z == 3 })
        #expect(log.names().isEmpty)
    }

    /// The time counts from when the device is open, and ending is no failure.
    @Test func aRecordingEndsWhenItsTimeIsOver() async throws {
        let station = try MockStation()
        try station.add(.polled("accel", 0, name: "chip", raw: [1, 2, 3], scale: "1"))
        let path = station.folder + "/timed.csv"
        let result = try await station.run("record", "--for", "300ms", "-o", path)
        #expect(result.status == 0, "\(result.errors)")
        let count = try Recording(path: path).only("a").count
        #expect(count > 0)
        #expect(result.errors.contains("recorded \(count) samples"), "\(result.errors)")
        #expect(result.errors.contains("\(count) × accelerometer of chip"), "\(result.errors)")
    }
}

import Foundation
import TestSupport
import Testing

/// Devices without a buffer, whose single values are read through sysfs.
@Suite(.fewAtATime) struct PollingTests {
    /// D3, corner case 8: x has y's scale when the scales are applied behind a matrix that swaps them.
    @Test func eachAxisIsScaledBeforeTheMatrixSwapsThem() async throws {
        let station = try MockStation()
        var device = MockDevice.polled("accel", 0, name: "chip", raw: [100, 200, 300], scale: nil)
        device.attributes["in_accel_x_scale"] = "0.01"
        device.attributes["in_accel_y_scale"] = "0.02"
        device.attributes["in_accel_z_scale"] = "0.03"
        device.attributes["in_accel_mount_matrix"] = "0, 1, 0; -1, 0, 0; 0, 0, 1"
        try station.add(device)
        let sample = try #require(try await station.recordPolled("a").first)
        #expect([sample.x, sample.y, sample.z].map(Float.init) == [4, -1, 9])
    }

    struct Scaling: CustomTestStringConvertible {
        let attributes: [String: String]
        let expected: [Float]
        var testDescription: String { attributes.map { "\($0.key) \($0.value)" }.sorted().joined(separator: ", ") }
    }

    /// D5, corner case 7: value = (raw + offset) × scale; per axis, per kind, for the device; 1 and 0 without any.
    @Test(arguments: [
        Scaling(attributes: [:], expected: [100, 200, 300]),
        Scaling(attributes: ["in_accel_scale": "0.01"], expected: [1, 2, 3]),
        Scaling(attributes: ["in_scale": "0.1"], expected: [10, 20, 30]),
        Scaling(attributes: ["in_accel_scale": "0.01", "in_scale": "7"], expected: [1, 2, 3]),
        Scaling(attributes: ["in_accel_scale": "0.01", "in_accel_y_scale": "0.1"], expected: [1, 20, 3]),
        Scaling(attributes: ["in_accel_scale": "0.01", "in_accel_offset": "-100"], expected: [0, 1, 2]),
        Scaling(
            attributes: ["in_accel_scale": "0.01", "in_accel_x_offset": "50", "in_accel_z_offset": "-50.5"],
            expected: [1.5, 2, 2.495]),
        Scaling(attributes: ["in_accel_scale": "1e-2", "in_offset": "100"], expected: [2, 3, 4]),
        Scaling(attributes: ["in_accel_scale": "0.000000009"], expected: [9e-7, 1.8e-6, 2.7e-6]),
    ])
    func offsetAndScaleAreApplied(_ scaling: Scaling) async throws {
        let station = try MockStation()
        var device = MockDevice.polled("accel", 0, name: "chip", raw: [100, 200, 300], scale: nil)
        device.attributes.merge(scaling.attributes) { $1 }
        try station.add(device)
        let sample = try #require(try await station.recordPolled("a").first)
        for (value, expected) in zip([sample.x, sample.y, sample.z], scaling.expected) {
            #expect(abs(Float(value) - expected) <= abs(expected) * 1e-6)
        }
    }

    /// Corner case 7: a scale of 0 would make every sample 0.
    @Test(arguments: ["0", "0.000000000", "north", "1,5"])
    func aScaleThatCannotBeIsAnError(_ scale: String) async throws {
        let station = try MockStation()
        try station.add(.polled("accel", 0, name: "chip", raw: [1, 2, 3], scale: scale))
        let listed = try await station.onlyDevice()
        #expect(listed.state == "unusable")
        #expect(listed.reason?.contains("in_accel_scale") == true, "\(listed.reason ?? "")")
        #expect(try await station.run("doctor").status == 69)
    }

    /// D6: a reading that failed is said to have failed; (0, 0, 0) would be free fall.
    @Test func aFailedReadingIsNoSample() async throws {
        let station = try MockStation()
        let device = MockDevice.polled("accel", 0, name: "chip", raw: [1, 2, 3], scale: "1")
        try station.add(device)
        let recording = try station.record()
        try await recording.waitForRows(1)
        // A folder in place of the attribute: it can be opened, and every read of it fails.
        let path = station.path("in_accel_y_raw", of: device)
        try FileManager.default.moveItem(atPath: path, toPath: path + ".kept")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try await recording.program.waitForMessage("samples.lost", "read_error", "in_accel_y_raw")
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: path + ".kept", toPath: path)
        try station.setAttribute("in_accel_x_raw", of: device, to: "7")
        try await recording.waitForSample(of: "a") { $0.x == 7 }
        let samples = try await recording.stop().only("a")
        #expect(samples.allSatisfy { ($0.x == 1 || $0.x == 7) && $0.y == 2 && $0.z == 3 })
    }

    /// D6: what is no number, or nothing, is a failed reading as well.
    @Test(arguments: ["", "north", "0x10", "nan", "12 34"])
    func anAttributeWithoutANumberIsNoSample(_ text: String) async throws {
        let station = try MockStation()
        let device = MockDevice.polled("accel", 0, name: "chip", raw: [1, 2, 3], scale: "1")
        try station.add(device)
        let recording = try station.record()
        try await recording.waitForRows(1)
        try station.setAttribute("in_accel_z_raw", of: device, to: text)
        try await recording.program.waitForMessage("samples.lost", "read_error", "in_accel_z_raw")
        #expect(try await recording.stop().only("a").allSatisfy { $0.x == 1 && $0.y == 2 && $0.z == 3 })
    }

    /// D8: the plain kind of magnetometer, without rotation or compass channels.
    ///
    /// Corner case 17: gauss become µT.
    @Test func aPlainMagnetometerGivesMicrotesla() async throws {
        let station = try MockStation()
        try station.add(.polled("magn", 0, name: "ak8975", raw: [200, -50, -450], scale: "0.001"))
        let recording = try station.record()
        try await recording.waitForRows(1)
        let result = try await recording.stop()
        #expect(result.header.hasSuffix(".mx_uT,ak8975.my_uT,ak8975.mz_uT"), "\(result.header)")
        let samples = try result.only("m")
        #expect(samples.allSatisfy { Float($0.x) == 20 && Float($0.y) == -5 && Float($0.z) == -45 })
    }

    /// D8: all are recorded, also those of one name.
    @Test func everyAccelerometerIsRecorded() async throws {
        let station = try MockStation()
        try station.add(
            .polled("accel", 0, name: "lid", raw: [1, 0, 0], scale: "1"),
            .polled("accel", 1, name: "base", raw: [2, 0, 0], scale: "1"),
            .polled("accel", 2, name: "base", raw: [3, 0, 0], scale: "1"))
        let recording = try station.record()
        for value in [1.0, 2, 3] { try await recording.waitForSample(of: "a") { $0.x == value } }
        let result = try await recording.stop()
        #expect(result.streams.count == 3)
        // A stream has the samples of one device only.
        #expect(result.streams.values.allSatisfy { stream in Set(stream.map(\.x)).count == 1 })
    }

    /// Corner case 19: the sign of an accelerometer can be set.
    ///
    /// The stamps never fall.
    @Test func stampsAreOnTheMonotonicClock() async throws {
        let station = try MockStation()
        try station.add(.polled("accel", 0, name: "chip", raw: [1, 2, 3], scale: "1"))
        let start = monotonicNow()
        let recording = try station.record()
        try await recording.waitForRows(5)
        let times = try await recording.stop().only("a").map(\.time)
        #expect(times == times.sorted())
        #expect(times.allSatisfy { start < $0 && $0 < monotonicNow() })
    }

    /// One chip with both sensors makes two streams.
    @Test func bothKindsOfOneDeviceAreRecorded() async throws {
        let station = try MockStation()
        var device = MockDevice.polled("accel", 0, name: "chip", raw: [1, 2, 3], scale: "1")
        for (axis, value) in zip(["x", "y", "z"], ["100", "200", "300"]) {
            device.attributes["in_magn_\(axis)_raw"] = value
        }
        device.attributes["in_magn_scale"] = "0.001"
        try station.add(device)
        #expect(try await station.onlyDevice().kinds.sorted() == ["accelerometer", "magnetometer"])
        let recording = try station.record()
        try await recording.waitForRows(1)
        let result = try await recording.stop()
        #expect(try result.only("a").allSatisfy { $0.x == 1 && $0.y == 2 && $0.z == 3 })
        #expect(try result.only("m").allSatisfy { Float($0.x) == 10 && Float($0.y) == 20 && Float($0.z) == 30 })
        #expect(try !result.only("m").isEmpty)
    }
}

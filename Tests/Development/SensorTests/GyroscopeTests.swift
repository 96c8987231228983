import Foundation
import TestSupport
import Testing

/// Gyroscopes: in the accelerometer's buffer, as devices of their own, and in the input layer.
@Suite(.fewAtATime) struct GyroscopeTests {
    private static let channels =
        ScanChannel.axes("anglvel", "le:s16/16>>0", time: nil) + ScanChannel.axes("accel", "le:s16/16>>0")

    /// A chip with both in one buffer, the gyroscope first, as bmi160 has it.
    private func chip(_ matrices: [String: String] = [:]) -> MockDevice {
        var device = MockDevice.buffered("accel", 0, name: "bmi160", channels: Self.channels, scale: "0.01")
        device.attributes["in_anglvel_scale"] = "0.001"
        device.attributes["in_anglvel_sampling_frequency"] = "100.000000"
        for (name, matrix) in matrices {
            if name.hasPrefix("ACCEL") { device.properties[name] = matrix } else { device.attributes[name] = matrix }
        }
        return device
    }

    private func record(_ device: MockDevice, in station: MockStation) async throws -> Recording {
        try station.add(device)
        let recording = try station.record()
        try await recording.waitForBuffer(of: device)
        let encoder = ScanEncoder(Self.channels)
        let start = monotonicNow()
        for number in 0..<20 {
            let values: [Int64] = [100, -200, 300, 1, 2, 981, start + Int64(number) * 10_000_000]
            try await station.write(encoder.scan(values), to: device)
        }
        try await recording.waitForRows(20)
        return try await recording.stop()
    }

    @Test func oneBufferIsTwoStreamsWithOneStamp() async throws {
        let station = try MockStation()
        let recording = try await record(chip(), in: station)
        let (rates, forces) = (try recording.only("g"), try recording.only("a"))
        #expect(rates.count == 20 && rates.map(\.time) == forces.map(\.time))
        #expect(rates.allSatisfy { Float($0.x) == 0.1 && Float($0.y) == -0.2 && Float($0.z) == 0.3 })
        #expect(forces.allSatisfy { Float($0.z) == 9.81 })
        #expect(recording.header.contains("bmi160.gx_rad_s,bmi160.gy_rad_s,bmi160.gz_rad_s"))
        let listed = try await station.onlyDevice()
        #expect(listed.kinds == ["accelerometer", "gyroscope"])
        #expect(listed.channels.map(\.name).suffix(3) == ["in_anglvel_x", "in_anglvel_y", "in_anglvel_z"])
        #expect(listed.state == "ready")
    }

    /// Corner case 8: a matrix that carries the sign of the acceleration does not reverse a turn.
    @Test(arguments: [
        ["ACCEL_MOUNT_MATRIX": "0, 1, 0; 1, 0, 0; 0, 0, -1"], ["ACCEL_MOUNT_MATRIX": "0, -1, 0; -1, 0, 0; 0, 0, 1"],
        ["in_accel_mount_matrix": "0, -1, 0; -1, 0, 0; 0, 0, 1"], ["mount_matrix": "0, 1, 0; 1, 0, 0; 0, 0, -1"],
    ])
    func aReflectionAndItsTwinTurnAlike(matrices: [String: String]) async throws {
        let rates = try await record(chip(matrices), in: try MockStation()).only("g")
        #expect(rates.count == 20)
        #expect(rates.allSatisfy { Float($0.x) == -0.2 && Float($0.y) == 0.1 && Float($0.z) == -0.3 })
    }

    /// A section of an accelerometer has the gyroscope of the same sensor hub, and the detector's stream is the sensor's.
    @Test func aHubsGyroscopeBelongsToItsAccelerometer() async throws {
        let station = try MockStation()
        let hub = "/devices/pci0000:00/0018:1209:0001.0001"
        var accelerometer = MockDevice.buffered(
            "accel", 0, name: "accel_3d", channels: ScanChannel.axes("accel", "le:s16/16>>0"), scale: "0.01")
        accelerometer.path = hub + "/HID-SENSOR-200073.1.auto/iio:device0"
        var gyroscope = MockDevice.buffered(
            "anglvel", 1, name: "gyro_3d", channels: ScanChannel.axes("anglvel", "le:s16/16>>0"), scale: "0.001")
        gyroscope.path = hub + "/HID-SENSOR-200076.2.auto/iio:device1"
        gyroscope.attributes["in_anglvel_hysteresis"] = "0.1"
        var magnetometer = MockDevice.buffered(
            "magn", 2, name: "magn_3d", channels: ScanChannel.axes("magn", "le:s16/16>>0"), scale: "0.001")
        magnetometer.path = hub + "/HID-SENSOR-200083.3.auto/iio:device2"
        // A controller's gyroscope turns by itself.
        var controller = MockDevice.buffered(
            "anglvel", 3, name: "controller", channels: ScanChannel.axes("anglvel", "le:s16/16>>0"))
        controller.path = "/devices/pci0000:00/usb1/1-1/iio:device3"
        try station.add(controller, accelerometer, gyroscope, magnetometer)
        let doctor = try await station.run("doctor")
        #expect(doctor.status == 0)
        let triple = "a usable triple: accelerometer accel_3d, magnetometer magn_3d, gyroscope gyro_3d"
        #expect(doctor.output.contains(triple), "\(doctor.output)")
        let configuration = try station.configuration(
            """
            [sensor.base]
            source = "iio"
            match = { name = "accel_3d" }
            [sensor.compass]
            source = "iio"
            match = { name = "magn_3d" }
            [north.bow]
            accelerometer = "base"
            magnetometer = "compass"
            """)
        let recording = try station.record("--config", configuration)
        try await recording.waitForBuffer(of: accelerometer)
        try await recording.waitForBuffer(of: gyroscope)
        #expect(try station.attribute("in_anglvel_hysteresis", of: gyroscope) == "0")
        #expect(try station.attribute("buffer0/enable", of: controller) == "0")
        let encoder = ScanEncoder(ScanChannel.axes("anglvel", "le:s16/16>>0"))
        try await recording.waitForSample(
            of: "g", feeding: { try await station.write(encoder.scan([1, 2, 3, monotonicNow()]), to: gyroscope) }
        ) { $0.x == 0.001 }
        let samples = try await recording.stop()
        #expect(samples.streams.keys.sorted() == ["base.g"])
        #expect(try station.attribute("in_anglvel_hysteresis", of: gyroscope) == "0.1")
        #expect(try recording.program.errors.text().contains("base: its gyroscope is 'gyro_3d'"))
    }

    /// A gyroscope that is unplugged is reported, the accelerometer goes on, and it serves again under another number.
    @Test func aGyroscopeThatVanishesLeavesTheAccelerometer() async throws {
        let station = try MockStation()
        let hub = "/devices/pci0000:00/0018:1209:0001.0001"
        let channels = (ScanChannel.axes("accel", "le:s16/16>>0"), ScanChannel.axes("anglvel", "le:s16/16>>0"))
        var accelerometer = MockDevice.buffered("accel", 0, name: "accel_3d", channels: channels.0, scale: "0.01")
        accelerometer.path = hub + "/HID-SENSOR-200073.1.auto/iio:device0"
        var gyroscope = MockDevice.buffered("anglvel", 1, name: "gyro_3d", channels: channels.1, scale: "0.001")
        gyroscope.path = hub + "/HID-SENSOR-200076.2.auto/iio:device1"
        try station.add(accelerometer, gyroscope)
        let configuration = try station.configuration(
            """
            [sensor.base]
            source = "iio"
            match = { name = "accel_3d" }
            [sensor.compass]
            source = "iio"
            match = { name = "magn_3d" }
            [north.bow]
            accelerometer = "base"
            magnetometer = "compass"
            """)
        let recording = try station.record("--config", configuration)
        try await recording.waitForBuffer(of: gyroscope)
        func turn(_ device: MockDevice, _ count: Int64) async throws {
            try await station.write(ScanEncoder(channels.1).scan([count, 0, 0, monotonicNow()]), to: device)
        }
        func force(_ count: Int64) async throws {
            try await station.write(ScanEncoder(channels.0).scan([count, 0, 981, monotonicNow()]), to: accelerometer)
        }
        // A device that is silent for a second is armed again, and loses what is written meanwhile: so each scan is repeated.
        try await recording.waitForBuffer(of: accelerometer)
        try await recording.waitForSample(of: "g", feeding: { try await turn(gyroscope, 1) }) { $0.x == 0.001 }
        try await recording.waitForSample(of: "a", feeding: { try await force(1) }) { $0.x == 0.01 }
        try station.unplug(gyroscope)
        // It is the failed read or udev's report that comes first.
        try await recording.program.waitForMessage("base: its gyroscope cannot be read")
        try await recording.waitForSample(of: "a", feeding: { try await force(2) }) { $0.x == 0.02 }
        let returned = gyroscope.renumbered(7)
        try station.add(returned)
        try await recording.waitForBuffer(of: returned)
        try await recording.waitForSample(of: "g", feeding: { try await turn(returned, 2) }) { $0.x == 0.002 }
        _ = try await recording.stop()
    }

    /// Corner case 20: with INPUT_PROP_ACCELEROMETER the further axes are a gyroscope's, in units per degree per second.
    @Test func theInputLayersGyroscopeIsInTheAccelerometersFrames() async throws {
        let station = try MockStation()
        var device = MockDevice.evdev(1, name: "pad", values: [0, 0, 1000])
        device.parent?.attributes["capabilities/abs"] = "3f"
        for axis in 3...5 { device.axes[axis] = MockDevice.Axis(minimum: -32768, maximum: 32767, resolution: 16) }
        try station.add(device)
        let listed = try await station.onlyDevice()
        #expect(listed.kinds == ["accelerometer", "gyroscope"])
        let recording = try station.record()
        try await recording.waitForRows(1)
        func event(_ type: UInt16, _ code: UInt16, _ value: Int32) -> [UInt8] {
            var bytes: [UInt8] = []
            let time = monotonicNow()
            withUnsafeBytes(of: time / 1_000_000_000) { bytes += $0 }
            withUnsafeBytes(of: time % 1_000_000_000 / 1000) { bytes += $0 }
            withUnsafeBytes(of: type) { bytes += $0 }
            withUnsafeBytes(of: code) { bytes += $0 }
            withUnsafeBytes(of: value) { bytes += $0 }
            return bytes
        }
        // 180°/s about z, and the acceleration that has not changed is held.
        try await station.write(event(3, 5, 2880) + event(0, 0, 0), to: device)
        try await recording.waitForSample(of: "g") { abs($0.z - .pi) < 1e-6 && $0.x == 0 }
        let samples = try await recording.stop()
        let (rates, forces) = (try samples.only("g"), try samples.only("a"))
        #expect(rates.map(\.time) == forces.map(\.time))
        #expect(forces.allSatisfy { Float($0.z) == 9.80665 })
    }

    /// Without the property the same axes are those of a joystick.
    @Test func furtherAxesOfAnotherDeviceAreNoGyroscope() async throws {
        let station = try MockStation()
        var device = MockDevice.evdev(1, name: "stick", hasProperty: false)
        device.parent?.attributes["capabilities/abs"] = "3f"
        for axis in 3...5 { device.axes[axis] = MockDevice.Axis(resolution: 16) }
        try station.add(device)
        #expect(try await station.onlyDevice().kinds == ["accelerometer"])
    }

    /// A gyroscope that makes no sense leaves the accelerometer usable, and the reason is shown.
    @Test func aGyroscopeThatMakesNoSenseIsLeftOut() async throws {
        let station = try MockStation()
        var device = chip()
        device.attributes["in_anglvel_scale"] = "0"
        try station.add(device)
        let listed = try await station.onlyDevice()
        #expect(listed.state == "ready")
        #expect(listed.reason?.contains("its gyroscope cannot be used") == true)
        #expect(listed.channels.map(\.name) == ["in_accel_x", "in_accel_y", "in_accel_z"])
        let recording = try station.record()
        try await recording.waitForBuffer(of: device)
        try await recording.program.waitForMessage("its gyroscope cannot be used")
        // The gyroscope's channels are off.
        let encoder = ScanEncoder(ScanChannel.axes("accel", "le:s16/16>>0"))
        try await recording.waitForSample(
            of: "a", feeding: { try await station.write(encoder.scan([1, 2, 981, monotonicNow()]), to: device) }
        ) { $0.x == 0.01 }
        #expect(try await recording.stop().streams.keys.sorted() == ["bmi160.a"])
    }
}

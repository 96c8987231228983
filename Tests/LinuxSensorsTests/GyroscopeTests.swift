import Binnacle
import Foundation
import LinuxSensors
import TestSupport
import Testing

private let turn = Float.pi / 180

/// Gyroscopes beside accelerometers: in one buffer, as devices of their own, and without any.
@Suite struct GyroscopeTests {
    /// A chip with both sensors in one buffer, the gyroscope's registers before the accelerometer's, as bmi160 has it.
    private func addChip(_ tree: FifoTree, matrices: [String: String] = [:]) throws -> FifoNode {
        let node = try #require(try tree.addDevice(0, name: "bmi160", scale: "0.000598550"))
        try tree.addAxes(0, "in_anglvel", index: 4, scale: "0.001065264")
        try tree.moveAccelerometer(0, toIndex: 7)
        try tree.set(tree.folder(0) + "/buffer0/in_timestamp_index", "10")
        for (name, matrix) in matrices { try tree.set(tree.folder(0) + "/" + name, matrix) }
        return node
    }

    private func scan(_ gyroscope: [Int16], _ accelerometer: [Int16], _ time: Int64) -> [UInt8] {
        FifoTree.scan(gyroscope + accelerometer, timeNanoseconds: time)
    }

    private func request(
        _ name: String, optional: [SampleKind] = [.gyroscope], settings: SensorSettings = SensorSettings()
    ) -> SensorRequest {
        var match = DeviceMatch()
        match.name = name
        return SensorRequest(
            sensor: Sensor(name: name), kinds: [.accelerometer], optionalKinds: optional, interface: .iio, match: match,
            settings: settings)
    }

    @Test(arguments: [1, 3, 64])
    func oneBufferGivesBothStreamsWithOneStamp(capacity: Int) throws {
        let tree = try FifoTree()
        let node = try addChip(tree)
        let run = try LiveRun([request("bmi160")], tree, capacity: capacity)
        #expect(run.streams.map(\.kind) == [.gyroscope, .accelerometer])
        try run.turn("the buffer") { _ in (try? tree.text(tree.folder(0) + "/buffer0/enable")) == "1" }
        for channel in ["in_anglvel_x", "in_anglvel_z", "in_accel_y", "in_timestamp"] {
            #expect(try tree.text(tree.folder(0) + "/buffer0/\(channel)_en") == "1")
        }
        let start = monotonicNow()
        for number in 0..<50 {
            try node.write(scan([Int16(number), -200, 300], [1, 2, 16384], start + Int64(number) * 10_000_000))
        }
        try run.turn("50 samples of each") { $0.samples.allSatisfy { $0.count == 50 } }
        let (rates, forces) = (run.samples[0], run.samples[1])
        #expect(rates.map(\.timeNanoseconds) == forces.map(\.timeNanoseconds))
        #expect(rates.map(\.timeNanoseconds) == (0..<50).map { start + Int64($0) * 10_000_000 })
        for (number, sample) in rates.enumerated() {
            #expect(abs(sample.x - Float(number) * 0.001065264) < 1e-6)
            #expect(abs(sample.y + 0.2130528) < 1e-6 && abs(sample.z - 0.3195792) < 1e-6)
        }
        #expect(forces.allSatisfy { abs($0.z - 9.806643) < 1e-5 })
        // 2000°/s, a little less for the largest positive value.
        let range = try #require(run.streams[0].sensor.gyroscopeRange)
        #expect(abs(range / turn - 2000) < 1)
        #expect(!run.streams[0].sensor.gyroscopeReportsOnChange)
        // What is learned of it is kept under its device and its axes.
        let known = MountedSensor(device: try tree.finder.devices()[0].id, axes: "1, 0, 0; 0, 1, 0; 0, 0, 1")
        #expect(run.streams[0].sensor.gyroscopeDevice == known)
        #expect(run.events.isEmpty && run.notices.isEmpty)
    }

    @Test func withoutBeingAskedForTheGyroscopeStaysOff() throws {
        let tree = try FifoTree()
        let node = try addChip(tree)
        let run = try LiveRun([request("bmi160", optional: [])], tree)
        try run.turn("the buffer") { _ in (try? tree.text(tree.folder(0) + "/buffer0/enable")) == "1" }
        #expect(try tree.text(tree.folder(0) + "/buffer0/in_anglvel_x_en") == "0")
        try node.write(FifoNode.scan(1, 2, 16384, monotonicNow()))
        try run.turn("a sample") { $0.samples[0].count == 1 }
        #expect(run.streams.map(\.kind) == [.accelerometer])
    }

    /// A rate is an axial vector: a matrix and its reflection turn it alike, and the accelerometer's sign is not its own.
    @Test(
        arguments: [
            ["mount_matrix": "0, 1, 0; 1, 0, 0; 0, 0, -1"], ["mount_matrix": "0, -1, 0; -1, 0, 0; 0, 0, 1"],
            ["in_accel_mount_matrix": "0, 1, 0; 1, 0, 0; 0, 0, -1"],
            ["in_anglvel_mount_matrix": "0, -1, 0; -1, 0, 0; 0, 0, 1", "mount_matrix": "1, 0, 0; 0, 1, 0; 0, 0, 1"],
        ], [SensorSettings.Acceleration.specificForce, .gravity])
    func aReflectionTurnsARateLikeItsTwin(
        matrices: [String: String], acceleration: SensorSettings.Acceleration
    ) throws {
        let tree = try FifoTree()
        let node = try addChip(tree, matrices: matrices)
        var settings = SensorSettings()
        settings.acceleration = acceleration
        let run = try LiveRun([request("bmi160", settings: settings)], tree)
        try run.turn("the buffer") { _ in (try? tree.text(tree.folder(0) + "/buffer0/enable")) == "1" }
        try node.write(scan([100, 200, 300], [0, 0, 16384], monotonicNow()))
        try run.turn("a sample") { $0.samples.allSatisfy { $0.count == 1 } }
        let rate = try #require(run.samples[0].first)
        let measured = [rate.x, rate.y, rate.z].map { Int(($0 / 0.001065264).rounded()) }
        #expect(measured == [200, 100, -300])
    }

    @Test func aMatrixOfItsOwnIsAppliedAsItStands() throws {
        let tree = try FifoTree()
        let node = try addChip(tree, matrices: ["mount_matrix": "0, 1, 0; 1, 0, 0; 0, 0, -1"])
        var settings = SensorSettings()
        settings.gyroscopeMatrix = try MountMatrix([1, 0, 0, 0, 1, 0, 0, 0, -2])
        let run = try LiveRun([request("bmi160", settings: settings)], tree)
        try run.turn("the buffer") { _ in (try? tree.text(tree.folder(0) + "/buffer0/enable")) == "1" }
        try node.write(scan([100, 200, 300], [0, 0, 16384], monotonicNow()))
        try run.turn("a sample") { $0.samples.allSatisfy { $0.count == 1 } }
        let rate = try #require(run.samples[0].first)
        let counts: [Int] = [rate.x, rate.y, rate.z].map { Int(($0 / 0.001065264 as Float).rounded()) }
        #expect(counts == [100, 200, -600])
        #expect(run.streams[0].sensor.gyroscopeDevice?.axes == "1, 0, 0; 0, 1, 0; 0, 0, -2")
    }

    /// A chip that is two devices, of which only the accelerometer has a matrix.
    @Test func aGyroscopeOfItsOwnBelongsToTheAccelerometer() throws {
        let tree = try FifoTree()
        let accelerometer = try #require(try tree.addDevice(0, name: "lsm6ds3_accel"))
        let gyroscope = try #require(try tree.addDevice(1, name: "lsm6ds3_gyro", prefix: "in_anglvel"))
        try tree.set(tree.folder(0) + "/in_accel_mount_matrix", "0, 1, 0; 1, 0, 0; 0, 0, -1")
        try tree.set(tree.folder(0) + "/in_accel_hysteresis", "0.5")
        try tree.set(tree.folder(1) + "/in_anglvel_hysteresis", "0.5")
        let run = try LiveRun([request("lsm6ds3_accel")], tree)
        try run.turn("both buffers") { _ in
            (0...1).allSatisfy { (try? tree.text(tree.folder($0) + "/buffer0/enable")) == "1" }
        }
        #expect(try tree.text(tree.folder(0) + "/in_accel_hysteresis") == "0")
        #expect(try tree.text(tree.folder(1) + "/in_anglvel_hysteresis") == "0")
        let now = monotonicNow()
        try accelerometer.write(FifoNode.scan(0, 0, 981, now))
        for number in 0..<3 { try gyroscope.write(FifoNode.scan(1, 2, 3, now + Int64(number) * 5_000_000)) }
        try run.turn("samples of both") { $0.samples.map(\.count) == [3, 1] }
        let rate = try #require(run.samples[0].first)
        #expect(abs(rate.x - 0.02) < 1e-6 && abs(rate.y - 0.01) < 1e-6 && abs(rate.z + 0.03) < 1e-6)
        #expect(run.notices == ["lsm6ds3_accel: its gyroscope is 'lsm6ds3_gyro'"])
        #expect(run.streams.allSatisfy { $0.sensor === run.streams[0].sensor })
        #expect(run.events.isEmpty)
    }

    /// Both devices of a chip take the same clock before the first of them is switched on.
    @Test func theClocksOfAChipAreSetTogether() throws {
        let tree = try FifoTree()
        let accelerometer = try tree.addDevice(0, name: "lsm6ds3_accel")
        let gyroscope = try tree.addDevice(1, name: "lsm6ds3_gyro", prefix: "in_anglvel")
        defer { withExtendedLifetime((accelerometer, gyroscope)) {} }
        let run = try LiveRun([request("lsm6ds3_accel", optional: [])], tree)
        try run.turn("the buffer") { _ in (try? tree.text(tree.folder(0) + "/buffer0/enable")) == "1" }
        #expect(try tree.text(tree.folder(1) + "/current_timestamp_clock") == "monotonic")
        #expect(try tree.text(tree.folder(1) + "/buffer0/enable") == "0")
    }

    /// Without a gyroscope no event is reported, and the stream stays without samples.
    @Test func withoutAGyroscopeNothingIsTold() throws {
        let tree = try FifoTree()
        let node = try #require(try tree.addDevice(0, name: "accel_3d"))
        let run = try LiveRun([request("accel_3d")], tree)
        try run.turn("the buffer") { _ in (try? tree.text(tree.folder(0) + "/buffer0/enable")) == "1" }
        try node.write(FifoNode.scan(0, 0, 981, monotonicNow()))
        try run.turn("a sample") { $0.samples[1].count == 1 }
        #expect(run.samples[0].isEmpty)
        #expect(run.events.isEmpty && run.notices.isEmpty)
        #expect(run.streams[0].isOptional && !run.streams[1].isOptional)
    }

    /// A gyroscope that makes no sense leaves the accelerometer alone.
    @Test func aGyroscopeThatCannotBeUsedIsTold() throws {
        let tree = try FifoTree()
        let node = try addChip(tree)
        try tree.set(tree.folder(0) + "/in_anglvel_scale", "0")
        let run = try LiveRun([request("bmi160")], tree)
        try run.turn("the buffer") { _ in (try? tree.text(tree.folder(0) + "/buffer0/enable")) == "1" }
        #expect(try tree.text(tree.folder(0) + "/buffer0/in_anglvel_x_en") == "0")
        try node.write(FifoNode.scan(0, 0, 16384, monotonicNow()))
        try run.turn("a sample") { $0.samples[1].count == 1 }
        #expect(run.notices.count == 1)
        #expect(run.notices.first?.contains("its gyroscope cannot be used") == true)
        #expect(run.notices.first?.contains("the scale is 0") == true)
    }

    /// A gyroscope that another sensor asks for by itself is not taken.
    @Test func aGyroscopeWithASectionOfItsOwnStaysThere() throws {
        let tree = try FifoTree()
        let accelerometer = try tree.addDevice(0, name: "accel_3d")
        let gyroscope = try #require(try tree.addDevice(1, name: "gyro_3d", prefix: "in_anglvel"))
        defer { withExtendedLifetime(accelerometer) {} }
        var match = DeviceMatch()
        match.name = "gyro_3d"
        let own = SensorRequest(sensor: Sensor(name: "spin"), kinds: [.gyroscope], interface: nil, match: match)
        let run = try LiveRun([request("accel_3d"), own], tree)
        try run.turn("both buffers") { _ in
            (0...1).allSatisfy { (try? tree.text(tree.folder($0) + "/buffer0/enable")) == "1" }
        }
        try gyroscope.write(FifoNode.scan(1, 2, 3, monotonicNow()))
        try run.turn("a rate") { $0.samples[1].count == 1 }
        #expect(run.streams[1].sensor.name == "spin")
        #expect(run.samples[0].isEmpty && run.notices.isEmpty)
    }

    @Test func singleValuesOfBothAreReadTogether() throws {
        let tree = try FifoTree()
        try tree.addDevice(0, name: "chip", type: nil)
        for (axis, letter) in ["x", "y", "z"].enumerated() {
            try tree.set(tree.folder(0) + "/in_anglvel_\(letter)_raw", String(10 * (axis + 1)))
        }
        try tree.set(tree.folder(0) + "/in_anglvel_scale", "0.5")
        let run = try LiveRun([request("chip")], tree)
        try run.turn("a sample of each") { $0.samples.allSatisfy { !$0.isEmpty } }
        let rate = try #require(run.samples[0].first)
        #expect([rate.x, rate.y, rate.z] == [5, 10, 15])
        #expect(rate.timeNanoseconds == run.samples[1].first?.timeNanoseconds)
    }

    /// What turns together: a chip, a hub, a mainboard; never a device that can be unplugged.
    @Test func aGyroscopeIsTakenFromTheSameChipBeforeAnother() throws {
        let tree = try FifoTree()
        for (number, name, prefix) in [
            (0, "accel", "in_accel"), (1, "other", "in_accel"), (2, "gyro", "in_anglvel"),
        ] { try tree.addDevice(number, name: name, prefix: prefix, type: nil) }
        let devices = try tree.finder.devices()
        let found = DeviceKinship.gyroscope(for: devices[0], among: devices)
        #expect(found?.name == "gyro")
        #expect(DeviceKinship(devices[0], devices[2]) == .chip)
        #expect(DeviceKinship.chip < .hub && DeviceKinship.hub < .machine)
    }

    /// Intel's and AMD's hubs make a HID device of each sensor; others in one folder may be two, such as of Bluetooth.
    @Test(
        arguments: [
            (["i2c-1/0018:1209:5E45.0001", "i2c-1/0018:1209:5E45.0001"], .hub),
            (["0020:1022:0001.000D", "0020:1022:0001.000E"], .hub),
            (["pci0000:00/{33AECD58}/001F:8087:0AC2.0003", "pci0000:00/{33AECD58}/001F:8087:0AC2.0004"], .hub),
            (["0020:1022:0001.000D", "0020:1022:0002.000E"], nil),
            (["usb1/1-1/0003:1209:5E45.0001", "usb1/1-2/0003:1209:5E45.0002"], nil),
            (["virtual/misc/uhid/0005:1209:5E45.0001", "virtual/misc/uhid/0005:1209:5E45.0002"], nil),
        ] as [([String], DeviceKinship?)])
    func theSensorsOfAHubTurnTogether(hubs: [String], kinship: DeviceKinship?) throws {
        let tree = try FifoTree()
        for (number, prefix) in ["in_accel", "in_anglvel"].enumerated() {
            try tree.addDevice(number, name: prefix, prefix: prefix, type: nil)
            let folder = "\(tree.root)/sys/devices/\(hubs[number])/HID-SENSOR-\(number).auto"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try FileManager.default.moveItem(atPath: tree.folder(number), toPath: folder + "/iio:device\(number)")
            try FileManager.default.createSymbolicLink(
                atPath: tree.folder(number), withDestinationPath: folder + "/iio:device\(number)")
        }
        let devices = try tree.finder.devices()
        try #require(devices.count == 2)
        #expect(DeviceKinship(devices[0], devices[1]) == kinship)
        #expect((DeviceKinship.gyroscope(for: devices[0], among: devices) != nil) == (kinship != nil))
    }
}

import Binnacle
import Foundation
import LinuxSensors
import TestSupport
import Testing

/// The reader of real devices, on trees of FIFOs: set-up, every sample, and every way of losing some.
@Suite struct LiveSourceTests {
    @Test(arguments: [1, 3, 64])
    func everySampleComesHoweverTheScansAreSplit(capacity: Int) throws {
        let tree = try FifoTree()
        let node = try #require(try tree.addDevice(0, name: "accel_3d"))
        let run = try LiveRun([request("accel_3d")], tree, capacity: capacity)
        try run.turn("the buffer") { _ in (try? tree.text(tree.folder(0) + "/buffer0/enable")) == "1" }
        var generator = SeededGenerator(seed: UInt64(capacity))
        let start = monotonicNow()
        var bytes: ArraySlice<UInt8> = []
        for number: Int16 in 0..<500 {
            bytes += FifoNode.scan(number, -number, 981, start + Int64(number) * 10_000_000)
        }
        while !bytes.isEmpty {
            let count = min(Int.random(in: 1...100, using: &generator), bytes.count)
            try node.write(bytes.prefix(count))
            bytes = bytes.dropFirst(count)
            try run.turn("a turn") { _ in Bool.random(using: &generator) }
        }
        try run.turn("500 samples") { $0.samples[0].count >= 500 }
        let samples = run.samples[0]
        #expect(samples.count == 500)
        for (number, sample) in samples.enumerated() {
            #expect(sample.timeNanoseconds == start + Int64(number) * 10_000_000)
            #expect(abs(sample.x - Float(number) * 0.01) < 1e-5 && abs(sample.y + Float(number) * 0.01) < 1e-5)
            #expect(abs(sample.z - 9.81) < 1e-5)
        }
        #expect(run.events.isEmpty && run.notices.isEmpty)
    }

    @Test(arguments: [false, true])
    func aBufferIsSetUpInOrderAndSwitchedOffAgain(isOld: Bool) throws {
        let tree = try FifoTree()
        let node = try tree.addDevice(0, name: "accel_3d", isOld: isOld)
        defer { node?.close() }
        let folder = tree.folder(0)
        let (elements, controls) = isOld ? ("/scan_elements", "/buffer") : ("/buffer0", "/buffer0")
        // A channel that another program left on would change the layout.
        try tree.set("\(folder)\(elements)/in_anglvel_x_en", "1")
        try tree.set("\(folder)/sampling_frequency_available", "50 200 400")
        var settings = SensorSettings()
        settings.rateHz = 380
        do {
            let run = try LiveRun([request("accel_3d", settings: settings)], tree)
            try run.turn("the buffer") { _ in (try? tree.text("\(folder)\(controls)/enable")) == "1" }
            try run.turn("its end") { $0.source.isSettled }
            for axis in ["in_accel_x", "in_accel_y", "in_accel_z", "in_timestamp"] {
                #expect(try tree.text("\(folder)\(elements)/\(axis)_en") == "1")
            }
            #expect(try tree.text("\(folder)\(elements)/in_anglvel_x_en") == "0")
            #expect(try tree.text(folder + "/sampling_frequency") == "400")
            #expect(try tree.text(folder + "/current_timestamp_clock") == "monotonic")
            // The samples of 50 ms a wake-up, and two seconds more of room.
            #expect(try tree.text("\(folder)\(controls)/length") == "820")
            #expect(try tree.text("\(folder)\(controls)/watermark") == "20")
            #expect(run.notices.contains { $0.contains("runs at 400 Hz; asked for were 380 Hz") })
            #expect(run.source.streams[0].sensor.authorizationStatus == .authorized)
        }
        #expect(try tree.text("\(folder)\(controls)/enable") == "0")
    }

    @Test func aTriggerOfItsOwnIsChosen() throws {
        let tree = try FifoTree()
        let node = try tree.addDevice(3, name: "lis3dh")
        defer { node?.close() }
        try tree.set(tree.folder(3) + "/trigger/current_trigger", "")
        let devices = tree.root + "/sys/bus/iio/devices"
        try tree.set(devices + "/trigger0/name", "other-dev0")
        try tree.set(devices + "/trigger1/name", "lis3dh-dev3")
        let run = try LiveRun([request("lis3dh")], tree)
        try run.turn("the buffer") { _ in (try? tree.text(tree.folder(3) + "/buffer0/enable")) == "1" }
        #expect(try tree.text(tree.folder(3) + "/trigger/current_trigger") == "lis3dh-dev3")
    }

    /// Of two chips of one name, one may have no interrupt.
    @Test func theTriggerOfAnotherChipIsNotTaken() throws {
        let tree = try FifoTree()
        let node = try tree.addDevice(1, name: "bmi160")
        defer { node?.close() }
        try tree.set(tree.folder(1) + "/trigger/current_trigger", "")
        try tree.set(tree.root + "/sys/bus/iio/devices/trigger0/name", "bmi160-dev0")
        let run = try LiveRun([request("bmi160")], tree)
        try run.turn("the buffer") { _ in (try? tree.text(tree.folder(1) + "/buffer0/enable")) == "1" }
        #expect(try tree.text(tree.folder(1) + "/trigger/current_trigger") == "")
    }

    /// rm3100 names its trigger after its line; beside it there may be one of its events.
    @Test func aTriggerOfTheChipIsChosenUnderAnyName() throws {
        let tree = try FifoTree()
        let node = try tree.addDevice(0, name: "rm3100", prefix: "in_magn")
        defer { node?.close() }
        try tree.set(tree.folder(0) + "/trigger/current_trigger", "")
        let devices = tree.root + "/sys/bus/iio/devices"
        let chip = tree.root + "/sys/devices/i2c-1/1-0020"
        try FileManager.default.createDirectory(atPath: chip, withIntermediateDirectories: true)
        for (number, name) in ["other-drdy0", "rm3100-any-motion0", "rm3100-drdy0"].enumerated() {
            try tree.set("\(devices)/trigger\(number)/name", name)
        }
        for name in ["iio:device0", "trigger1", "trigger2"] {
            try FileManager.default.moveItem(atPath: "\(devices)/\(name)", toPath: "\(chip)/\(name)")
            try FileManager.default.createSymbolicLink(
                atPath: "\(devices)/\(name)", withDestinationPath: "\(chip)/\(name)")
        }
        let run = try LiveRun([request("rm3100", [.magnetometer])], tree)
        try run.turn("the buffer") { _ in (try? tree.text(tree.folder(0) + "/buffer0/enable")) == "1" }
        #expect(try tree.text(tree.folder(0) + "/trigger/current_trigger") == "rm3100-drdy0")
    }

    /// A container has the attributes of a device whose node it was not given.
    @Test func aBufferWithoutItsNodeIsTold() throws {
        let tree = try FifoTree()
        let node = try #require(try tree.addDevice(0, name: "accel_3d"))
        node.close()
        try FileManager.default.removeItem(atPath: node.path)
        let inspection = try #require(try tree.finder.devices().map(DeviceInspection.init).first)
        #expect(inspection.mode == .poll && inspection.reason?.contains("/dev/iio:device0 is not there") == true)
        let run = try LiveRun([request("accel_3d")], tree)
        try run.turn("a sample") { !$0.samples[0].isEmpty }
        #expect(run.notices.contains { $0.contains("/dev/iio:device0 is not there") }, "\(run.notices)")
    }

    /// A number that is computed may be none, and would end the program on a worker thread.
    @Test func aRequestThatCannotWorkIsRefused() throws {
        let tree = try FifoTree()
        let sensor = Sensor(name: "lid")
        func refusal(_ kinds: [SampleKind], count: Int = 1, _ change: (inout SensorSettings) -> Void = { _ in })
            -> String?
        {
            var settings = SensorSettings()
            change(&settings)
            let request = SensorRequest(sensor: sensor, kinds: kinds, interface: nil, settings: settings)
            do throws(SensorFailure) {
                _ = try LiveSource(Array(repeating: request, count: count), root: tree.root)
                return nil
            } catch {
                return error.category == .invalid ? error.description : "\(error)"
            }
        }
        #expect(refusal([.accelerometer]) == nil)
        for rate in [Double.nan, 0, -1, .infinity] {
            #expect(refusal([.accelerometer]) { $0.rateHz = rate }?.hasPrefix("sensor 'lid': rateHz (\(rate))") == true)
        }
        #expect(
            refusal([.accelerometer]) { $0.updateInterval = .seconds(Int64.max) }?.contains("updateInterval") == true)
        #expect(refusal([.accelerometer]) { $0.latency = .seconds(-1) }?.contains("latency") == true)
        let twice = "the accelerometer of sensor 'lid' is requested twice"
        #expect(refusal([.accelerometer, .accelerometer]) == twice && refusal([.accelerometer], count: 2) == twice)
    }

    /// What can no longer be read fails alone, and serves again when it can.
    @Test func aKindThatCannotBeReadFailsAlone() throws {
        let tree = try FifoTree()
        try tree.addDevice(0, name: "chip", type: nil)
        try tree.addDevice(0, name: "chip", prefix: "in_magn", type: nil)
        var settings = SensorSettings()
        settings.updateInterval = .milliseconds(1)
        let run = try LiveRun([request("chip", [.accelerometer, .magnetometer], settings: settings)], tree)
        let magnetometer = try #require(run.streams.firstIndex { $0.kind == .magnetometer })
        let accelerometer = try #require(run.streams.firstIndex { $0.kind == .accelerometer })
        try run.turn("samples of both") { $0.samples.allSatisfy { !$0.isEmpty } }
        try FileManager.default.removeItem(atPath: tree.folder(0) + "/in_magn_x_raw")
        try run.turn("a notice") { $0.notices.contains { $0.contains("its magnetometer cannot be read") } }
        #expect(!run.losses(.readError).isEmpty)
        // The notice may come before what was read until then.
        var forces = run.samples[accelerometer].count
        try run.turn("more accelerations") { $0.samples[accelerometer].count > forces + 10 }
        forces = run.samples[accelerometer].count
        let fields = run.samples[magnetometer].count
        try run.turn("again more accelerations") { $0.samples[accelerometer].count > forces + 10 }
        #expect(run.samples[magnetometer].count == fields)
        try tree.set(tree.folder(0) + "/in_magn_x_raw", "7")
        try run.turn("a field") { $0.samples[magnetometer].count > fields }
        #expect(!run.events.contains { $0.kind == .sensorInactive })
    }

    @Test func aTriggerThatIsSetStays() throws {
        let tree = try FifoTree()
        let node = try tree.addDevice(0, name: "lis3dh")
        defer { node?.close() }
        try tree.set(tree.folder(0) + "/trigger/current_trigger", "timer7")
        try tree.set(tree.root + "/sys/bus/iio/devices/trigger0/name", "timer7")
        try tree.set(tree.root + "/sys/bus/iio/devices/trigger0/sampling_frequency", "400")
        try tree.set(tree.root + "/sys/bus/iio/devices/trigger1/name", "lis3dh-dev0")
        let run = try LiveRun([request("lis3dh")], tree)
        try run.turn("the buffer") { _ in (try? tree.text(tree.folder(0) + "/buffer0/enable")) == "1" }
        #expect(try tree.text(tree.folder(0) + "/trigger/current_trigger") == "timer7")
        // 50 ms and two seconds of its samples, which the buffer has to hold.
        #expect(try tree.text(tree.folder(0) + "/buffer0/length") == "820")
    }

    @Test func aTriggerThatIsNoMoreIsTakenAway() throws {
        // Switching a device on whose trigger was removed is the end of a kernel.
        let tree = try FifoTree()
        let node = try tree.addDevice(0, name: "lis3dh")
        defer { node?.close() }
        try tree.set(tree.folder(0) + "/trigger/current_trigger", "x")
        let run = try LiveRun([request("lis3dh")], tree)
        try run.turn("the buffer") { _ in (try? tree.text(tree.folder(0) + "/buffer0/enable")) == "1" }
        #expect(try tree.text(tree.folder(0) + "/trigger/current_trigger") == "")
    }

    @Test func theTimerOfAnEarlierTimeGetsThisTimesRate() throws {
        let tree = try FifoTree()
        let node = try tree.addDevice(0, name: "lis3dh")
        defer { node?.close() }
        let timer = tree.root + "/sys/bus/iio/devices/trigger0"
        try tree.set(tree.folder(0) + "/trigger/current_trigger", "binnacle")
        try tree.set(timer + "/name", "binnacle")
        try tree.set(timer + "/sampling_frequency", "50")
        let run = try LiveRun([request("lis3dh")], tree)
        try run.turn("the buffer") { _ in (try? tree.text(tree.folder(0) + "/buffer0/enable")) == "1" }
        #expect(try tree.text(timer + "/sampling_frequency") == "100")
    }

    @Test func everyDeviceHasATimerOfItsOwn() throws {
        // A kernel gives a trigger to two devices, and breaks the third one.
        let tree = try FifoTree()
        let nodes = try (0..<3).map { try tree.addDevice($0, name: "lis3dh\($0)") }
        defer { for node in nodes { node?.close() } }
        for number in 0..<3 {
            try tree.set(tree.folder(number) + "/trigger/current_trigger", "binnacle")
            let timer = tree.root + "/sys/bus/iio/devices/trigger\(number)"
            try tree.set(timer + "/name", number == 0 ? "binnacle" : "binnacle-\(number)")
            try tree.set(timer + "/sampling_frequency", "50")
        }
        let run = try LiveRun((0..<3).map { request("lis3dh\($0)") }, tree)
        try run.turn("the buffers") { _ in
            (0..<3).allSatisfy { (try? tree.text(tree.folder($0) + "/buffer0/enable")) == "1" }
        }
        let triggers = try (0..<3).map { try tree.text(tree.folder($0) + "/trigger/current_trigger") }
        #expect(Set(triggers) == ["binnacle", "binnacle-1", "binnacle-2"])
    }

    @Test func anOverrunIsAnEventWithItsSize() throws {
        let tree = try FifoTree()
        let node = try #require(try tree.addDevice(0, name: "accel_3d"))
        let run = try LiveRun([request("accel_3d")], tree)
        let start = monotonicNow()
        for number in (0..<50).map({ $0 }) + (90..<100).map({ $0 }) {
            try node.write(FifoNode.scan(0, 0, 981, start + Int64(number) * 10_000_000))
        }
        try run.turn("60 samples") { $0.samples[0].count >= 60 }
        let lost = run.losses(.overrun)
        #expect(lost.count == 1)
        #expect(lost.first?.figure(.count) == .integer(40))
        #expect(lost.first?.figure(.gap)?.description == "0.410")
        #expect(lost.first?.sensor == "accel_3d")
        #expect(lost.first?.timeNanoseconds == start + 900_000_000, "at the first sample after it")
    }

    /// A device that loses every twentieth sample would be reported five times a second.
    @Test func overrunsThatRecurAreToldAtOnceAndThenWithTheirNumber() throws {
        let tree = try FifoTree()
        let node = try #require(try tree.addDevice(0, name: "accel_3d"))
        let run = try LiveRun([request("accel_3d")], tree)
        let start = monotonicNow() - 30_000_000_000
        func write(_ numbers: some Sequence<Int>) throws {
            for number in numbers where number % 20 != 19 {
                try node.write(FifoNode.scan(0, 0, 981, start + Int64(number) * 10_000_000))
            }
        }
        try write(0..<40)
        try run.turn("the first one") { $0.losses(.overrun).count == 1 }
        #expect(run.losses(.overrun).first?.json.contains("about 1 samples are missing") == true)
        try write(40..<2000)
        try run.turn("all samples") { $0.samples[0].count >= 1900 }
        let told = run.losses(.overrun)
        // After 0, 1, 3, 7 and 15 seconds of the 20.
        #expect(told.count == 5, "\(told.map(\.json))")
        #expect(told.last?.json.contains("times since the last report, at last: about 1 samples are missing") == true)
    }

    @Test func aSilentDeviceIsArmedAnewThenPolledAndSaysSo() throws {
        // D2 and corner case 15: enabled, and never a first sample.
        let tree = try FifoTree()
        let node = try #require(try tree.addDevice(0, name: "accel_3d", values: [100, -200, 981]))
        let run = try LiveRun([request("accel_3d")], tree)
        try run.turn("the first remedy") { $0.losses(.stall).count == 1 }
        #expect(node.openings == 1, "a device has one opener at a time, and here it is only the test")
        try run.turn("samples") { $0.samples[0].count >= 3 }
        #expect(node.openings == 1)
        #expect(try tree.text(tree.folder(0) + "/buffer0/enable") == "0", "single values want the buffer off")
        let stalls = run.losses(.stall)
        #expect(stalls.count == 2)
        #expect(stalls.first?.json.contains("switched off and on again") == true)
        #expect(stalls.last?.json.contains("single values are read instead") == true)
        #expect(run.samples[0].allSatisfy { $0.x == 1 && $0.y == -2 && abs($0.z - 9.81) < 1e-5 })
        #expect(!run.events.contains { $0.kind == .sensorInactive })
        node.close()
    }

    /// Single values are no more than a makeshift: the buffer is tried again, and kept once it speaks.
    @Test func theBufferOfASilentDeviceIsTriedAgain() throws {
        let tree = try FifoTree()
        let node = try #require(try tree.addDevice(0, name: "accel_3d", values: [100, -200, 981]))
        let run = try LiveRun([request("accel_3d")], tree, bufferRetryNanoseconds: 500_000_000)
        let buffer = tree.folder(0) + "/buffer0/enable"
        func isOn() -> Bool { (try? tree.text(buffer)) == "1" }
        try run.turn("single values") { $0.samples[0].count >= 3 && !isOn() }
        // More than two when a busy machine has let it pass the next attempt already.
        let stalls = run.losses(.stall).count
        #expect(stalls >= 2)
        // It is silent still, and single values come back.
        try run.turn("another attempt") { _ in isOn() }
        let before = run.samples[0].count
        try run.turn("single values again") {
            $0.losses(.stall).count > stalls && $0.samples[0].count > before && !isOn()
        }
        // Now it speaks.
        try run.turn("a third attempt") { _ in isOn() }
        for number in 0..<5 { try node.write(FifoNode.scan(1, 2, 3, monotonicNow() + Int64(number))) }
        try run.turn("scans") { $0.samples[0].suffix(5).allSatisfy { abs($0.y - 0.02) < 1e-6 } }
        #expect(!run.events.contains { $0.kind == .sensorInactive })
        let times = run.samples[0].map(\.timeNanoseconds)
        #expect(times == times.sorted())
    }

    /// What a buffer was refused for may be gone later: a permission, or a trigger that was not there when the machine started.
    @Test func aBufferThatWasRefusedIsTriedAgain() throws {
        let tree = try FifoTree()
        let node = try #require(try tree.addDevice(0, name: "accel_3d", values: [100, -200, 981]))
        let type = tree.folder(0) + "/buffer0/in_accel_z_type"
        let right = try tree.text(type)
        try tree.set(type, "le:s16/12>>0")
        let run = try LiveRun([request("accel_3d")], tree, bufferRetryNanoseconds: 500_000_000)
        try run.turn("single values") { $0.samples[0].count >= 3 }
        #expect(run.notices.count == 1)
        #expect(run.notices.first?.contains("single values are read instead") == true)
        try tree.set(type, right)
        try run.turn("the buffer") { _ in (try? tree.text(tree.folder(0) + "/buffer0/enable")) == "1" }
        for number in 0..<5 { try node.write(FifoNode.scan(1, 2, 3, monotonicNow() + Int64(number))) }
        try run.turn("scans") { $0.samples[0].suffix(5).allSatisfy { abs($0.y - 0.02) < 1e-6 } }
        #expect(!run.events.contains { $0.kind == .sensorInactive } && run.notices.count == 1)
    }

    @Test func aSilentDeviceThatCannotBePolledTurnsInactive() throws {
        let tree = try FifoTree()
        let node = try #require(try tree.addDevice(0, name: "accel_3d", values: nil))
        let run = try LiveRun([request("accel_3d")], tree)
        try run.turn("the end") { $0.events.contains { $0.kind == .sensorInactive } }
        #expect(run.losses(.stall).count == 1)
        #expect(run.events.first { $0.kind == .sensorInactive }?.json.contains("no sample for") == true)
        // It wakes up: the sensor is active again, by itself.
        try run.turn("another opening") { _ in (try? tree.text(tree.folder(0) + "/buffer0/enable")) == "1" }
        for number in 0..<3 { try node.write(FifoNode.scan(1, 2, 3, monotonicNow() + Int64(number))) }
        try run.turn("its return") { $0.events.contains { $0.kind == .sensorActive } }
    }

    @Test func aDeviceThatEndsTurnsInactiveAndComesBack() throws {
        let tree = try FifoTree()
        let node = try #require(try tree.addDevice(0, name: "accel_3d"))
        _ = try tree.addDevice(1, name: "magn_3d", prefix: "in_magn", type: nil)
        let run = try LiveRun([request("accel_3d"), request("magn_3d", [.magnetometer])], tree)
        try node.write(FifoNode.scan(1, 2, 3, monotonicNow()))
        try run.turn("samples of both") { $0.samples[0].count >= 1 && $0.samples[1].count >= 1 }
        #expect(run.samples[0][0].y == 2, "gauss become microtesla: 2 × 0.01 × 100")
        node.close()
        try run.turn("the end") { $0.events.contains { $0.kind == .sensorInactive } }
        #expect(run.events.contains { $0.kind == .sensorsOneLeft })
        #expect(!run.source.streams[1].sensor.isActive && run.source.streams[0].sensor.isActive)
        try node.reopen()
        let before = run.samples[1].count
        try run.turn("another opening") { run in
            try? node.write(FifoNode.scan(4, 5, 6, monotonicNow()))
            return run.samples[1].count > before
        }
        #expect(run.events.contains { $0.kind == .sensorActive && $0.sensor == "accel_3d" })
        let times = run.samples[1].map(\.timeNanoseconds)
        #expect(times == times.sorted())
    }

    @Test func aReadingThatFailsIsNeverZero() throws {
        // D6: what cannot be read is said to be lost.
        let tree = try FifoTree()
        try tree.addDevice(0, name: "accel_3d", type: nil, values: [100, 200, 300])
        var settings = SensorSettings()
        settings.updateInterval = .milliseconds(5)
        let run = try LiveRun([request("accel_3d", settings: settings)], tree)
        try run.turn("samples") { $0.samples[0].count >= 3 }
        try tree.set(tree.folder(0) + "/in_accel_y_raw", "rubbish")
        try run.turn("the end") { $0.events.contains { $0.kind == .sensorInactive } }
        // The first is reported at once, and the others before the failure.
        #expect(run.losses(.readError).count == 2)
        #expect(run.losses(.readError).contains { $0.json.contains("'rubbish' is no number") })
        try tree.set(tree.folder(0) + "/in_accel_y_raw", "200")
        try run.turn("its return") { $0.events.contains { $0.kind == .sensorActive } }
        #expect(run.samples[0].allSatisfy { $0.x == 1 && $0.y == 2 && $0.z == 3 })
    }

    @Test func offsetsAndScalesOfEachAxisCountWhenPolling() throws {
        // D5 and corner case 7.
        let tree = try FifoTree()
        try tree.addDevice(0, name: "a", type: nil, values: [10, 20, 30], scale: nil)
        let folder = tree.folder(0)
        try tree.set(folder + "/in_accel_x_scale", "2")
        try tree.set(folder + "/in_accel_offset", "5")
        try tree.set(folder + "/in_accel_z_offset", "-30")
        try tree.set(folder + "/in_scale", "3")
        try tree.set(folder + "/in_mount_matrix", "0, 1, 0; 1, 0, 0; 0, 0, -1")
        let run = try LiveRun([request("a")], tree)
        try run.turn("a sample") { !$0.samples[0].isEmpty }
        let sample = try #require(run.samples[0].first)
        #expect(sample.x == 75 && sample.y == 30 && sample.z == 0)
    }

    /// As with the sensors of Chromebooks, whose driver states one scale for all channels.
    @Test func theScaleOfTheWholeDeviceCounts() throws {
        let tree = try FifoTree()
        try tree.addDevice(0, name: "cros-ec-accel", type: nil, values: [0, 0, 16384], scale: nil)
        try tree.set(tree.folder(0) + "/scale", "0.000598550")
        let run = try LiveRun([request("cros-ec-accel")], tree)
        try run.turn("a sample") { !$0.samples[0].isEmpty }
        #expect(abs(try #require(run.samples[0].first).z - 9.80664) < 1e-4)
    }

    @Test(
        arguments: [
            ("in_accel_scale", "0", "the scale is 0"), ("in_accel_scale", "x", "is no number"),
            ("in_accel_mount_matrix", "1,0,0;1,0,0;0,0,1", "determinant 0"),
            ("in_accel_mount_matrix", "1,0", "no mount matrix"),
        ] as [(String, String, String)])
    func aDescriptionThatMakesNoSenseIsRefused(name: String, text: String, message: String) throws {
        let tree = try FifoTree()
        try tree.addDevice(0, name: "a", type: nil)
        try tree.set("\(tree.folder(0))/\(name)", text)
        let run = try LiveRun([request("a")], tree)
        try run.turn("the refusal") { !$0.events.isEmpty }
        #expect(run.events[0].kind == .sensorInactive)
        #expect(run.events[0].json.contains(message) && run.events[0].json.contains(name))
        let inspection = try #require(try tree.finder.devices().map(DeviceInspection.init).first)
        #expect(inspection.state == .unusable && inspection.reason?.contains(message) == true)
    }

    @Test func aNodeThatIsNoDeviceIsRefused() throws {
        // epoll refuses a regular file; the single values are there all the same.
        let tree = try FifoTree()
        _ = try tree.addDevice(0, name: "a", values: nil)
        unlink(tree.root + "/dev/iio:device0")
        try tree.set(tree.root + "/dev/iio:device0", "not a device")
        let run = try LiveRun([request("a")], tree)
        try run.turn("the refusal") { !$0.events.isEmpty }
        #expect(run.events[0].json.contains("cannot be waited for"))
    }

    @Test func whatIsNotThereIsNamedWithWhatIs() throws {
        let tree = try FifoTree()
        try tree.addDevice(0, name: "bma\u{1B}[31m", type: nil)
        let run = try LiveRun([request("accel_3d")], tree)
        try run.turn("the answer") { !$0.events.isEmpty }
        let reason = run.events[0].json
        #expect(
            reason.contains("name 'accel_3d'") && reason.contains("found are iio 'bma") && !reason.contains("\u{1B}"))
    }

    @Test func aSuspendIsSaidAndEveryDeviceOpenedAnew() throws {
        let tree = try FifoTree()
        let node = try #require(try tree.addDevice(0, name: "accel_3d"))
        var suspended: Int64 = 0
        let run = try LiveRun([request("accel_3d")], tree, suspended: { suspended })
        try node.write(FifoNode.scan(1, 2, 3, monotonicNow()))
        try run.turn("a sample") { !$0.samples[0].isEmpty }
        try tree.set(tree.folder(0) + "/buffer0/enable", "0")
        suspended = 3_600_000_000_000
        try run.turn("the word") { !$0.losses(.suspend).isEmpty }
        #expect(run.losses(.suspend).first?.figure(.gap)?.description == "3600.000")
        try run.turn("the buffer") { _ in (try? tree.text(tree.folder(0) + "/buffer0/enable")) == "1" }
        try node.write(FifoNode.scan(4, 5, 6, monotonicNow()))
        try run.turn("a sample") { $0.samples[0].count >= 2 }
        #expect(!run.events.contains { $0.kind == .sensorInactive })
    }

    @Test func missingStampsAreSaidOnce() throws {
        let tree = try FifoTree()
        let node = try #require(try tree.addDevice(0, name: "accel_3d", stampType: nil))
        let run = try LiveRun([request("accel_3d")], tree)
        for number in 0..<10 { try node.write(FifoNode.scan(Int16(number), 0, 0, 0).prefix(6)) }
        try run.turn("samples") { $0.samples[0].count >= 10 }
        #expect(run.notices.filter { $0.contains("gives no timestamps") }.count == 1)
        let times = run.samples[0].map(\.timeNanoseconds)
        #expect(times == times.sorted())
    }

    @Test func oneDeviceWithBothKindsIsReadOnce() throws {
        let tree = try FifoTree()
        try tree.addDevice(0, name: "lsm303", type: nil, values: [1, 2, 3])
        try tree.addDevice(0, name: "lsm303", prefix: "in_magn", type: nil, values: [4, 5, 6])
        #expect(try tree.finder.devices().map(\.kinds) == [[.accelerometer, .magnetometer]])
        let run = try LiveRun([request("lsm303", [.accelerometer, .magnetometer])], tree)
        try run.turn("samples") { $0.samples[0].count >= 2 && $0.samples[1].count >= 2 }
        #expect(run.samples[0].map(\.timeNanoseconds) == run.samples[1].map(\.timeNanoseconds), "one stamp for both")
        #expect(run.samples[0][0].x == 4 && abs(run.samples[1][0].x - 0.01) < 1e-6)
    }

    @Test func whatIsNoSensorIsLeftOut() throws {
        // Corner case 7: peaks, linear acceleration and gravity are something else.
        let tree = try FifoTree()
        for (number, name) in [
            "in_accel_x_peak_raw", "in_accel_linear_x_raw", "in_gravity_x_raw", "in_illuminance_raw",
        ]
        .enumerated() {
            try tree.set(tree.folder(number) + "/name", "d\(number)")
            for axis in ["x", "y", "z"] {
                try tree.set(tree.folder(number) + "/" + name.replacingOccurrences(of: "_x_", with: "_\(axis)_"), "1")
            }
        }
        #expect(try tree.finder.devices().isEmpty)
    }

    @Test(arguments: ["1e300", "-1", "0", "nan", "rubbish", "99999999999999999999"])
    func aRateThatIsRubbishIsLeftAlone(rate: String) throws {
        let tree = try FifoTree()
        let node = try #require(try tree.addDevice(0, name: "accel_3d"))
        try tree.set(tree.folder(0) + "/sampling_frequency", rate)
        try tree.set(tree.folder(0) + "/sampling_frequency_available", rate)
        try tree.set(tree.folder(0) + "/buffer99999999999/in_accel_x_en", "0")
        let run = try LiveRun([request("accel_3d")], tree)
        try node.write(FifoNode.scan(1, 2, 3, monotonicNow()))
        try run.turn("a sample") { !$0.samples[0].isEmpty }
    }

    @Test func whoeverSleptHimselfBlamesNoDevice() throws {
        let tree = try FifoTree()
        let nodes = try (0..<2).map { try #require(try tree.addDevice($0, name: "accel\($0)")) }
        let run = try LiveRun([request("accel0"), request("accel1")], tree)
        for node in nodes { try node.write(FifoNode.scan(1, 2, 3, monotonicNow())) }
        try run.turn("a sample of each") { $0.samples.allSatisfy { $0.count == 1 } }
        // The thread that reads is held up for longer than a stall, and both devices have gone on meanwhile.
        usleep(1_300_000)
        for node in nodes { try node.write(FifoNode.scan(4, 5, 6, monotonicNow())) }
        try run.turn("another one of each") { $0.samples.allSatisfy { $0.count == 2 } }
        #expect(run.losses(.stall).isEmpty)
    }

    @Test func afterItsEndASourceGivesNothingAndLeavesNoBufferOn() throws {
        let tree = try FifoTree()
        let node = try #require(try tree.addDevice(0, name: "accel_3d"))
        let run = try LiveRun([request("accel_3d")], tree)
        try run.turn("the buffer") { $0.source.isSettled }
        run.source.stop()
        #expect(try tree.text(tree.folder(0) + "/buffer0/enable") == "0")
        try node.write(FifoNode.scan(1, 2, 3, monotonicNow()))
        #expect(run.source.fill(SampleDelivery(streams: run.source.streams, capacity: 4)).isEnd)
        #expect(run.samples[0].isEmpty)
    }

    @Test func sensorsThatSayMostAboutTheirDeviceChooseFirst() throws {
        let tree = try FifoTree()
        try tree.addDevice(0, name: "accel_3d", type: nil, values: [1, 0, 0])
        try tree.addDevice(1, name: "accel_3d", type: nil, values: [2, 0, 0])
        var narrow = DeviceMatch()
        narrow.name = "accel_3d"
        narrow.path = tree.folder(0)
        let requests = [
            request("accel_3d"),
            SensorRequest(sensor: Sensor(name: "narrow"), kinds: [.accelerometer], interface: .iio, match: narrow),
        ]
        let run = try LiveRun(requests, tree)
        try run.turn("a sample of each") { $0.samples.allSatisfy { !$0.isEmpty } }
        #expect(run.samples.map { $0[0].x } == [0.02, 0.01])
    }

    @Test func aTriggerMayBeNamed() throws {
        let tree = try FifoTree()
        let node = try tree.addDevice(0, name: "lis3dh", values: nil)
        defer { node?.close() }
        try tree.set(tree.folder(0) + "/trigger/current_trigger", "")
        try tree.set(tree.root + "/sys/bus/iio/devices/trigger0/name", "timer7")
        var settings = SensorSettings()
        settings.trigger = "timer7"
        let run = try LiveRun([request("lis3dh", settings: settings)], tree)
        try run.turn("the buffer") { _ in (try? tree.text(tree.folder(0) + "/buffer0/enable")) == "1" }
        #expect(try tree.text(tree.folder(0) + "/trigger/current_trigger") == "timer7")
        settings.trigger = "timer8"
        let other = try LiveRun([request("lis3dh", settings: settings)], tree)
        try other.turn("the refusal") { !$0.events.isEmpty }
        #expect(other.events[0].json.contains("there is no trigger 'timer8'; found are 'timer7'"))
    }
}

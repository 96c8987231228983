import Foundation
import TestSupport
import Testing

/// Devices that go, and come back.
@Suite(.fewAtATime) struct HotPlugTests {
    private static let channels = ScanChannel.axes("accel", "le:s32/32>>0")

    private func scan(_ x: Int64) -> [UInt8] {
        ScanEncoder(Self.channels).scan([x, 0, 1000, monotonicNow()])
    }

    struct Return: CustomTestStringConvertible {
        let number: Int
        let hangsUp: Bool
        var testDescription: String { "as device\(number), \(hangsUp ? "with" : "without") a hang-up" }
    }

    /// D1, corner case 13: the recording goes on with the device that comes back, whatever its number is then.
    ///
    /// A wait on a buffer does not end when its device is unplugged: only udev tells.
    @Test(arguments: [
        Return(number: 3, hangsUp: false), Return(number: 0, hangsUp: false), Return(number: 3, hangsUp: true),
    ])
    func aDeviceThatComesBackIsRecordedAgain(_ comeback: Return) async throws {
        let station = try MockStation()
        let device = MockDevice.buffered("accel", 0, name: "accel_3d", channels: Self.channels, scale: "1")
        try station.add(device)
        let recording = try station.record()
        try await recording.waitForBuffer(of: device)
        try await station.write(scan(1), to: device)
        try station.unplug(device, hangsUp: comeback.hangsUp)
        try await recording.program.waitForMessage("sensor.inactive", "accel_3d")
        let again = device.renumbered(comeback.number)
        try station.add(again)
        try await recording.waitForBuffer(of: again)
        try await station.write(scan(2), to: again)
        try await recording.program.waitForMessage("sensor.active", "accel_3d")
        let result = try await recording.stop()
        #expect(result.streams.count == 1)
        let samples = try result.only("a")
        #expect(samples.map(\.x) == [1, 2])
        #expect(samples.map(\.time) == samples.map(\.time).sorted())
    }

    /// D1, over and over: nothing is used up.
    @Test func aLooseContactDoesNoHarm() async throws {
        let station = try MockStation()
        var device = MockDevice.buffered("accel", 0, name: "accel_3d", channels: Self.channels, scale: "1")
        try station.add(device)
        let recording = try station.record()
        for number in 1...10 {
            try await recording.waitForBuffer(of: device)
            try await station.write(scan(Int64(number)), to: device)
            try station.unplug(device)
            device = device.renumbered(number)
            try station.add(device)
        }
        try await recording.waitForBuffer(of: device)
        try await station.write(scan(11), to: device)
        #expect(try await recording.stop().only("a").map(\.x) == (1...11).map(Double.init))
    }

    /// One that comes and goes before it was looked at leaves nothing behind that keeps the next one out.
    @Test func oneThatGoesAtOnceDoesNoHarm() async throws {
        let station = try MockStation()
        var device = MockDevice.buffered("accel", 0, name: "accel_3d", channels: Self.channels, scale: "1")
        try station.add(device)
        let recording = try station.record()
        try await recording.waitForBuffer(of: device)
        try await station.write(scan(1), to: device)
        try station.unplug(device)
        for number in 1...20 {
            device = device.renumbered(number)
            try station.add(device)
            try station.unplug(device)
        }
        device = device.renumbered(30)
        try station.add(device)
        try await recording.waitForBuffer(of: device)
        try await station.write(scan(2), to: device)
        #expect(try await recording.stop().only("a").map(\.x) == [1, 2])
    }

    /// udev reports a change whenever a rule touches the device: that is no reason to open it again.
    @Test func aChangeIsNoRemoval() async throws {
        let station = try MockStation()
        let device = MockDevice.buffered("accel", 0, name: "accel_3d", channels: Self.channels, scale: "1")
        try station.add(device)
        let recording = try station.record()
        try await recording.waitForBuffer(of: device)
        // The file that enables the buffer is closed after its content is seen: the first row says that it is.
        try await station.write(scan(0), to: device)
        try await recording.waitForRows(1)
        let log = try WriteLog(device, in: station, folders: ["buffer0"])
        for number in 1...20 {
            try station.obey("announce", "change", device.path)
            try await station.write(scan(Int64(number)), to: device)
        }
        #expect(log.names().isEmpty)
        #expect(try await recording.stop().only("a").map(\.x) == (0...20).map(Double.init))
    }

    struct Match: CustomTestStringConvertible {
        let text: String
        var testDescription: String { text }
    }

    /// A configured sensor may come later; every kind of match finds it.
    @Test(arguments: [
        Match(text: #"name = "accel_3d""#), Match(text: #"label = "accel-base""#), Match(text: #"location = "base""#),
        Match(text: #"path = "/sys/devices/platform/chip4/iio:device4""#), Match(text: #"path = "/dev/iio:device4""#),
        Match(text: #"path = "platform-hub-7""#), Match(text: #"property = { ID_BUS = "usb" }"#),
        Match(text: #"name = "accel_3d", label = "accel-base", property = { ID_BUS = "usb" }"#),
    ])
    func aConfiguredSensorMayComeLater(_ match: Match) async throws {
        let station = try MockStation()
        // Another device is there all the time, and is not meant.
        try station.add(.polled("accel", 0, name: "other", raw: [9, 9, 9], scale: "1"))
        let configuration = try station.configuration(
            """
            [sensor.chassis]
            source = "iio"
            match = { \(match.text) }
            [motion.moved]
            accelerometer = "chassis"
            """)
        let recording = try station.record("--config", configuration)
        try await recording.program.waitForMessage("chassis")
        var device = MockDevice.polled("accel", 4, name: "accel_3d", raw: [1, 2, 3], scale: "1")
        device.attributes["label"] = "accel-base"
        device.properties["ID_BUS"] = "usb"
        device.properties["ID_PATH"] = "platform-hub-7"
        try station.add(device)
        try await recording.waitForRows(1)
        let result = try await recording.stop()
        #expect(Array(result.streams.keys) == ["chassis.a"])
        #expect(try result.only("a").allSatisfy { $0.x == 1 })
    }

    /// What is recorded may be for a replay with other detectors.
    @Test func aConfiguredSensorNeedsNoDetectorToBeRecorded() async throws {
        let station = try MockStation()
        try station.add(.polled("accel", 0, name: "accel_3d", raw: [1, 2, 3], scale: "1"))
        let configuration = try station.configuration(
            """
            [sensor.chassis]
            source = "iio"
            match = { name = "accel_3d" }
            """)
        let recording = try station.record("--config", configuration)
        try await recording.waitForRows(1)
        #expect(Array(try await recording.stop().streams.keys) == ["chassis.a"])
    }

    /// One of two goes: the other goes on, and the station says that one is left; then none.
    @Test func oneOfTwoIsLeftAndThenNone() async throws {
        let station = try MockStation()
        let first = MockDevice.polled("accel", 0, name: "lid", raw: [1, 0, 0], scale: "1")
        let second = MockDevice.polled("accel", 1, name: "base", raw: [2, 0, 0], scale: "1")
        try station.add(first, second)
        let recording = try station.record()
        try await recording.waitForSample(of: "a") { $0.x == 1 }
        try await recording.waitForSample(of: "a") { $0.x == 2 }
        try station.unplug(first)
        try await recording.program.waitForMessage("sensor.inactive", "lid", "active 1")
        try await recording.program.waitForMessage("sensors.one_left")
        try station.setAttribute("in_accel_x_raw", of: second, to: "5")
        try await recording.waitForSample(of: "a") { $0.x == 5 }
        try station.unplug(second)
        try await recording.program.waitForMessage("sensor.inactive", "base", "active 0")
        try await recording.program.waitForMessage("sensors.none_left")
        try station.add(first)
        try await recording.program.waitForMessage("sensor.active", "lid")
        let result = try await recording.stop()
        #expect(result.streams.count == 2)
    }

    /// A sensor that loses its device and the spare one with it waits, and does not spin.
    @Test func whoHasNoDeviceLeftSleeps() async throws {
        let station = try MockStation()
        let devices = (0..<2).map { MockDevice.polled("accel", $0, name: "accel_3d", raw: [1, 2, 3], scale: "1") }
        for device in devices { try station.add(device) }
        let configuration = try station.configuration(
            """
            [sensor.chassis]
            source = "iio"
            match = { name = "accel_3d" }
            [motion.moved]
            accelerometer = "chassis"
            """)
        let recording = try station.record("--config", configuration)
        try await recording.waitForRows(1)
        for device in devices { try station.unplug(device) }
        try await recording.program.waitForMessage("sensor.inactive", "chassis")
        // That it sleeps is seen in what it has used of the processor after a while.
        let before = recording.program.processorTicks
        try await Task.sleep(for: .seconds(2))
        #expect(recording.program.processorTicks - before < 50)
        try station.add(devices[1])
        try await recording.program.waitForMessage("sensor.active", "chassis")
        _ = try await recording.stop()
    }

    /// An input device comes back under another number, too.
    @Test func anInputDeviceComesBack() async throws {
        let station = try MockStation()
        let device = MockDevice.evdev(1, name: "tilt", values: [100, 0, 1000])
        try station.add(device)
        let recording = try station.record()
        try await recording.waitForRows(1)
        try station.unplug(device, hangsUp: true)
        try await recording.program.waitForMessage("sensor.inactive", "tilt")
        try station.add(.evdev(6, name: "tilt", values: [-100, 0, 1000]))
        try await recording.program.waitForMessage("sensor.active", "tilt")
        try await recording.waitForSample(of: "a") { $0.x < 0 }
        #expect(try await recording.stop().streams.count == 1)
    }

    /// Light and proximity that come after the start, or come back, of each place where they are searched for.
    @Test func desktopsSeeLightAndProximityThatComeLater() async throws {
        let bus = try PrivateBus()
        let station = try MockStation(environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address])
        let configuration = try station.configuration("[dbus]\nclaims = \"group\"\ngroup = \"root\"\n")
        let program = try station.start(["run", "--config", configuration])
        func wait(for property: String, toBe value: Bool) async throws {
            try await program.waitUntil("\(property) is \(value)") {
                try bus.call(
                    "net.hadess.SensorProxy", "/net/hadess/SensorProxy", "org.freedesktop.DBus.Properties.Get",
                    "net.hadess.SensorProxy", property
                ).contains("<\(value)>")
            }
        }
        var light = MockDevice.iio(0, name: "als")
        light.attributes["in_illuminance_raw"] = "17"
        var proximity = MockDevice.iio(1, name: "prox")
        proximity.attributes["in_proximity_raw"] = "3"
        proximity.attributes["in_proximity_nearlevel"] = "100"
        var laptop = MockDevice(path: "/devices/platform/applesmc.768/hwmon/hwmon3")
        laptop.subsystem = "hwmon"
        laptop.attributes["light"] = "(51,0)"
        var lid = MockDevice.evdev(2, name: "lid", hasProperty: false, isTagged: false)
        // SW_FRONT_PROXIMITY is bit 11.
        lid.parent?.attributes["capabilities/sw"] = "800"

        try await wait(for: "HasAmbientLight", toBe: false)
        for (device, property) in [
            (light, "HasAmbientLight"), (proximity, "HasProximity"), (light.renumbered(4), "HasAmbientLight"),
            (lid, "HasProximity"),
        ] {
            try station.add(device)
            try await wait(for: property, toBe: true)
            try station.unplug(device)
            try await wait(for: property, toBe: false)
        }
        try station.add(laptop)
        try await wait(for: "HasAmbientLight", toBe: true)
        program.interrupt()
        #expect(try await program.status() == 0)
    }

    /// A device that a person names on the command line.
    @Test func onlyTheNamedSensorIsRecorded() async throws {
        let station = try MockStation()
        try station.add(
            .polled("accel", 0, name: "lid", raw: [1, 0, 0], scale: "1"),
            .polled("accel", 1, name: "base", raw: [2, 0, 0], scale: "1"))
        let recording = try station.record("--sensor", "base")
        try await recording.waitForRows(1)
        let result = try await recording.stop()
        #expect(Array(result.streams.keys) == ["base.a"])
        #expect(try result.only("a").allSatisfy { $0.x == 2 })
    }
}

import Foundation
import TestSupport
import Testing

/// Which devices are found, and what is said of them.
@Suite(.fewAtATime) struct DiscoveryTests {
    private let channels = ScanChannel.axes("accel", "le:s32/32>>0")

    /// Corner cases 1 and 7: what sysfs says is shown as it stands there.
    @Test func anAccelerometerAndAMagnetometerAreListed() async throws {
        let station = try MockStation()
        let accelerometer = MockDevice.buffered("accel", 0, name: "accel_3d", channels: channels)
        try station.add(accelerometer, .polled("magn", 1, name: "magn_3d", raw: [200, 0, -450], scale: "0.001"))
        let result = try await station.run("devices", "--json")
        #expect(result.status == 0)
        let devices = try ListedDevice.list(result.output)
        try #require(devices.map(\.name) == ["accel_3d", "magn_3d"])
        #expect(devices[0].source == "iio")
        #expect(devices[0].kinds == ["accelerometer"])
        #expect(devices[0].node == "/dev/iio:device0")
        #expect(devices[0].path == "/sys\(accelerometer.path)")
        #expect(devices[0].mode == "buffer")
        #expect(devices[0].state == "ready")
        #expect(devices[0].reason == nil)
        #expect(devices[0].rateHz == 100)
        let axes = devices[0].channels.filter { $0.name.hasPrefix("in_accel_") }
        #expect(axes.map(\.name) == ["in_accel_x", "in_accel_y", "in_accel_z"])
        for axis in axes {
            #expect(axis.type == "le:s32/32>>0")
            #expect(axis.scale == 0.00980665)
            #expect(axis.offset == 0)
        }
        #expect(devices[1].kinds == ["magnetometer"])
        #expect(devices[1].mode == "poll")
        #expect(devices[1].state == "ready")
        // The keys stand in the order that is promised, in every line.
        let keys = [
            "name", "source", "kinds", "node", "path", "id", "label", "location", "mode", "channels", "rate_hz",
            "mount_matrix", "mount_matrix_from", "state", "reason",
        ]
        for line in result.lines {
            let places = keys.map { line.range(of: "\"\($0)\":", options: $0 == "name" ? [] : .backwards)?.lowerBound }
            #expect(!places.contains(nil), "\(line)")
            #expect(places.compactMap { $0 }.sorted() == places.compactMap { $0 }, "\(line)")
        }
    }

    /// The list for people says the same.
    @Test func theListForPeopleNamesEveryDevice() async throws {
        let station = try MockStation()
        try station.add(
            .buffered("accel", 0, name: "accel_3d", channels: channels),
            .polled("magn", 1, name: "magn_3d", raw: [0, 0, 0]), .evdev(3, name: "tilt sensor"))
        let result = try await station.run("devices")
        #expect(result.status == 0)
        for word in ["accel_3d", "magn_3d", "tilt sensor", "/dev/iio:device0", "/dev/input/event3"] {
            #expect(result.output.contains(word), "\(word)")
        }
    }

    /// D8: the first accelerometer is not the only one.
    @Test func twoOfATypeAreTwoDevices() async throws {
        let station = try MockStation()
        try station.add(
            .buffered("accel", 0, name: "accel_3d", channels: channels),
            .buffered("accel", 1, name: "accel_3d", channels: channels))
        let devices = try await station.devices()
        #expect(devices.map(\.name) == ["accel_3d", "accel_3d"])
        #expect(Set(devices.map(\.id)).count == 2)
        #expect(devices.map(\.node) == ["/dev/iio:device0", "/dev/iio:device1"])
    }

    /// Two devices that nothing but their number tells apart have two identities, too.
    @Test func twinsBelowOneParentAreTwoDevices() async throws {
        let station = try MockStation()
        let first = MockDevice.polled("accel", 0, name: "twin", raw: [0, 0, 1000])
        try station.add(first, first.renumbered(1))
        #expect(Set(try await station.devices().map(\.id)).count == 2)
    }

    struct Marks: CustomTestStringConvertible {
        let hasProperty: Bool
        let isTagged: Bool
        let isFound: Bool
        var testDescription: String { "property \(hasProperty), udev \(isTagged)" }
    }

    /// Corner case 20: some devices have only udev's mark, some only the driver's.
    @Test(arguments: [
        Marks(hasProperty: true, isTagged: true, isFound: true),
        Marks(hasProperty: true, isTagged: false, isFound: true),
        Marks(hasProperty: false, isTagged: true, isFound: true),
        Marks(hasProperty: false, isTagged: false, isFound: false),
    ])
    func anInputDeviceIsAnAccelerometerByEitherMark(_ marks: Marks) async throws {
        let station = try MockStation()
        try station.add(.evdev(2, name: "tilt", hasProperty: marks.hasProperty, isTagged: marks.isTagged))
        let devices = try await station.devices()
        try #require(devices.count == (marks.isFound ? 1 : 0))
        guard let device = devices.first else { return }
        #expect(device.name == "tilt")
        #expect(device.source == "evdev")
        #expect(device.mode == "evdev")
        #expect(device.node == "/dev/input/event2")
        #expect(device.kinds == ["accelerometer"])
        #expect(device.state == "ready")
    }

    /// Corner case 20: `js0` of the same device, and the joystick of the same controller.
    @Test func joystickSiblingsAreLeftOut() async throws {
        let station = try MockStation()
        let sensor = MockDevice.evdev(4, name: "Controller Motion Sensors")
        var node = sensor
        node.parent = nil
        node.path = (sensor.path as NSString).deletingLastPathComponent + "/js0"
        node.node = "input/js0"
        node.properties["DEVNAME"] = "/dev/input/js0"
        node.properties["MINOR"] = "0"
        node.rawAttributes["dev"] = Array("13:0".utf8)
        var stick = MockDevice.evdev(5, name: "Controller", hasProperty: false, isTagged: false)
        stick.properties["ID_INPUT_JOYSTICK"] = "1"
        try station.add(sensor, node, stick)
        #expect(try await station.onlyDevice().node == "/dev/input/event4")
    }

    /// Corner case 17: without units per g there are no m/s².
    @Test func anInputDeviceWithoutResolutionIsUnusable() async throws {
        let station = try MockStation()
        try station.add(.evdev(2, name: "tilt", resolution: 0))
        let device = try await station.onlyDevice()
        #expect(device.state == "unusable")
        #expect(device.reason?.contains("/dev/input/event2") == true, "\(device.reason ?? "")")
        #expect(device.reason?.contains("resolution") == true, "\(device.reason ?? "")")
    }

    /// Corner case 7: a light sensor, derived quantities, peaks, and a sensor of one axis are no accelerometers.
    @Test func whatIsNeitherIsLeftOut() async throws {
        let station = try MockStation()
        var light = MockDevice.iio(0, name: "als")
        light.attributes["in_illuminance_raw"] = "17"
        var linear = MockDevice.iio(1, name: "linear")
        var gravity = MockDevice.iio(2, name: "gravity")
        var peak = MockDevice.iio(3, name: "peak")
        for axis in ["x", "y", "z"] {
            linear.attributes["in_accel_linear_\(axis)_raw"] = "1"
            gravity.attributes["in_gravity_\(axis)_raw"] = "1"
            peak.attributes["in_accel_\(axis)_peak_raw"] = "1"
        }
        var single = MockDevice.iio(4, name: "single")
        single.attributes["in_accel_x_raw"] = "1"
        try station.add(light, linear, gravity, peak, single)
        #expect(try await station.devices().isEmpty)
    }

    @Test func labelAndLocationAreShown() async throws {
        let station = try MockStation()
        var base = MockDevice.polled("accel", 0, name: "accel_3d", raw: [0, 0, 1000])
        base.attributes["label"] = "accel-base"
        var lid = MockDevice.polled("accel", 1, name: "cros-ec-accel", raw: [0, 0, 1000])
        lid.attributes["location"] = "lid"
        try station.add(base, lid)
        let devices = try await station.devices()
        #expect(devices.map(\.label) == ["accel-base", nil])
        #expect(devices.map(\.location) == ["base", "lid"])
    }

    /// Corner case 13: the order of devices changes from boot to boot.
    @Test func theIdentityStaysWhenDevicesAreRenumbered() async throws {
        let accelerometer = MockDevice.polled("accel", 0, name: "accel_3d", raw: [0, 0, 1000])
        let magnetometer = MockDevice.polled("magn", 1, name: "magn_3d", raw: [0, 0, 400])
        let before = try MockStation()
        try before.add(accelerometer, magnetometer)
        let after = try MockStation()
        try after.add(accelerometer.renumbered(1), magnetometer.renumbered(0))
        func identities(_ station: MockStation) async throws -> [String: String] {
            Dictionary(uniqueKeysWithValues: try await station.devices().map { ($0.name, $0.id) })
        }
        let identitiesBefore = try await identities(before)
        #expect(identitiesBefore == (try await identities(after)))
        #expect(identitiesBefore.count == 2)
    }

    /// A name is a driver's, and a USB device chooses its own: whatever it says reaches no terminal.
    @Test(arguments: [
        Array("\u{1B}]0;title\u{07}\u{1B}[31mred".utf8), Array("two\nlines\r\nand a\ttab".utf8),
        [0xFF, 0xFE, 0x80, 0x41],
        Array(repeating: UInt8(ascii: "x"), count: 3000), Array("\"quoted\" \\ and {braces}".utf8),
        Array("umlaut \u{85}\u{202E}äöü".utf8),
    ])
    func hostileNamesAreTamed(_ name: [UInt8]) async throws {
        let station = try MockStation()
        var device = MockDevice.polled("accel", 0, name: "", raw: [0, 0, 1000])
        device.attributes["name"] = nil
        device.rawAttributes["name"] = name + [0x0A]
        try station.add(device)
        let listed = try await station.run("devices", "--json")
        #expect(listed.status == 0)
        #expect(listed.lines.count == 1)
        #expect(try ListedDevice.list(listed.output).count == 1)
        let shown = try await station.run("devices")
        let told = try await station.run("doctor")
        #expect(!listed.output.unicodeScalars.contains { $0.properties.generalCategory == .control && $0 != "\n" })
        for text in [shown.output, shown.errors, told.output, told.errors] {
            let commands = text.unicodeScalars.filter {
                ($0.properties.generalCategory == .control && $0 != "\n") || $0.properties.generalCategory == .format
            }
            #expect(commands.isEmpty, "\(commands.map { String($0.value, radix: 16) })")
        }
    }

    /// Nothing is there: an empty list is an answer, a recording of nothing is not.
    @Test func nothingIsThere() async throws {
        let station = try MockStation()
        let listed = try await station.run("devices", "--json")
        #expect(listed.status == 0)
        #expect(listed.output.isEmpty)
        let told = try await station.run("doctor")
        #expect(told.status == 69)
        let recorded = try await station.run("record", "-o", station.folder + "/none.csv")
        #expect(recorded.status == 69)
        #expect(!recorded.errors.isEmpty)
    }
}

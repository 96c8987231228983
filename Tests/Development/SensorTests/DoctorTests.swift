import Foundation
import TestSupport
import Testing

/// What `binnacle doctor` makes of a machine.
@Suite(.fewAtATime) struct DoctorTests {
    private let accelerometer = MockDevice.polled("accel", 0, name: "accel_3d", raw: [0, 0, 1000])
    private let magnetometer = MockDevice.polled("magn", 1, name: "magn_3d", raw: [200, 0, -400], scale: "0.001")

    @Test func aPairMakesHeadingsPossible() async throws {
        let station = try MockStation()
        try station.add(accelerometer, magnetometer)
        let result = try await station.run("doctor")
        #expect(result.status == 0, "\(result.output)")
        #expect(result.output.contains("accel_3d") && result.output.contains("magn_3d"), "\(result.output)")
        #expect(result.output.contains("\npossible: headings"), "\(result.output)")
    }

    /// Motion needs an accelerometer alone; without one there is nothing.
    @Test func anAccelerometerIsEnough() async throws {
        for (device, status) in [(accelerometer, 0), (magnetometer, 69)] as [(MockDevice, Int32)] {
            let station = try MockStation()
            try station.add(device)
            let result = try await station.run("doctor")
            #expect(result.status == status, "\(result.output)")
            #expect(result.output.contains(device.attributes["name"] ?? "?"))
        }
    }

    /// What is there and cannot be used makes no pair, and the reason is told.
    @Test func anUnusableHalfIsNoPair() async throws {
        let station = try MockStation()
        var broken = magnetometer
        broken.attributes["in_magn_scale"] = "0"
        try station.add(accelerometer, broken)
        let result = try await station.run("doctor")
        #expect(result.status == 0)
        #expect(result.output.contains("in_magn_scale"), "\(result.output)")
        #expect(result.output.contains("not possible: headings"), "\(result.output)")
    }

    /// A kind without three axes of raw values is left out, and that is told.
    @Test(arguments: [("z_raw", "no axis but x and y"), ("raw", "processed values alone, such as in_magn_x_input")])
    func anIncompleteDeviceIsTold(missing: String, words: String) async throws {
        let station = try MockStation()
        var flat = magnetometer
        for axis in ["x", "y", "z"] where "in_magn_\(axis)_raw".hasSuffix(missing) {
            let value = flat.attributes.removeValue(forKey: "in_magn_\(axis)_raw")
            if missing == "raw" { flat.attributes["in_magn_\(axis)_input"] = value }
        }
        try station.add(accelerometer, flat)
        let result = try await station.run("doctor")
        #expect(result.output.contains("magn_3d") && result.output.contains(words), "\(result.output)")
    }

    /// A matrix that is no rotation changes every value.
    @Test func aMatrixThatStretchesIsTold() async throws {
        for (matrix, isTold) in [("0.7, -0.7, 0; 0.7, 0.7, 0; 0, 0, 1", false), ("1, 0, 0; 0, 1.5, 0; 0, 0, 1", true)] {
            let station = try MockStation()
            var stretched = accelerometer
            stretched.attributes["in_accel_mount_matrix"] = matrix
            try station.add(stretched)
            let result = try await station.run("doctor")
            #expect(result.output.contains("changes lengths or angles by up to 50 %") == isTold, "\(result.output)")
        }
    }

    /// Single values are read as often as the configuration says.
    @Test(arguments: [("", true), ("update_interval_s = 0.05", false), ("update_interval_s = 0.2", true)])
    func aDeviceThatIsReadTooSlowlyIsTold(key: String, isSlow: Bool) async throws {
        let station = try MockStation()
        try station.add(accelerometer)
        let configuration = try station.configuration(
            """
            [sensor.belt]
            source = "iio"
            match = { name = "accel_3d" }
            \(key)
            [steps.walked]
            accelerometer = "belt"
            """)
        let result = try await station.run("doctor", "--config", configuration)
        #expect(result.output.contains("TOO SLOW") == isSlow, "\(result.output)")
    }

    /// A chip of 2 g shows no shock along one axis, and one of 8 bits motion at rest.
    @Test(arguments: [
        ("le:s16/16>>0", "0.000598", true, false), ("le:s16/16>>0", "0.0024", false, false),
        ("le:s8/8>>0", "0.4632", false, true),
    ])
    func whatAChipDoesNotShowIsTold(type: String, scale: String, isSmall: Bool, isCoarse: Bool) async throws {
        let station = try MockStation()
        try station.add(.buffered("accel", 0, name: "chip", channels: ScanChannel.axes("accel", type), scale: scale))
        let result = try await station.run("doctor")
        let shock = "\nnot reliable: a shock along one axis, which measures up to 2.0 g"
        #expect(result.output.contains(shock) == isSmall, "\(result.output)")
        let motion = "\nnot reliable: motion with the default release_g, 0.025 g: its values are 0.047 g apart"
        #expect(result.output.contains(motion) == isCoarse, "\(result.output)")
    }

    /// Base and lid of a laptop turn without each other, and a controller without both.
    @Test func thePairTurnsTogether() async throws {
        let station = try MockStation()
        var base = MockDevice.polled("accel", 0, name: "base_accel", raw: [0, 0, 1000])
        base.attributes["location"] = "base"
        var lid = MockDevice.polled("accel", 1, name: "lid_accel", raw: [0, 0, 1000])
        lid.attributes["location"] = "lid"
        var compass = MockDevice.polled("magn", 2, name: "lid_magn", raw: [200, 0, -400], scale: "0.001")
        compass.attributes["location"] = "lid"
        try station.add(.evdev(3, name: "DualSense Wireless Controller Motion Sensors"), base, lid, compass)
        let result = try await station.run("doctor")
        #expect(
            result.output.contains("a usable pair: accelerometer lid_accel, magnetometer lid_magn"), "\(result.output)")
        let configuration = try station.configuration(
            """
            [sensor.chassis]
            source = "auto"
            [sensor.compass]
            source = "auto"
            [north.bow]
            accelerometer = "chassis"
            magnetometer = "compass"
            """)
        let configured = try await station.run("doctor", "--config", configuration)
        #expect(configured.output.contains("(accelerometer): lid_accel"), "\(configured.output)")
    }

    /// How a controller is held says nothing of a screen.
    @Test(arguments: [
        ("Steam Deck Motion Sensors", "usb", true), ("ST LIS3LV02DL", nil, false),
        ("DualSense Wireless Controller Motion Sensors", "usb", false), ("Motion Sensors", "bluetooth", false),
        ("Joy-Con (L) IMU", "usb", false), ("Accelerometer", nil, true),
    ])
    func aControllerIsNotInAScreen(name: String, bus: String?, isFound: Bool) async throws {
        let station = try MockStation()
        var device = MockDevice.evdev(3, name: name)
        device.properties["ID_BUS"] = bus
        try station.add(device)
        let configuration = try station.configuration(
            """
            [sensor.lid]
            source = "auto"
            [orientation.screen]
            accelerometer = "lid"
            """)
        let result = try await station.run("doctor", "--config", configuration)
        #expect(result.output.contains("(accelerometer): MISSING") != isFound, "\(result.output)")
    }

    /// udev's hardware database has the level of a telephone whose device tree has none.
    @Test(arguments: [(nil, false), ("120", true), ("0", false)])
    func theLevelOfProximityMayComeFromUdev(level: String?, isFound: Bool) async throws {
        let station = try MockStation()
        var device = MockDevice.iio(7, name: "stk3310")
        device.attributes["in_proximity_raw"] = "7"
        device.properties["PROXIMITY_NEAR_LEVEL"] = level
        try station.add(device)
        let configuration = try station.configuration("[proximity.ear]")
        let result = try await station.run("doctor", "--config", configuration)
        #expect(result.output.contains("(proximity): found") == isFound, "\(result.output)")
        #expect(result.output.contains("(proximity): MISSING") != isFound, "\(result.output)")
    }

    /// A chip serves two sections: the accelerometer's, and that of the magnetometer for which no device is left.
    @Test(arguments: [("", true), ("polling = true", false)])
    func aMagnetometerOnTheAccelerometersChipIsFound(key: String, isShared: Bool) async throws {
        let station = try MockStation()
        var chip = accelerometer
        for axis in ["x", "y", "z"] { chip.attributes["in_magn_\(axis)_raw"] = "1" }
        chip.attributes["in_magn_scale"] = "0.001"
        try station.add(chip)
        let configuration = try station.configuration(
            """
            [sensor.compass]
            source = "auto"
            \(key)
            [sensor.chassis]
            source = "auto"
            [north.bow]
            accelerometer = "chassis"
            magnetometer = "compass"
            """)
        let result = try await station.run("doctor", "--config", configuration)
        #expect(result.output.contains("accel_3d, the device of sensor 'chassis'") == isShared, "\(result.output)")
        #expect(result.output.contains("MISSING") != isShared, "\(result.output)")
    }

    /// An accelerometer of the input layer counts as well.
    @Test func aPairMayBeOfTwoSubsystems() async throws {
        let station = try MockStation()
        try station.add(.evdev(3, name: "tilt"), magnetometer)
        let result = try await station.run("doctor")
        #expect(result.status == 0, "\(result.output)")
        #expect(result.output.contains("tilt"))
    }
}

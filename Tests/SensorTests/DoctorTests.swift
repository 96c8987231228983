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

    /// An accelerometer of the input layer counts as well.
    @Test func aPairMayBeOfTwoSubsystems() async throws {
        let station = try MockStation()
        try station.add(.evdev(3, name: "tilt"), magnetometer)
        let result = try await station.run("doctor")
        #expect(result.status == 0, "\(result.output)")
        #expect(result.output.contains("tilt"))
    }
}

import Binnacle
import TableReading
import TestSupport
import Testing

import Configuration
import LinuxSensors

/// [orientation.NAME] and [hinge.NAME].
@Suite struct ScreenSectionTests {
    private let lid = "[sensor.lid]\nsource = \"auto\"\n"
    private let keyboard = "[sensor.keyboard]\nsource = \"auto\"\nmatch = { location = \"base\" }\n"
    private let hinge = "[hinge.laptop]\ndisplay = \"lid\"\nbase = \"keyboard\"\n"

    @Test func theDefaultsAreThoseOfADesktop() throws {
        let configuration = try parse(lid + "[orientation.screen]\naccelerometer = \"lid\"\n")
        let section = try #require(configuration.orientations.first)
        var expected = OrientationSettings()
        expected.frame = .desktop
        expected.learnsLength = true
        #expect(section.settings == expected)
        #expect(section.hinge == nil)
        #expect(configuration.needs.map(\.by) == ["orientation.screen"])
        #expect(configuration.summary.contains("1 orientation detector"))
    }

    @Test func everyKeyIsRead() throws {
        let configuration = try parse(
            lid + keyboard + """
                [hinge.laptop]
                display = "lid"
                base = "keyboard"
                switch = true
                dwell_s = 1
                angle_filter_deg = 5
                gate_g = 0.3
                gap_s = 2
                frame = "desktop"
                [orientation.screen]
                accelerometer = "lid"
                frame = "device"
                only_in = ["tablet", "tent"]
                dwell_s = 0
                hysteresis_deg = 5
                gate_g = 0.1
                gap_s = 3
                """)
        var screen = OrientationSettings()
        screen.postures = [.tablet, .tent]
        screen.learnsLength = true
        (screen.dwell, screen.hysteresisDegrees, screen.gateG, screen.gapLimit) = (.zero, 5, 0.1, .seconds(3))
        #expect(configuration.orientations.map(\.settings) == [screen])
        #expect(configuration.orientations.map(\.hinge) == ["laptop"])
        var angle = HingeSettings()
        (angle.dwell, angle.filterDegrees, angle.gateG, angle.gapLimit) = (.seconds(1), 5, 0.3, .seconds(2))
        angle.frame = .desktop
        #expect(configuration.hinges.map(\.settings) == [angle])
        #expect(configuration.hinges.map(\.hasSwitch) == [true])
    }

    /// A device is asked for ten samples a second where nothing needs more, and its own rate is the user's.
    @Test func aScreenAloneIsReadSlowly() throws {
        let screen = "[orientation.screen]\naccelerometer = \"lid\"\n"
        func rates(_ text: String) throws -> [Double] {
            try parse(text).sensors.map { $0.settings.rateHz(for: [.accelerometer]) }
        }
        #expect(try rates(lid + screen) == [10])
        #expect(try rates(lid + "rate_hz = 50\n" + screen) == [50])
        #expect(try rates(lid + screen + "[motion.moved]\naccelerometer = \"lid\"\n") == [100])
        #expect(try rates(lid + "[motion.moved]\naccelerometer = \"lid\"\n") == [100])
        #expect(try rates(lid + "[motion.moved]\naccelerometer = \"lid\"\ndetect = [\"motion\"]\n") == [50])
        #expect(try rates(lid + keyboard + hinge) == [10, 10])
    }

    /// Each kind has its need; a device that gives several together is asked for the highest.
    @Test func aHeadingNeedsADifferentRateOfEachSensor() throws {
        let compass = "[sensor.compass]\nsource = \"auto\"\n"
        let north = "[north.bow]\naccelerometer = \"lid\"\nmagnetometer = \"compass\"\n"
        let sensors = try parse(lid + compass + north).sensors
        #expect(sensors[0].settings.neededRatesHz == [.accelerometer: 50, .gyroscope: 100])
        #expect(sensors[0].settings.rateHz(for: [.accelerometer]) == 50)
        #expect(sensors[0].settings.rateHz(for: [.accelerometer, .gyroscope]) == 100)
        #expect(sensors[1].settings.neededRatesHz == [.magnetometer: 25])
        let bare = try parse(lid + compass + north + "gyroscope = \"none\"\n").sensors
        #expect(bare[0].settings.neededRatesHz == [.accelerometer: 25])
        let rated = try parse(lid + "rate_hz = 200\n" + compass + north).sensors
        #expect(rated[0].settings.rateHz(for: [.accelerometer, .gyroscope]) == 200)
        #expect(rated[1].settings.rateHz(for: [.magnetometer]) == 25)
    }

    /// What a sensor is turned about by for headings is undone for a desktop's orientation.
    @Test func theSignOfTheSensorIsKnown() throws {
        let screen = "[orientation.screen]\naccelerometer = \"lid\"\n"
        #expect(try parse(lid + screen).orientations[0].settings.isReversed == false)
        #expect(try parse(lid + "acceleration = \"gravity\"\n" + screen).orientations[0].settings.isReversed)
    }

    @Test func anyDeviceIsNoneThatIsNotInAScreen() throws {
        let screen = "[orientation.screen]\naccelerometer = \"lid\"\n"
        guard case .auto(let match) = try parse(lid + screen).sensors[0].source else {
            Issue.record("another source")
            return
        }
        #expect(match.isInScreen)
        guard case .auto(let own) = try parse(lid + "match = { name = \"a\" }\n" + screen).sensors[0].source else {
            Issue.record("another source")
            return
        }
        #expect(!own.isInScreen)
    }

    @Test func whatDoesNotFitTogetherIsRefused() {
        let screen = "[orientation.screen]\naccelerometer = \"lid\"\n"
        func told(_ text: String) -> [String] { problems(text).map(\.description) }
        #expect(
            told(lid + screen + "only_in = [\"tablet\"]\n") == [
                "t.toml:5:1: only_in needs a section [hinge.NAME], which knows the posture (its `switch = true` is enough)"
            ])
        #expect(
            told(lid + "[hinge.laptop]\ndisplay = \"lid\"\n") == [
                "t.toml:3:1: [hinge.laptop] has no `base` (the angle needs a sensor in each part; `switch = true` does "
                    + "without both)"
            ])
        #expect(
            told(lid + "[hinge.laptop]\ndisplay = \"lid\"\nbase = \"lid\"\n") == [
                "t.toml:5:1: base names the same sensor as `display` (each part has an accelerometer of its own)"
            ])
        #expect(
            told(lid + screen + "hysteresis_deg = 3\n") == [
                "t.toml:5:1: hysteresis_deg (3.0) is not between 5.0 and 30.0"
            ])
        #expect(
            told(lid + screen + "[motion.screen]\naccelerometer = \"lid\"\n").first?
                .contains("two detectors are named `screen`") == true)
    }

    @Test func aHingeThatOnlyAnOrientationUsesNeedsNoHandler() throws {
        let configuration = try parse(
            lid + keyboard + hinge + """
                [orientation.screen]
                accelerometer = "lid"
                only_in = ["tablet"]
                [handler.log]
                on = ["orientation.changed"]
                log = true
                """)
        #expect(configuration.warnings.isEmpty, "\(configuration.warnings)")
    }

    @Test func aHingeThatIsSwitchedOffWithItsSensorLeavesItsPlace() throws {
        let configuration = try parse(
            lid + keyboard + "enabled = false\n" + hinge + "[orientation.screen]\naccelerometer = \"lid\"\n")
        #expect(configuration.hinges.isEmpty)
        #expect(configuration.orientations.count == 1)
        #expect(configuration.notices.count == 1)
    }
}

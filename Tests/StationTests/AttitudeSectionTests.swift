import Binnacle
import BinnacleHeading
import Configuration
import TableReading
import TestSupport
import Testing

/// [attitude.NAME].
@Suite struct AttitudeSectionTests {
    private let imu = "[sensor.imu]\nsource = \"auto\"\n"
    private let hull = "[attitude.hull]\naccelerometer = \"imu\"\n"

    private func told(_ text: String) -> [String] { problems(text).map(\.description) }

    @Test func everyKeyIsRead() throws {
        let configuration = try parse(
            imu + hull + """
                magnetometer = "imu"
                gyroscope = "none"
                frame = "enu"
                forward_axis = "+x"
                up_axis = "-y"
                attitude_filter_deg = 0.5
                heel_deg = 30
                pitch_deg = 12
                hysteresis_deg = 2
                dwell_s = 0.2
                smoothing_s = 1
                hard_iron_uT = 0
                accuracy_limit_deg = 20
                gap_s = 3
                """)
        var settings = AttitudeSettings()
        (settings.frame, settings.forwardAxis, settings.upAxis) = (.enu, .plusX, .minusY)
        (settings.filterDegrees, settings.heelDegrees, settings.pitchDegrees) = (0.5, 30, 12)
        (settings.hysteresisDegrees, settings.dwell, settings.smoothing) = (2, .milliseconds(200), .seconds(1))
        (settings.uncalibratedIronMicrotesla, settings.accuracyLimitDegrees) = (0, 20)
        settings.gapLimit = .seconds(3)
        let section = try #require(configuration.attitudes.first)
        #expect(section.settings == settings && section.magnetometer == "imu" && section.gyroscope == .none)
    }

    @Test func itMakesWhatItHasALimitFor() throws {
        let plain = try #require(try parse(imu + hull).attitudes.first)
        #expect(plain.makes(.attitudeChanged) && !plain.makes(.heelBegan) && !plain.makes(.pitchEnded))
        let limited = try #require(try parse(imu + hull + "heel_deg = 30\npitch_deg = false\n").attitudes.first)
        #expect(limited.makes(.heelBegan) && limited.makes(.heelEnded) && !limited.makes(.pitchBegan))
    }

    @Test func onlyAMagnetometerIsForAPlace() throws {
        let position = "[position]\nlatitude_deg = 54.32\nlongitude_deg = 10.14\n"
        let placed = try parse(position + imu + hull + "magnetometer = \"imu\"\n").placed(today: nil).configuration
        #expect(placed.attitudes.first?.settings.localField?.declinationDegrees != nil)
        let relative = try parse(position + imu + hull).placed(today: nil).configuration
        #expect(relative.attitudes.first?.settings.localField == nil)
    }

    @Test func mistakesAreTold() {
        #expect(told(imu + "[attitude.hull]\n").contains { $0.contains("has no `accelerometer`") })
        #expect(told(imu + hull + "magnetometer = \"mast\"\n").contains { $0.contains("no sensor `mast`") })
        #expect(
            told(imu + hull + "up_axis = \"-y\"\n").contains {
                $0.hasSuffix("up_axis lies along forward_axis (+y): a body has two different axes")
            })
        #expect(
            told(imu + hull + "heel_deg = 4\n").contains { $0.contains("hysteresis_deg (5.0) is not below heel_deg") })
        #expect(told(imu + hull + "frame = \"nwu\"\n").contains { $0.contains("`frame` cannot be `nwu`") })
    }
}

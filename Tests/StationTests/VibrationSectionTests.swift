import Binnacle
import TableReading
import TestSupport
import Testing

import Configuration

/// [vibration.NAME].
@Suite struct VibrationSectionTests {
    private let sensor = "[sensor.chassis]\nsource = \"auto\"\n"

    private func section(_ configuration: Configuration) throws -> VibrationSection {
        try #require(configuration.detectors.compactMap { $0 as? VibrationSection }.first)
    }

    @Test func everyKeyIsReadAndWritten() throws {
        let text =
            sensor + """
                [vibration.washer]
                accelerometer = "chassis"
                bands = [{ name = "a", from_hz = 5, to_hz = 40, zones_g = [0.1, 1] }, { name = "b", from_hz = 40, to_hz = 80 }]
                axes = "z"
                hysteresis_percent = 10
                dwell_s = 1
                noise_ug_rthz = 300
                chip_bandwidth_hz = 260
                running_g = 0.01
                spinning_g = 0.1
                machine_dwell_s = 5
                idle_s = 60
                learn_days = 7
                learned_spreads = 4

                """
        let section = try section(parse(text))
        var expected = VibrationSettings()
        expected.bands = [
            .init("a", fromHz: 5, toHz: 40, limits: [0.1, 1], isVelocity: false), .init("b", fromHz: 40, toHz: 80),
        ]
        expected.axes = .z
        (expected.hysteresisPercent, expected.dwell) = (10, .seconds(1))
        (expected.noiseMicroG, expected.chipBandwidthHz) = (300, 260)
        (expected.runningG, expected.spinningG) = (0.01, 0.1)
        (expected.machineDwell, expected.idle) = (.seconds(5), .seconds(60))
        (expected.learnDays, expected.learnedSpreads) = (7, 4)
        #expect(section.settings == expected)
        #expect(section.needs.map(\.rateHz) == [80 * 2.56])
        let again = try self.section(parse(sensor + section.lines.joined(separator: "\n") + "\n"))
        #expect(again == section)
    }

    @Test(
        arguments: [
            ("bands = []", "has 0 bands"), ("bands = [3]", "expected a table"),
            ("bands = [{ name = \"a\", from_hz = 5 }]", "has no `to_hz`"),
            ("bands = [{ name = \"a\", from_hz = 1, to_hz = 40 }]", "between 2.0 and 20000"),
            ("bands = [{ name = \"a b\", from_hz = 5, to_hz = 40 }]", "letters, digits"),
            ("bands = [{ name = \"a\", from_hz = 5, to_hz = 40, zones_g = [2, 1] }]", "ascending"),
            ("bands = [{ name = \"a\", from_hz = 5, to_hz = 40, zones_g = [1], zones_mm_s = [1] }]", "stands beside"),
            ("spinning_g = 0.1", "spinning_g needs running_g"),
            ("running_g = 0.2\nspinning_g = 0.1", "has to be above running_g"),
            ("learn_days = 0", "has to be a number above 0"),
            ("learn_days = 0.0005", "is a minute or less, after which nothing is known to be unusual"),
        ] as [(String, String)])
    func whatIsWrongIsSaid(line: String, message: String) {
        let found = problems(sensor + "[vibration.washer]\naccelerometer = \"chassis\"\n" + line + "\n")
        #expect(found.contains { "\($0)".contains(message) }, "\(found)")
    }

    @Test func aRateWithFewerSamplesThanASecondNeedsIsAWarning() throws {
        let text = "bands = [{ name = \"a\", from_hz = 2, to_hz = 5 }]\n"
        let slow = sensor.replacing("[sensor.chassis]\n", with: "[sensor.chassis]\nrate_hz = 12\n")
        let found = try parse(slow + "[vibration.washer]\naccelerometer = \"chassis\"\n" + text).warnings
        #expect(found.contains { "\($0)".contains("at least 16 samples a second") }, "\(found)")
    }

    @Test func aLimitBelowTheNoiseIsAWarning() throws {
        let text = """
            bands = [{ name = "a", from_hz = 10, to_hz = 1000, zones_mm_s = [0.1] }]
            noise_ug_rthz = 300

            """
        let found = try parse(sensor + "[vibration.washer]\naccelerometer = \"chassis\"\n" + text).warnings
        #expect(found.contains { "\($0)".contains("lies below the chip's noise in it (0.2552)") }, "\(found)")
    }
}

import TableReading
import Testing

import Configuration

/// Keys that have no effect, and settings that can never do what they are for.
@Suite struct EffectWarningTests {
    private static func told(_ text: String, _ word: String) throws -> [String] {
        try parse(text).warnings.map(\.message).filter { $0.contains(word) }
    }

    private static func sensor(_ lines: String = "") -> String { "[sensor.s]\nsource = \"auto\"\n\(lines)" }

    private static func detector(_ kind: String, _ lines: String) -> String {
        sensor() + "[\(kind).d]\naccelerometer = \"s\"\n\(lines)"
    }

    private static let keys: [(String, String, String)] = [
        (
            detector("motion", "rotation_dps = 20\n"), "rotation_dps has no effect without \"rotation\" in detect",
            "detect = [\"rotation\"]\n"
        ),
        (
            detector("motion", "detect = [\"shock\"]\nquiet_s = 3\n"),
            "quiet_s has no effect without \"motion\" or \"rotation\" in detect", "watch = \"auto\"\n"
        ),
        (
            detector("vibration", "idle_s = 60\n"), "idle_s has no effect without running_g", "running_g = 0.01\n"
        ),
        (
            detector("vibration", "machine_dwell_s = 5\n"), "machine_dwell_s has no effect without running_g",
            "running_g = 0.01\n"
        ),
        (
            detector("vibration", "learned_spreads = 4\n"), "learned_spreads has no effect without learn_days",
            "learn_days = 7\n"
        ),
        (
            detector("attitude", "dwell_s = 1\n"), "dwell_s has no effect without heel_deg or pitch_deg",
            "heel_deg = 20\n"
        ),
        (
            sensor("latency_s = 0\nrest_latency_s = 1\n"), "rest_latency_s has no effect with latency_s = 0", ""
        ),
        (sensor("polling = true\ntrigger = \"t\"\n"), "trigger has no effect with polling = true", ""),
        (
            sensor() + "[dbus]\ngroup = \"root\"\n", "group has no effect without claims = \"group\"",
            "claims = \"group\"\n"
        ),
        (
            detector("motion", "gyroscope = \"none\"\ndetect = [\"rotation\"]\n"),
            "\"rotation\" in detect has no effect with gyroscope = \"none\"", ""
        ),
        (
            detector("motion", "gyroscope = \"none\"\nmeasure = \"linear_acceleration\"\n"),
            "measure = \"linear_acceleration\" has no effect with gyroscope = \"none\"", ""
        ),
        (
            detector("motion", "[handler.m]\non = [\"shake\"]\nmqtt = \"mqtt://a\"\nrequest_topic = \"r\"\n"),
            "request_topic has no effect without [store]", "[store]\npath = \"e.db\"\n"
        ),
    ]

    @Test(arguments: keys)
    func aKeyWithoutEffectIsWarnedOf(text: String, message: String, remedy: String) throws {
        #expect(try Self.told(text, "no effect") == [message])
        if !remedy.isEmpty { #expect(try Self.told(text + remedy, "no effect").isEmpty) }
    }

    /// A model has the rate of its section, as a device has.
    @Test(
        arguments: [
            ("tap", 400.0, true), ("tap", 100, false), ("vibration", 20, false), ("vibration", 50, true),
            ("steps", 5, false), ("steps", 100, true), ("motion", 25, false), ("motion", 50, true),
        ] as [(String, Double, Bool)])
    func theRateOfAModelIsJudged(kind: String, rateHz: Double, isEnough: Bool) throws {
        let text = "[sensor.s]\nsource = \"simulated\"\nrate_hz = \(rateHz)\n[\(kind).d]\naccelerometer = \"s\"\n"
        #expect(try Self.told(text, "needs at least").isEmpty == isEnough)
    }

    @Test(
        arguments: [
            ("rate_hz = 10", 0.09, "at every sample"), ("rate_hz = 10", 0.15, "late or lost"),
            ("rate_hz = 10", 0.2, ""),
            ("update_interval_s = 0.3", 0.25, "at every sample"), ("polling = true", 0.09, "at every sample"),
            ("", 0.2, ""),
        ] as [(String, Double, String)])
    func aGapShorterThanTheIntervalIsWarnedOf(key: String, gap: Double, words: String) throws {
        let text = Self.sensor(key + "\n") + "[motion.d]\naccelerometer = \"s\"\ngap_s = \(gap)\n"
        let told = try Self.told(text, "gap_s")
        #expect(told.count == (words.isEmpty ? 0 : 1) && told.allSatisfy { $0.contains(words) }, "\(told)")
    }

    @Test func aBandThatTheChipDoesNotShowIsWarnedOf() throws {
        let band = "bands = [{ name = \"fan\", from_hz = 80, to_hz = 120 }]\nchip_bandwidth_hz = "
        #expect(try Self.told(Self.detector("vibration", band + "21\n"), "is not measured").count == 1)
        #expect(try Self.told(Self.detector("vibration", band + "90\n"), "is not measured").isEmpty)
    }

    /// A device that has no heading never faces anything, and a handler of that alone does not show why.
    @Test func aLossOfTheHeadingHasToReachAHandler() throws {
        let north = Self.detector("north", "magnetometer = \"s\"\n")
        func handler(_ kinds: String) -> String { "[handler.\(kinds.count)]\non = [\(kinds)]\nlog = true\n" }
        let left = handler("\"north.left\"")
        #expect(try Self.told(north + left, "no handler takes `heading.lost` of [north.d]").count == 1)
        #expect(try Self.told(north + left + handler("\"heading.lost\""), "heading.lost").isEmpty)
        #expect(try Self.told(north + handler("\"heading\""), "heading.lost").isEmpty)
    }
}

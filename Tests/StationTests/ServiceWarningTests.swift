import Configuration
import TableReading
import TestSupport
import Testing

/// The configuration of the service is used in a sandbox, by an account that sees less than root.
@Suite struct ServiceWarningTests {
    private static let text = """
        [sensor.box]
        source = "simulated"
        [motion.moved]
        accelerometer = "box"
        [handler.alarm]
        on = ["motion.began"]
        command = ["/home/pi/alarm.sh"]
        """

    @Test func aProgramInAHomeFolderIsWarnedOf() throws {
        func warnings(_ path: String) throws -> [String] {
            try Configuration.parse(Array(Self.text.utf8), path: path).warnings.map(\.description)
        }
        let missing =
            ":7:12: warning: there is no program `/home/pi/alarm.sh` (until there is, each event for it fails)"
        let hidden =
            ":7:12: warning: the service cannot look into /home (put the file elsewhere: programs into /usr/local/bin, "
            + "data into /var/lib/binnacle)"
        for path in ["/etc/binnacle/binnacle.toml", "/etc/binnacle/conf.d/a.toml"] {
            #expect(try warnings(path) == [path + hidden, path + missing].sorted())
        }
        #expect(try warnings("/home/pi/b.toml") == ["/home/pi/b.toml" + missing])
    }

    /// The service would not start, because it cannot read the file.
    @Test func aCalibrationInAHomeFolderIsWarnedOf() throws {
        let folder = try TemporaryFolder(["compass.toml": "[gyroscope]\noffset_rad_s = [0, 0, 0.01]\n"])
        func warnings(_ calibration: String) throws -> [String] {
            let text = """
                [sensor.box]
                source = "auto"
                calibration = "\(calibration)"
                [motion.moved]
                accelerometer = "box"
                """
            return try Configuration.parse(Array(text.utf8), path: "/etc/binnacle/binnacle.toml").warnings
                .map(\.description)
        }
        #expect(
            try warnings("/home/..\(folder.path)/compass.toml").contains {
                $0.contains(":3:15: warning: the service cannot look into /home")
            })
        // The service has a /tmp of its own.
        let text = "[handler.log]\non = [\"any\"]\nfile = \"/tmp/events.jsonl\"\n"
        let found = try Configuration.parse(Array(text.utf8), path: "/etc/binnacle/binnacle.toml").warnings
        #expect(found.contains { $0.description.contains("cannot look into /tmp: it has one of its own") })
    }
}

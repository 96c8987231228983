import Configuration
import TableReading
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
}

import Foundation
import TestSupport
import Testing

/// `binnacle check` warns of what can be used and will hardly do what was meant.
@Suite struct WarningTests {
    private static let moved = """
        [sensor.box]
        source = "simulated"
        [motion.moved]
        accelerometer = "box"

        """
    /// Five lines.
    private static let log = "[handler.log]\non = [\"motion.began\"]\nlog = true\n"

    /// Sections behind the seven lines of a sensor, a detector and a handler, and the warning.
    private static let cases: [(String, String)] = [
        (
            "[motion.turned]\naccelerometer = \"box\"\nrotation_dps = 20\n",
            "10:1: warning: rotation_dps has no effect without \"rotation\" in detect"
        ),
        (
            "[handler.a]\non = [\"motion.began\"]\ncommand = [\"/nonexistent/alarm\"]\n",
            "10:12: warning: there is no program `/nonexistent/alarm` (until there is, each event for it fails)"
        ),
        (
            "[handler.a]\non = [\"motion.began\"]\ncommand = [\"./alarm\"]\n",
            "10:12: warning: there is no program `DIR/./alarm` (until there is, each event for it fails)"
        ),
        (
            "[handler.a]\non = [\"motion.began\"]\ncommand = [\"./plain\"]\n",
            "10:12: warning: `DIR/./plain` cannot be run (chmod +x DIR/./plain)"
        ),
        (
            "[handler.a]\non = [\"motion.began\"]\ncommand = [\"/usr/bin\"]\n",
            "10:12: warning: `/usr/bin` is a directory and no program"
        ),
        (
            "[handler.a]\non = [\"motion.began\"]\nmqtt = \"mqtt://localhost\"\nuser = \"u\"\npassword_file = \"secret\"\n",
            "12:17: warning: there is no file `DIR/secret`"
        ),
        (
            "[handler.a]\non = [\"motion.began\"]\nmqtt = \"mqtts://localhost\"\nca_file = \"/nonexistent/ca.pem\"\n",
            "11:11: warning: there is no file `/nonexistent/ca.pem`"
        ),
        (
            "[handler.a]\non = [\"motion.began\"]\nfile = \"none/events.jsonl\"\n",
            "10:8: warning: there is no folder `DIR/none` (make it, for the account that Binnacle runs as, or choose "
                + "another path)"
        ),
        (
            "[store]\npath = \"/nonexistent/events.db\"\n",
            "9:8: warning: there is no folder `/nonexistent` (make it, for the account that Binnacle runs as, or choose "
                + "another path)"
        ),
        (
            "[store]\npath = \"sub\"\n",
            "9:8: warning: `DIR/sub` is a directory (the path of a file in it)"
        ),
        (
            "[store]\npath = \"plain/events.db\"\n", "9:8: warning: `DIR/plain` is no folder (choose another path)"
        ),
        (
            "[socket]\npath = \"plain\"\n",
            "9:8: warning: `DIR/plain` is no socket (it is left alone: choose another path)"
        ),
        (
            "[socket]\npath = \"/nonexistent/run/b.sock\"\n",
            "9:8: warning: there is no folder `/nonexistent` (make it, for the account that Binnacle runs as, or choose "
                + "another path)"
        ),
        (
            "[socket]\npath = \"b.sock\"\ngroup = \"no-such-group\"\n",
            "10:9: warning: this machine has no group `no-such-group` (without it the socket is not opened)"
        ),
        (
            "[socket]\npath = \"b.sock\"\nusers = [\"root\", \"no-such-account\"]\n",
            "10:18: warning: this machine has no account `no-such-account` (without it the socket is not opened)"
        ),
        (
            "[sensor.lid]\nsource = \"trace\"\nfile = \"day.csv\"\n[motion.lid]\naccelerometer = \"lid\"\n",
            "10:8: warning: there is no file `DIR/day.csv`"
        ),
        (
            "[sensor.hull]\nsource = \"iio\"\nmatch = { name = \"imu\" }\nmount_matrix = \"1, 0, 0; 0, 1, 0; 0, 0, -1\"\n"
                + "[attitude.hull]\naccelerometer = \"hull\"\n[handler.a]\non = [\"attitude.changed\"]\nlog = true\n",
            "11:1: warning: it has the determinant -1, so that what [attitude.hull] says is right for a chip with reversed signs "
                + "alone (reverse all nine numbers, and say acceleration = \"gravity\" where the accelerometer's signs are reversed)"
        ),
        (
            "[sensor.hull]\nsource = \"iio\"\nmatch = { name = \"imu\" }\nmount_matrix = \"0, 2, 0; 1, 0, 0; 0, 0, 1\"\n"
                + "[motion.hull]\naccelerometer = \"hull\"\n",
            "11:1: warning: it is no rotation: it changes lengths or angles by up to 100 %, and with them every value and threshold "
                + "(each row has the length 1 and is perpendicular to the others; a scale is corrected by 'binnacle calibrate')"
        ),
        (
            "[sensor.lid]\nsource = \"simulated\"\n",
            "8:1: warning: no detector uses the sensor `lid` (sections of detectors, such as [motion.NAME], name the "
                + "sensors that they need)"
        ),
        (
            "[handler.a]\non = [\"motion.began\", \"north.faced\"]\ncommand = [\"/bin/true\"]\n",
            "9:23: warning: [handler.a] never gets `north.faced` (it listens to no [north.NAME], which makes it)"
        ),
        (
            "[handler.a]\non = [\"sensor.inactive\"]\ndetector = [\"moved\"]\nlog = true\n",
            "9:7: warning: [handler.a] never gets `sensor.inactive` (it belongs to no detector, and `detector` asks for "
                + "those of some)"
        ),
        (
            "[motion.fall]\naccelerometer = \"box\"\ndetect = [\"free_fall\"]\n[handler.a]\non = [\"free_fall\", \"shake\"]\n"
                + "detector = [\"fall\"]\nfile = \"events.jsonl\"\n",
            "12:20: warning: [handler.a] never gets `shake` (no [motion.NAME] that it listens to has `shake` in `detect`)"
        ),
        (
            "[position]\nlatitude_deg = 54\nlongitude_deg = 10\n",
            "8:1: warning: no detector uses [position] (it makes the headings of a [north.NAME], "
                + "and of an [attitude.NAME] with a magnetometer, true)"
        ),
        (
            "[motion.fall]\naccelerometer = \"box\"\ndetect = [\"free_fall\"]\n",
            "8:1: warning: no handler takes an event of [motion.fall] (the `on` of a handler names kinds of event that it "
                + "makes)"
        ),
        (
            "[handler.a]\non = [\"motion.began\"]\nfile = \"e.jsonl\"\n"
                + "[handler.b]\non = [\"motion.ended\"]\nfile = \"e.jsonl\"\n",
            "13:1: warning: [handler.b] and [handler.a] have the same file (give each its own `file`)"
        ),
        (
            "[handler.a]\non = [\"motion.began\"]\nmqtt = \"mqtt://localhost\"\n"
                + "[handler.b]\non = [\"motion.ended\"]\nmqtt = \"mqtt://localhost\"\nstate_topic = \"\"\n",
            "11:1: warning: [handler.b] and [handler.a] have the same status topic (give each its own `status_topic`)"
        ),
        (
            "[handler.a]\non = [\"motion.began\"]\nmqtt = \"mqtt://localhost\"\n"
                + "[handler.b]\non = [\"motion.ended\"]\nmqtt = \"mqtt://localhost\"\nstatus_topic = \"b\"\n",
            "11:1: warning: [handler.b] and [handler.a] have the same state topic (give each its own `state_topic`)"
        ),
        (
            "[attitude.hull]\naccelerometer = \"box\"\n[handler.a]\nnmea = \"tcp://0.0.0.0\"\n"
                + "[handler.b]\nsignalk = \"tcp://[::]:10110\"\n",
            "13:1: warning: [handler.b] and [handler.a] have the same TCP port (give each its own `signalk`)"
        ),
        (
            "[handler.a]\non = [\"motion.*\"]\nmqtt = \"mqtt://localhost\"\ndiscovery = \"homeassistant\"\n"
                + "[handler.b]\non = [\"motion.*\"]\nmqtt = \"mqtt://localhost\"\nstatus_topic = \"b\"\n"
                + "state_topic = \"b/{sensor}\"\ndiscovery = \"homeassistant\"\n",
            "17:1: warning: [handler.b] and [handler.a] have the same discovery (one handler of a machine may have it)"
        ),
        (
            "[handler.a]\non = [\"motion.began\"]\nmqtt = \"mqtt://localhost\"\ndiscovery = \"homeassistant\"\n",
            "10:1: warning: Home Assistant keeps the state of \"motion.began\", because `on` has no \"motion.ended\""
        ),
        (
            "[handler.a]\non = [\"motion.*\"]\nmqtt = \"mqtt://localhost\"\ndiscovery = \"homeassistant\"\n"
                + "decorate = [{ pace = { interval_s = 1 } }, { rate_limit = { per_minute = 6 } }]\n",
            "10:1: warning: Home Assistant may keep a state that has ended, because `rate_limit` in `decorate` can drop or delay "
                + "\"motion.ended\": `pace` drops no last event"
        ),
        (
            "[handler.a]\non = [\"shake\"]\nlog = true\nlevels = { shake = \"notice\", shock = \"err\" }\n",
            "10:1: warning: `levels` of \"shock\" has no effect, because `on` has no such event"
        ),
        (
            "[handler.a]\non = [\"command.failed\"]\nlog = true\n",
            "9:7: warning: [handler.a] never gets `command.failed` (no handler has a `command`)"
        ),
        (
            "[handler.a]\non = [\"store.failed\"]\nlog = true\n",
            "9:7: warning: [handler.a] never gets `store.failed` (there is no [store])"
        ),
        (
            "[handler.a]\non = [\"quorum.reached\"]\ncommand = [\"/bin/true\"]\n",
            "9:7: warning: [handler.a] never gets `quorum.reached` (the decorator `quorum` makes it, for the handler "
                + "that has it)"
        ),
        (
            "[handler.a]\non = [\"quorum.reached\", \"motion.began\"]\nlog = true\n"
                + "decorate = [{ quorum = { count = 2, window_s = 1 } }]\n",
            "11:1: warning: a quorum of 2 is never reached: the detectors of [handler.a] have 1 sensor (lower `count`, or add "
                + "detectors at other sensors)"
        ),
    ]

    @Test(arguments: cases)
    func aWarningNamesItsPlaceAndARemedy(sections: String, warning: String) throws {
        let folder = try TemporaryFolder(["b.toml": Self.moved + Self.log + sections, "plain": "x\n", "sub/x": ""])
        let path = folder.path + "/b.toml"
        let result = try Binary.run("check", path)
        #expect(result.status == 0)
        #expect(result.output.hasSuffix("; 1 warning\n"))
        #expect(result.errors.replacingOccurrences(of: folder.path, with: "DIR") == "DIR/b.toml:\(warning)\n")
        let strict = try Binary.run("check", "--strict", path)
        #expect(strict.status == 78)
        #expect(strict.output.isEmpty && strict.errors == result.errors)
    }

    @Test func whatIsThereIsNotWarnedOf() throws {
        let folder = try TemporaryFolder([
            "b.toml": Self.moved + """
                [handler.a]
                on = ["motion.began", "sensor.inactive"]
                command = ["./alarm"]
                [handler.b]
                on = ["quorum.reached", "motion.began"]
                decorate = [{ quorum = { count = 1, window_s = 1 } }]
                file = "events.jsonl"
                [store]
                path = "events.db"
                [socket]
                path = "run/b.sock"
                """, "alarm": "#!/bin/sh\n",
        ])
        chmod(folder.path + "/alarm", 0o755)
        let result = try Binary.run("check", "--strict", folder.path + "/b.toml")
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
    }

    /// A name without .toml, and an example that was copied one folder too high.
    @Test func filesThatAreNotReadAreWarnedOf() throws {
        let folder = try TemporaryFolder([
            "binnacle.toml": Self.moved + Self.log, "conf.d/mine.conf": Self.log, "washing.toml": Self.log,
            "compass.calibration.toml": "[magnetometer]\n", "conf.d/README": "", "conf.d/old.toml.bak": "",
        ])
        try FileManager.default.createDirectory(
            atPath: folder.path + "/conf.d/two.toml", withIntermediateDirectories: false)
        symlink("/dev/null", folder.path + "/conf.d/masked.toml")
        let result = try Binary.run("check", folder.path)
        #expect(result.status == 0)
        #expect(
            result.errors.replacingOccurrences(of: folder.path, with: "DIR") == """
                DIR/conf.d/mine.conf:1:1: warning: this file is not read (its name has to end with .toml)
                DIR/conf.d/two.toml:1:1: warning: this file is not read (it has to be a file)
                DIR/washing.toml:1:1: warning: this file is not read (it has to be in conf.d)

                """)
    }

    /// All drop-ins would be left out.
    @Test func aLinkThatLeadsToNoDropInsIsAnError() throws {
        let folder = try TemporaryFolder(["binnacle.toml": Self.moved + Self.log])
        symlink("/nonexistent", folder.path + "/conf.d")
        let result = try Binary.run("check", folder.path)
        #expect(result.status == 78 && result.errors.contains("\(folder.path)/conf.d"), "\(result.errors)")
    }

    @Test func aConfigurationWithoutAHandlerIsWarnedOf() throws {
        let folder = try TemporaryFolder(["b.toml": Self.moved])
        let result = try Binary.run("check", folder.path + "/b.toml")
        #expect(result.errors.hasPrefix("\(folder.path)/b.toml:1:1: warning: there is no handler: events go nowhere"))
        let run = try DaemonRun(Self.moved).start()
        try run.waitForMessage("/binnacle.toml:1:1: warning: there is no handler")
        #expect(run.stop() == 0)
    }

    /// The shipped configuration, and every example but for the programs and files that are yours to make.
    @Test func whatIsShippedHasNoOtherWarnings() throws {
        let examples = try FileManager.default.contentsOfDirectory(atPath: Binary.config + "/examples")
            .filter { $0.hasSuffix(".toml") }
        for path in ["binnacle.toml"] + examples.map({ "examples/" + $0 }) {
            let result = try Binary.run("check", Binary.config + "/" + path)
            let told = result.errors.split(separator: "\n").filter {
                !$0.contains("there is no program `/usr/local/bin/") && !$0.contains("there is no file `/etc/binnacle/")
            }
            #expect(told.isEmpty, "\(path): \(told)")
        }
    }

    @Test func aThresholdBeyondTheRangeIsWarnedOf() throws {
        let tree = try FifoTree()
        // 16 bits of 0.0006 m/s² are 2 g.
        _ = try tree.addDevice(0, name: "accel_3d", scale: "0.000598")
        let folder = try TemporaryFolder([
            "b.toml": """
            [sensor.box]
            source = "auto"
            [motion.moved]
            accelerometer = "box"
            detect = ["shock"]
            shock_g = 8
            [handler.log]
            on = ["shock"]
            log = true
            """
        ])
        let result = try Binary.run("check", "--root", tree.root, folder.path + "/b.toml")
        #expect(result.status == 0)
        let text = try String(contentsOfFile: tree.root + "/sys/bus/iio/devices/iio:device0/name", encoding: .utf8)
        #expect(text.hasPrefix("accel_3d"))
        #expect(
            result.errors
                == "\(folder.path)/b.toml:6:1: warning: shock_g (8.0) is beyond what `accel_3d` measures: 2.0 g on an axis "
                + "(lower it, or give the device a larger range)\n")
    }

    /// Without a buffer the driver may say which raw values there are.
    @Test(arguments: [("[-2048 1 2047]", true), ("[-32768 1 32767]", false), ("nonsense", false)])
    func theRangeOfAPolledDeviceIsThatOfItsRawValues(available: String, isWarned: Bool) throws {
        let tree = try FifoTree()
        _ = try tree.addDevice(0, name: "accel_3d", type: nil, scale: "0.00958")
        try tree.set(tree.root + "/sys/bus/iio/devices/iio:device0/in_accel_raw_available", available)
        let folder = try TemporaryFolder(["b.toml": Self.shocked + Self.shockLog])
        let result = try Binary.run("check", "--root", tree.root, folder.path + "/b.toml")
        #expect(result.status == 0)
        let words = "beyond what `accel_3d` measures: 2.0 g on an axis"
        #expect(result.errors.contains(words) == isWarned, "\(result.errors)")
    }

    /// Rest is a motion to a chip of 8 bits, whose values are 0.047 g apart.
    @Test(arguments: [("", true), ("release_g = 0.094", true), ("release_g = 0.095", false)])
    func aReleaseBelowTheStepsOfTheChipIsWarnedOf(release: String, isWarned: Bool) throws {
        let tree = try FifoTree()
        _ = try tree.addDevice(0, name: "accel_3d", type: "le:s8/8>>0", scale: "0.4632")
        let threshold = release.isEmpty ? "" : "threshold_g = 0.2"
        let folder = try TemporaryFolder([
            "b.toml": """
            [sensor.box]
            source = "auto"
            [motion.moved]
            accelerometer = "box"
            \(threshold)
            \(release)
            [handler.log]
            on = ["motion.began"]
            log = true
            """
        ])
        let result = try Binary.run("check", "--root", tree.root, folder.path + "/b.toml")
        #expect(result.status == 0)
        let words = "is too low for `accel_3d`: its values are 0.047 g apart, and go up and down by that at rest"
        #expect(result.errors.contains(words) == isWarned, "\(result.errors)")
        #expect(result.errors.contains("(set release_g to 0.095 or more, and threshold_g above it)") == isWarned)
    }

    private static let shocked = """
        [sensor.box]
        source = "auto"
        [motion.moved]
        accelerometer = "box"
        detect = ["shock"]
        shock_g = 8

        """
    private static let shockLog = "[handler.log]\non = [\"shock\"]\nlog = true\n"

    @Test func aReloadLogsTheWarnings() throws {
        let run = try DaemonRun(Self.moved + Self.log).start()
        try run.waitForMessage("runs with")
        try run.configure(
            Self.moved + Self.log + "[handler.a]\non = [\"motion.began\"]\ncommand = [\"/nonexistent/alarm\"]\n")
        run.reload()
        try run.waitForMessage("configuration reloaded")
        let said = try run.errors.text()
        #expect(said.contains("binnacle.toml:10:12: warning: there is no program `/nonexistent/alarm`"))
        #expect(run.stop() == 0)
    }

    @Test func aReloadLogsWhatTheMachineLacks() throws {
        let tree = try FifoTree()
        let node = try tree.addDevice(0, name: "accel_3d", scale: "0.000598")
        func configuration(_ limit: Int) -> String {
            """
            [sensor.box]
            source = "auto"
            [motion.moved]
            accelerometer = "box"
            shock_g = \(limit)
            [handler.log]
            on = ["shock"]
            log = true
            """
        }
        let run = try DaemonRun(configuration(2), ["--root", tree.root]).start()
        try run.waitForMessage("runs with")
        try run.configure(configuration(8))
        run.reload()
        try run.waitForMessage("shock_g (8.0) is beyond what `accel_3d` measures")
        #expect(run.stop() == 0)
        withExtendedLifetime(node) {}
    }

    /// One rule for all keys: relative to the file that has the path, also in a folder of drop-ins.
    @Test func relativePathsAreRelativeToTheirFile() throws {
        let folder = try TemporaryFolder([
            "binnacle.toml": "[sensor.box]\nsource = \"trace\"\nfile = \"data/a.csv\"\nloop = true\n"
                + "[motion.moved]\naccelerometer = \"box\"\n",
            "data/a.csv": "time_s,ax,ay,az\n0,0,0,9.8\n0.5,0,0,90\n1.0,0,0,9.8\n",
            "conf.d/a.toml": """
            [handler.history]
            on = ["shock"]
            file = "events.jsonl"
            [handler.alarm]
            on = ["shock"]
            command = ["./alarm"]
            [store]
            path = "events.db"
            [socket]
            path = "b.sock"
            """,
            "conf.d/alarm": "#!/bin/sh\necho >>\"${0%/*}/called\"\n",
        ])
        chmod(folder.path + "/conf.d/alarm", 0o755)
        // Also when the configuration itself is named by a relative path.
        let process = Binary.process(["run", "--config", "."], in: folder.path)
        try process.run()
        defer { process.end() }
        for name in ["events.jsonl", "called", "events.db", "b.sock"] {
            try waitUntil("conf.d/\(name)") { FileManager.default.fileExists(atPath: "\(folder.path)/conf.d/\(name)") }
        }
        kill(process.processIdentifier, SIGTERM)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }
}

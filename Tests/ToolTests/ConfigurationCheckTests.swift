import Foundation
import TestSupport
import Testing

/// Configurations through the binary: the messages that the author of one sees.
@Suite struct ConfigurationCheckTests {
    private static let box = "[sensor.box]\nsource = \"auto\"\n"
    private static let moved = box + "[motion.moved]\naccelerometer = \"box\"\n"
    private static let handler = moved + "[handler.h]\non = [\"shake\"]\n"

    /// The files of a folder, and the one line that is said about them.
    static let faults: [([String: String], String)] = [
        (
            ["binnacle.toml": "[sensor.box]\nsource = \"atuo\"\n"],
            "binnacle.toml:2:10: `source` cannot be `atuo` (did you mean `auto`?)"
        ),
        (
            ["binnacle.toml": box + "rate_hz = 0\n"],
            "binnacle.toml:3:1: rate_hz (0.0) is not between 2 and 100000"
        ),
        (
            ["binnacle.toml": "[sensor.box]\nsource = \"simulated\"\nmodel = \"wlak\"\n"],
            "binnacle.toml:3:9: `model` cannot be `wlak` (did you mean `walk`?)"
        ),
        (
            ["binnacle.toml": "[sensor.box]\nsource = \"trace\"\n"],
            "binnacle.toml:1:1: [sensor.box] has no `file` (it names the recording)"
        ),
        (
            ["binnacle.toml": moved + "treshold_g = 1\n"],
            "binnacle.toml:5:1: unknown key `treshold_g` in [motion.moved] (did you mean `threshold_g`?)"
        ),
        (
            ["binnacle.toml": moved, "conf.d/a.toml": "[motion.moved]\nrelease_g = 0.1\n"],
            "conf.d/a.toml:2:1: release_g (0.1) is above threshold_g (0.05)"
        ),
        (
            ["binnacle.toml": moved, "conf.d/a.toml": "[handler.h]\non = [\"shake\"]\n"],
            "conf.d/a.toml:1:1: [handler.h] does nothing (give it log = true, stdout = true, "
                + "command = [\"/path/to/program\"], http = \"https://ntfy.example/alarms\", mqtt = \"mqtts://broker.example\", nmea = "
                + "\"udp://192.168.1.255\", signalk = \"udp://127.0.0.1:55557\" or file = \"/var/log/binnacle/events.jsonl\")"
        ),
        (
            ["conf.d/a.toml": handler + "log = true\n", "conf.d/b.toml": "[handler.h]\nstdout = true\n"],
            "conf.d/b.toml:2:1: [handler.h] has both `log` and `stdout` (a handler does one thing; make two handlers; "
                + "`log` is at DIR/conf.d/a.toml:7)"
        ),
        (
            ["conf.d/a.toml": handler + "command = [\"/bin/true\"]\nconcurrent = 100\n"],
            "conf.d/a.toml:8:1: concurrent (100) is not between 1 and 64"
        ),
        (
            ["conf.d/a.toml": handler + "command = [\"/bin/true\"]\nenvironment = { BINNACLE_SEQ = \"1\" }\n"],
            "conf.d/a.toml:8:17: `BINNACLE_SEQ` is taken (variables that begin with BINNACLE_ describe the event)"
        ),
        (
            ["conf.d/a.toml": moved + "[handler.h]\non = [\"command.failed\"]\ncommand = [\"/bin/true\"]\n"],
            "conf.d/a.toml:6:7: `command.failed` reports on handlers, and cannot be for `command` (one that fails would "
                + "be run for its own failure; such events are for handlers with log = true or stdout = true)"
        ),
        (
            ["binnacle.toml": handler + "log = true\nlevels = { shake = \"warn\" }\n"],
            "binnacle.toml:8:20: `shake` cannot be `warn` (did you mean `warning`?)"
        ),
        (
            ["binnacle.toml": box, "conf.d/\u{1B}[2J.toml": "colour = 1\n"],
            "conf.d/\\u{1b}[2J.toml:1:1: unknown table or key `colour` (one of `sensor`, `motion`, `north`, `attitude`, `orientation`, `hinge`, `tap`, `steps`, `stationary`, `vibration`, `light`, `proximity`, `handler`, `position`, `store`, `socket`, `dbus`)"
        ),
    ]

    @Test(arguments: faults)
    func faultsAreTold(files: [String: String], message: String) throws {
        let folder = try TemporaryFolder(files)
        let result = try Binary.run("check", folder.path)
        #expect(result.status == 78)
        #expect(result.output.isEmpty)
        let said = result.errors.replacingOccurrences(of: folder.path, with: "DIR")
        #expect(said == "DIR/\(message)\n")
    }

    @Test func severalPathsAreCheckedEachByItself() throws {
        let good = try TemporaryFolder([
            "binnacle.toml": Self.moved, "conf.d/a.toml": "[sensor.b]\nsource = \"simulated\"\n",
        ])
        let bad = try TemporaryFolder(["binnacle.toml": "[sensor.a]\n"])
        let result = try Binary.run("check", good.path, bad.path, good.path + "/binnacle.toml")
        #expect(result.status == 78)
        #expect(
            result.lines == [
                "\(good.path): ok: 2 sensors, 1 motion detector, 0 handlers, in 2 files; 2 warnings",
                "\(good.path)/binnacle.toml: ok: 1 sensor, 1 motion detector, 0 handlers; 1 warning",
            ])
        #expect(result.errors.contains("\(bad.path)/binnacle.toml:1:1: [sensor.a] has no `source`"))
    }

    @Test func aFolderWithoutAConfigurationIsAConfigurationError() throws {
        let folder = try TemporaryFolder(["other.toml": "", "conf.d/readme": ""])
        let result = try Binary.run("check", folder.path)
        #expect(result.status == 78)
        #expect(result.errors == "\(folder.path): there is neither a binnacle.toml nor a conf.d/*.toml in it\n")
    }

    @Test(.enabled(if: !FileManager.default.fileExists(atPath: "/etc/binnacle"), "this machine has a configuration"))
    func withoutAPathItIsThatOfTheService() throws {
        let result = try Binary.run("check")
        #expect(result.status == 78)
        #expect(
            result.errors == "/etc/binnacle: there is no configuration: looked for /etc/binnacle/binnacle.toml and "
                + "/etc/binnacle/conf.d/*.toml; binnacle check PATH takes another file or folder\n")
    }

    /// A recording that `run` refuses is a fault of the configuration there, and a warning before.
    @Test(arguments: [
        ("mag.csv", "has no accelerometer left"), ("words.csv", "no column holds the time"), ("folder", "is a folder"),
    ])
    func aRecordingThatCannotBePlayedIsSaid(file: String, words: String) throws {
        let rows = (0..<20).map { "\(Double($0) / 50),20,3,-40\n" }.joined()
        let folder = try TemporaryFolder([
            "mag.csv": "time_s,mx,my,mz\n" + rows, "words.csv": "a,b,c\n1,2,x\n", "folder/x": "",
            "t.toml": "[sensor.t]\nsource = \"trace\"\nfile = \"\(file)\"\n[motion.m]\naccelerometer = \"t\"\n"
                + "[handler.out]\non = [\"any\"]\nstdout = true\n",
        ])
        let path = folder.path + "/t.toml"
        let check = try Binary.run("check", path)
        #expect(
            check.status == 0 && check.errors.contains("t.toml:3:1: warning: ") && check.errors.contains(words),
            "\(check)")
        #expect(try Binary.run("check", "--strict", path).status == 78)
        let run = try Binary.run("run", path)
        #expect(run.status == (file == "words.csv" ? 65 : 78) && run.errors.contains(words), "\(run)")
    }

    /// Of several recorded sensors, none of which has the name, the first with what is wanted plays.
    @Test func aRecordingOfSeveralSensorsPlaysOne() throws {
        let axes = ["ax", "ay", "az"]
        let names = ["lid", "box"].flatMap { sensor in axes.map { "\(sensor).\($0)_m_s2" } }
        let rows = (0..<200).map { "\($0 * 20_000_000),0,0,9.8,\($0 % 20 < 10 ? 0 : 8),0,9.8\n" }.joined()
        let folder = try TemporaryFolder([
            "two.csv": "time_ns," + names.joined(separator: ",") + "\n" + rows,
            "t.toml": "[sensor.t]\nsource = \"trace\"\nfile = \"two.csv\"\n[motion.m]\naccelerometer = \"t\"\n"
                + "[handler.out]\non = [\"any\"]\nstdout = true\n",
        ])
        let check = try Binary.run("check", folder.path + "/t.toml")
        #expect(check.status == 0 && check.errors.isEmpty, "\(check)")
        let replay = try Binary.run("replay", "--config", folder.path + "/t.toml")
        #expect(replay.status == 0 && !replay.output.contains("motion.began"), "the lid lies still: \(replay)")
    }

    @Test func aReplayTakesAFolder() throws {
        let trace = Binary.fixtures + "/broad/broad05_rotation_breaks.csv"
        let folder = try TemporaryFolder([
            "binnacle.toml": "[sensor.box]\nsource = \"auto\"\n",
            "conf.d/a.toml":
                "[motion.moved]\naccelerometer = \"box\"\n[handler.h]\non = [\"motion.began\"]\nstdout = true\n",
            "conf.d/b.toml": "[sensor.box]\nsource = \"trace\"\nfile = \"day.csv\"\n",
        ])
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/conf.d/day.csv", withDestinationPath: trace)
        let result = try Binary.run("replay", "--json", "--config", folder.path)
        #expect(result.status == 0, "\(result.errors)")
        let began = result.lines.filter { $0.contains("\"motion.began\"") }
        #expect(began.count == 4 && Set(began).count == 4, "standard output holds every event once")
    }

    // MARK: - What is shipped

    private static let examples = [
        "boat-heading", "disk-protection", "fleet-broker", "moved-box", "nmea", "north-antenna", "tablet-screen",
        "washing-machine",
    ]

    @Test func theExamplesAreThese() throws {
        let found = try FileManager.default.contentsOfDirectory(atPath: Binary.config + "/examples").sorted()
        let others = ["binnacle-alerts.yml", "binnacle-dashboard.json", "rotate-screen"]
        #expect(found == (others + Self.examples.map { $0 + ".toml" }).sorted())
    }

    @Test(arguments: examples)
    func anExampleIsAccepted(name: String) throws {
        let result = try Binary.run("check", "\(Binary.config)/examples/\(name).toml")
        #expect(result.status == 0, "\(result.errors)")
    }

    /// Every block of TOML in README.md and docs/, with a sensor and detectors in front where it has none.
    @Test func theConfigurationsOfTheDocumentsAreAccepted() throws {
        let project = Binary.tests.deletingLastPathComponent().path
        let files = try FileManager.default.subpathsOfDirectory(atPath: project + "/docs")
        var count = 0
        for page in ["README.md"] + files.filter({ $0.hasSuffix(".md") }).map({ "docs/" + $0 }) {
            let text = try String(contentsOfFile: project + "/" + page, encoding: .utf8)
            for part in text.components(separatedBy: "```toml\n").dropFirst() {
                let block = part.components(separatedBy: "```")[0]
                    .replacing("/etc/binnacle/compass.toml", with: "compass.toml")
                let folder = try TemporaryFolder([
                    "shown.toml": block.contains("[sensor.") ? block : Self.sections + block,
                    "compass.toml": Self.calibration,
                ])
                let result = try Binary.run("check", folder.path + "/shown.toml")
                #expect(result.status == 0, "\(page): \(result.errors)")
                count += 1
            }
        }
        #expect(count > 10)
    }

    private static let calibration = """
        [magnetometer]
        hard_iron_uT = [1.0, 2.0, 3.0]
        soft_iron = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        field_uT = 50.0
        fit_error_percent = 1.0
        """

    private static let sections = """
        [sensor.chassis]
        source = "auto"
        [motion.moved]
        accelerometer = "chassis"
        [north.bow]
        accelerometer = "chassis"
        magnetometer = "chassis"

        """

    /// They can be copied beside the shipped file, alone and all together.
    @Test(arguments: examples.map { [$0] } + [examples])
    func examplesAreDropIns(names: [String]) throws {
        let read = { try String(contentsOfFile: Binary.config + "/" + $0, encoding: .utf8) }
        var files = ["binnacle.toml": try read("binnacle.toml")]
        for name in names { files["conf.d/\(name).toml"] = try read("examples/\(name).toml") }
        let folder = try TemporaryFolder(files)
        let result = try Binary.run("check", folder.path)
        #expect(result.status == 0, "\(result.errors)")
        // One device plays one section; the two in a laptop are chosen by their places.
        let count = names == ["tablet-screen"] || names.count > 1 ? 4 : 2
        #expect(result.output.contains("ok: \(count) sensors"))
    }

    /// What a reload would refuse, `check` refuses too, with its place.
    @Test(arguments: [
        "self.toml", "./self.toml", "sub/../self.toml", "events.db", "./events.db", "events.db-wal",
        "events.db-journal", "trace.csv",
    ])
    func aHandlerWritesOverNothingThatIsRead(file: String) throws {
        let folder = try TemporaryFolder()
        let text = """
            [store]
            path = "events.db"
            [sensor.box]
            source = "trace"
            file = "trace.csv"
            [motion.moved]
            accelerometer = "box"
            [handler.lines]
            on = ["motion.began"]
            file = "\(file)"
            """
        try FileManager.default.createDirectory(atPath: folder.path + "/sub", withIntermediateDirectories: true)
        let path = folder.path + "/self.toml"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        try "time_s,ax,ay,az\n0,0,0,9.8\n".write(toFile: folder.path + "/trace.csv", atomically: true, encoding: .utf8)
        let result = try Binary.run("check", path)
        #expect(result.status == 78 && result.errors.contains("self.toml:10:8: "), "\(result.errors)")
        #expect(result.errors.contains("choose another file for [handler.lines]"))
    }
}

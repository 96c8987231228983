import Binnacle
import Configuration
import Foundation
import Handlers
import LinuxSensors
import Station
import TableReading
import TestSupport
import Testing

/// A folder with a file and its drop-ins.
@Suite struct DropInTests {
    private static let main = """
        [sensor.a]
        source = "auto"
        [sensor.b]
        source = "auto"
        match = { name = "x", label = "y" }
        [motion.m]
        accelerometer = "a"
        threshold_g = 0.2
        quiet_s = 3
        """

    @Test func laterFilesCompleteAndReplaceKeyByKey() throws {
        let folder = try TemporaryFolder([
            "binnacle.toml": Self.main,
            "conf.d/50-b.toml": """
            [motion.m]
            threshold_g = 0.3
            shake_g = 4
            [sensor.b]
            match = { name = "z" }
            """,
            "conf.d/60-c.toml": "[motion.m]\nthreshold_g = 0.4\n[sensor.c]\nsource = \"simulated\"\n",
            // It names what is defined before and after it.
            "conf.d/10-a.toml":
                "[handler.h]\non = [\"shake\"]\ndetector = [\"m\", \"n\"]\nlog = true\n[motion.n]\naccelerometer = \"c\"\n",
        ])
        let configuration = try Configuration.read(path: folder.path)
        #expect(configuration.sensors.map(\.name) == ["a", "b", "c"])
        var match = DeviceMatch()
        match.name = "z"
        #expect(configuration.sensors[1].source == .auto(match), "a table is replaced as a whole")
        #expect(configuration.motions.map(\.name) == ["m", "n"])
        let settings = configuration.motions[0].settings
        #expect(settings.thresholdG == 0.4 && settings.shakeG == 4 && settings.quiet == .seconds(3))
        #expect(configuration.handlers.map(\.detectors) == [["m", "n"]])
        #expect(
            configuration.files
                == ["/binnacle.toml", "/conf.d/10-a.toml", "/conf.d/50-b.toml", "/conf.d/60-c.toml"].map {
                    folder.path + $0
                })
    }

    @Test func namesAreInTheOrderOfTheirBytes() throws {
        let names = ["9", "10", "A", "a", "B", "ä", "z", "-", "a-b", "a.b", "e\u{301}"]
        let folder = try TemporaryFolder()
        for name in names {
            try folder.write("conf.d/\(name).toml", "[sensor.x]\nsource = \"trace\"\nfile = \"/\(name)\"")
        }
        let configuration = try Configuration.read(path: folder.path)
        #expect(
            configuration.files.map { String($0.split(separator: "/").last?.dropLast(5) ?? "") }
                == ["-", "10", "9", "A", "B", "a-b", "a.b", "a", "e\u{301}", "z", "ä"])
        #expect(configuration.sensors.map(\.source) == [.trace(file: "/ä", loops: false)])
    }

    @Test func onlyRegularFilesOfTheNameCount() throws {
        let folder = try TemporaryFolder([
            "binnacle.toml": Self.main, "conf.d/.hidden.toml": "[", "conf.d/readme.txt": "[", "conf.d/old.toml~": "[",
            "conf.d/folder.toml/x.toml": "[", "conf.d/real": "[motion.m]\nthreshold_g = 0.5\n",
        ])
        let conf = folder.path + "/conf.d/"
        try #require(mkfifo(conf + "pipe.toml", 0o600) == 0)
        try #require(symlink("/dev/null", conf + "masked.toml") == 0)
        try #require(symlink("real", conf + "link.toml") == 0)
        let configuration = try Configuration.read(path: folder.path)
        #expect(configuration.files == [folder.path + "/binnacle.toml", conf + "link.toml"])
        #expect(configuration.motions.map(\.settings.thresholdG) == [0.5])
    }

    @Test func theFileOrTheFolderOfDropInsMayBeAbsent() throws {
        let alone = try TemporaryFolder(["binnacle.toml": Self.main])
        #expect(try Configuration.read(path: alone.path).sensors.count == 2)
        #expect(try Configuration.read(path: alone.path + "/") == Configuration.read(path: alone.path))
        let parts = try TemporaryFolder(["conf.d/a.toml": Self.main])
        #expect(try Configuration.read(path: parts.path) == Configuration.read(path: alone.path), "equal, elsewhere")
        let file = try Configuration.read(path: alone.path + "/binnacle.toml")
        #expect(file.files == [alone.path + "/binnacle.toml"])
    }

    @Test func aFileByItselfHasNoDropIns() throws {
        let folder = try TemporaryFolder(["binnacle.toml": Self.main, "conf.d/a.toml": "["])
        #expect(try Configuration.read(path: folder.path + "/binnacle.toml").motions.count == 1)
    }

    @Test func pathsOfRecordingsAreRelativeToTheirFile() throws {
        let trace = "[sensor.t]\nsource = \"trace\"\nfile = \"day.csv\"\nloop = true\n"
        let folder = try TemporaryFolder(["conf.d/a.toml": trace, "b.toml": trace])
        for (path, place) in [
            (folder.path, "/conf.d"), (folder.path + "/", "/conf.d"), (folder.path + "/b.toml", ""),
        ] {
            #expect(
                try Configuration.read(path: path).sensors.map(\.source)
                    == [.trace(file: folder.path + place + "/day.csv", loops: true)])
        }
    }

    @Test func whatCannotBeReadIsAnError() throws {
        let folder = try TemporaryFolder(["binnacle.toml": Self.main, "conf.d/a.toml": ""])
        let path = folder.path
        func problem() -> String {
            do throws(ConfigurationError) {
                _ = try Configuration.read(path: path)
                return "none"
            } catch {
                return error.description.replacing(path, with: "DIR")
            }
        }
        #expect(problem() == "none")
        try #require(symlink("nowhere", path + "/conf.d/b.toml") == 0)
        #expect(problem() == "DIR/conf.d/b.toml: there is no such file")
        unlink(path + "/conf.d/b.toml")
        try folder.write("conf.d/c.toml", String(repeating: "#", count: ConfigurationFile.largestSize + 1))
        #expect(
            problem() == "DIR/conf.d/c.toml: the file is larger than 1024 KiB, the most that a configuration may have")
        unlink(path + "/conf.d/c.toml")
        try FileManager.default.removeItem(atPath: path + "/binnacle.toml")
        try #require(mkfifo(path + "/binnacle.toml", 0o600) == 0)
        #expect(
            problem().hasPrefix("DIR/binnacle.toml: this is a pipe or a device"), "and the reader does not wait for it")
        for file in [path + "/binnacle.toml", "/dev/zero"] {
            let error = #expect(throws: ConfigurationError.self) { _ = try Configuration.read(path: file) }
            #expect(error?.description.hasPrefix("\(file): this is a pipe or a device; ") == true)
        }
        try FileManager.default.removeItem(atPath: path + "/binnacle.toml")
        try FileManager.default.removeItem(atPath: path + "/conf.d")
        #expect(problem() == "DIR: there is neither a binnacle.toml nor a conf.d/*.toml in it")
        try #require(symlink("nowhere", path + "/binnacle.toml") == 0)
        #expect(problem() == "DIR/binnacle.toml: there is no such file")
        // Behind a dangling link there is a configuration; in an empty folder there is none, and the service has its defaults.
        var error = #expect(throws: ConfigurationError.self) { _ = try Configuration.read(path: path) }
        #expect(error?.isAbsence(at: path) == false)
        unlink(path + "/binnacle.toml")
        error = #expect(throws: ConfigurationError.self) { _ = try Configuration.read(path: path) }
        #expect(error?.isAbsence(at: path) == true)
        unlink(path + "/binnacle.toml")
        try folder.write("conf.d", "")
        #expect(problem() == "DIR/conf.d: this is no directory")
        try folder.write("binnacle.toml/x", "")
        unlink(path + "/conf.d")
        #expect(problem() == "DIR/binnacle.toml: this is a directory; a configuration is a file")
    }

    /// Each file that is no TOML is reported, in the library's words.
    @Test func syntaxErrorsOfAllFilesAreTold() throws {
        let broken = BrokenConfiguration("no TOML in both", main: "[\n", dropIn: "]\n")
        let said = try broken.said()
        #expect(said.count == 2)
        #expect(said.first?.hasPrefix("DIR/binnacle.toml:1:2: syntax error") == true)
        #expect(said.last?.hasPrefix("DIR/conf.d/50.toml:1:1: syntax error") == true)
    }

    @Test func thereAreAtMostAHundredFiles() throws {
        let folder = try TemporaryFolder()
        for number in 1...100 {
            try folder.write("conf.d/\(number).toml", "[sensor.s\(number)]\nsource = \"simulated\"\n")
        }
        #expect(try Configuration.read(path: folder.path).sensors.count == 100)
        try folder.write("binnacle.toml", "")
        #expect(throws: ConfigurationError.file(path: folder.path + "/conf.d", .tooMany(limit: 100))) {
            try Configuration.read(path: folder.path)
        }
    }

    /// A reload keeps what is unchanged, and a comment more changes nothing.
    @Test func sectionsAreEqualWhereverTheyStand() throws {
        let handlers = """
            [handler.a]
            on = ["shake"]
            log = true
            [handler.b]
            on = ["shake"]
            command = ["/bin/true"]
            """
        let moved = try parse("# comment\n\n" + Self.main + "\n# more\n" + handlers)
        let still = try parse(Self.main + "\n" + handlers)
        #expect(moved == still)
        for change in ["log = true\nlevels = { shake = \"err\" }", "stdout = true", "command = [\"/bin/true\"]"] {
            #expect(try parse(Self.main + "\n" + handlers.replacing("log = true", with: change)) != still)
        }
        for change in ["[\"/bin/false\"]", "[\"/bin/true\"]\nretries = 1"] {
            #expect(try parse(Self.main + "\n" + handlers.replacing("[\"/bin/true\"]", with: change)) != still)
        }
    }
}

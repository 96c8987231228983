import Binnacle
import Configuration
import Foundation
import Station
import Store
import TableReading
import TestSupport
import Testing

/// `--set KEY=VALUE`: one more drop-in, which is read last.
@Suite struct CommandLineSettingTests {
    private static let main = """
        [sensor.a]
        source = "auto"
        match = { name = "x", label = "y" }
        [motion.m]
        accelerometer = "a"
        threshold_g = 0.2
        quiet_s = 3
        [store]
        path = "/var/lib/x.db"
        keep_mb = 10
        """

    private func read(_ settings: [String], main: String = main) throws -> Configuration {
        let folder = try TemporaryFolder(["binnacle.toml": main])
        return try Configuration.read(
            path: folder.path, settings: try settings.map { try #require(CommandLineSetting($0)) })
    }

    /// What is wrong, with the folder's name replaced.
    private func problem(_ settings: String..., main: String = main) throws -> String {
        do {
            _ = try read(settings, main: main)
            return "none"
        } catch let error as ConfigurationError {
            return error.description.split(separator: "\n").map {
                $0.hasPrefix("--set") ? String($0) : "FILE" + ($0.split(separator: "binnacle.toml").last ?? "")
            }.joined(separator: "\n")
        }
    }

    @Test func aKeyOfAnySectionIsReplacedAndTheOthersStay() throws {
        let configuration = try read([
            "motion.m.threshold_g=0.1", "motion.m.measure=magnitude", " motion.m.detect = [\"motion\"] ",
            "store.keep_mb=20", "sensor.a.match={ name = \"z\" }", "position.latitude_deg=54",
            "position.longitude_deg=10",
        ])
        let settings = configuration.motions[0].settings
        #expect(settings.thresholdG == 0.1 && settings.quiet == .seconds(3))
        #expect(settings.measure == .magnitude && settings.features == [.motion])
        #expect(configuration.store?.path == "/var/lib/x.db")
        #expect(configuration.store == (try parse(Self.main.replacing("= 10", with: "= 20"))).store)
        #expect(configuration.position != nil)
        #expect(configuration.files.count == 1, "no file")
    }

    @Test func theLastOneCounts() throws {
        let configuration = try read(["motion.m.threshold_g=0.1", "motion.m.threshold_g=0.3"])
        #expect(configuration.motions[0].settings.thresholdG == 0.3)
    }

    @Test func newSectionsAreMade() throws {
        let configuration = try read([
            "motion.new.threshold_g=0.4", "motion.new.accelerometer=a", "handler.h.on=[\"shake\"]",
            "handler.h.log=true",
            "handler.h.decorate=[{ debounce = { for_s = 1 } }]",
        ])
        #expect(configuration.motions.map(\.name) == ["m", "new"])
        #expect(configuration.motions[1].settings.thresholdG == 0.4)
        #expect(configuration.handlers.map(\.decorators.count) == [1])
        #expect(
            try problem("motion.new.threshold_g=0.4")
                == "--set motion.new.threshold_g=0.4: column 8: [motion.new] has no `accelerometer` (it names the sensor to watch)"
        )
    }

    @Test func aBareWordIsAString() throws {
        for text in ["motion.m.measure=magnitude", "motion.m.measure = magnitude ", "motion.m.measure=\"magnitude\""] {
            #expect(try read([text]).motions[0].settings.measure == .magnitude)
        }
        let path = "/a b/'c'\\d \"e\""
        #expect(try read(["store.path=\(path)"]).store?.path == path)
    }

    @Test func whatIsWrongIsToldWithItsPlace() throws {
        #expect(
            try problem("motion.m.treshold_g=0.1")
                == "--set motion.m.treshold_g=0.1: column 10: unknown key `treshold_g` in [motion.m] (did you mean `threshold_g`?)"
        )
        #expect(
            try problem("motion.m.quiet_s=1", "motion.m.threshold_g=one")
                == "--set motion.m.threshold_g=one: column 22: `threshold_g`: expected a number, found a string")
        #expect(
            try problem("moton.m.threshold_g=1")
                == "--set moton.m.threshold_g=1: column 1: unknown table or key `moton` (did you mean `motion`?)")
        #expect(
            try problem("motion.m.release_g=0.3")
                == "--set motion.m.release_g=0.3: column 10: release_g (0.3) is above threshold_g (0.2)")
        #expect(try problem("motion.m.threshold_g=").hasPrefix("--set motion.m.threshold_g=: column "))
        #expect(try problem("motion.m.detect=[").hasPrefix("--set motion.m.detect=[: column "))
        #expect(try problem("motion=1").hasPrefix("--set motion=1: column 8: `motion`: expected tables such as"))
        #expect(
            try problem("sensor.a.source=trace")
                == "--set sensor.a.source=trace: column 10: `match` has no meaning for source = \"trace\" (it is for `auto`, `iio` or `evdev`; `match` is at FILE"
                || problem("sensor.a.source=trace").contains("--set sensor.a.source=trace: column 10: "))
        // An error in the file keeps its place.
        #expect(try problem("motion.m.quiet_s=1", main: Self.main + "\nbytes = 1").hasPrefix("FILE:11:1: "))
    }

    @Test(arguments: ["", "motion.m.threshold_g", "=1", " = 1", "[motion.m]", "# a=1", "a=1\nb=2"])
    func onlyAKeyWithAValueIsOne(_ text: String) {
        #expect(CommandLineSetting(text) == nil)
    }

    @Test func aRelativePathIsRelativeToTheWorkingDirectory() throws {
        let configuration = try read(
            ["sensor.t.source=trace", "sensor.t.file=day.csv"],
            main: "[sensor.u]\nsource = \"trace\"\nfile = \"u.csv\"\n")
        #expect(
            configuration.sensors.last?.source
                == .trace(file: FileManager.default.currentDirectoryPath + "/day.csv", loops: false))
        guard case .trace(let file, _)? = configuration.sensors.first?.source else { return #expect(Bool(false)) }
        #expect(file.hasPrefix("/"), "of the folder")
    }

    /// Sections such as [store] have no names, so their keys are one level higher.
    @Test func aDropInReplacesKeysOfSectionsWithoutNames() throws {
        let folder = try TemporaryFolder([
            "binnacle.toml": Self.main, "conf.d/a.toml": "[store]\nkeep_mb = 20\n",
        ])
        let store = try #require(try Configuration.read(path: folder.path).store)
        #expect(store == (try parse(Self.main.replacing("= 10", with: "= 20"))).store)
    }
}

import Foundation
import TestSupport
import Testing

/// `binnacle calibrate` with recordings.
@Suite struct CalibrateTests {
    /// A cloud of the fixtures as a recording, ten samples a second.
    static func trace(_ name: String) throws -> TemporaryFile {
        let text = try String(contentsOfFile: "\(Binary.fixtures)/calibration/\(name).csv", encoding: .utf8)
        let rows = text.split(separator: "\n").dropFirst().enumerated().map { "\(Double($0) / 10),\($1)\n" }
        return try TemporaryFile("time_s,mx_uT,my_uT,mz_uT\n" + rows.joined(), suffix: ".csv")
    }

    /// Six positions of two seconds, at 50 Hz, with a turn of half a second between them.
    static func positions(without missing: Int? = nil, moving: Int? = nil) throws -> TemporaryFile {
        let path = Binary.fixtures + "/calibration/accel_six_position.csv"
        let rows = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").dropFirst()
        var generator = SeededGenerator(seed: 5)
        var lines = ["time_s,ax_m_s2,ay_m_s2,az_m_s2"]
        for (place, row) in rows.enumerated() where place != missing {
            let raw = row.split(separator: ",").suffix(3).compactMap { Double($0) }
            for number in 0..<125 {
                let noise = number < 100 ? (place == moving ? 1.5 : 0.05) : 8
                let axes = raw.map { $0 + Double.random(in: -noise...noise, using: &generator) }
                lines.append("\(Double(lines.count) / 50)," + axes.map { "\($0)" }.joined(separator: ","))
            }
        }
        return try TemporaryFile(lines.joined(separator: "\n") + "\n", suffix: ".csv")
    }

    static func object(_ text: String) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    /// The three numbers of a key, in a file or a report.
    private static func numbers(_ key: String, in text: String) throws -> [Double] {
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("\(key) = ") })
        // Behind the key, whose unit may have a digit.
        let value = line.dropFirst(key.count + 3)
        return value.split { !"-.0123456789".contains($0) }.compactMap { Double($0) }
    }

    // MARK: - Magnetometer

    @Test func aRecordingGivesAFile() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/compass.toml"
        let trace = try Self.trace("synth_full_sphere_400")
        let result = try Binary.run("calibrate", "--trace", trace.path, "-o", path)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("verdict: good; an ellipsoid"))
        #expect(result.output.contains("spread of |m|   36.1 % before, 1.1 % after"))
        #expect(result.output.contains("calibration = \"\(path)\""))
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(
            text.hasPrefix(
                """
                # Written by binnacle calibrate; named by `calibration` in a [sensor.NAME] section.
                [magnetometer]
                model = "ellipsoid"
                hard_iron_uT = [31.9
                """))
        for (found, expected) in zip(try Self.numbers("hard_iron_uT", in: text), [32.0, -18, 57]) {
            #expect(abs(found - expected) < 0.3)
        }
        #expect(text.contains("\nsoft_iron = [[1.07"))
        #expect(text.contains("\nfield_uT = 49.66"))
        #expect(text.contains("\nfit_error_percent = 1.0"))
        #expect(text.contains("\ncoverage = 4.73\n"))
        #expect(text.contains("\nsamples = 400\n"))
        // Nothing else is left in the folder.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["compass.toml"])
    }

    @Test func aFlatSpinIsRefusedAndNothingIsWritten() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/compass.toml"
        let trace = try Self.trace("synth_flat_spin_300")
        let result = try Binary.run("calibrate", "--trace", trace.path, "-o", path)
        #expect(result.status == 65)
        #expect(result.output.isEmpty)
        #expect(result.errors.contains("keep turning: the upper half and the lower half are missing"))
        #expect(result.errors.contains("nothing was written"))
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    /// Turned about the vertical three times, and tilted by up to 20° meanwhile.
    @Test func aSpinWithALittleWobbleGetsASphereAndIsToldSo() throws {
        let dip = 65 * Double.pi / 180
        let rows = (0..<1500).map { index in
            let turn = 2 * Double.pi * Double(index) / 500
            let pitch = 20 * Double.pi / 180 * sin(3 * turn)
            let roll = 20 * Double.pi / 180 * cos(2 * turn)
            let (level, down) = (50 * cos(dip), -50 * sin(dip))
            let y = level * cos(turn) * cos(pitch) + down * sin(pitch)
            let z = down * cos(pitch) - level * cos(turn) * sin(pitch)
            let x = level * sin(turn) * cos(roll) - z * sin(roll)
            let up = z * cos(roll) + level * sin(turn) * sin(roll)
            return "\(Double(index) / 20),\(x + 32),\(y - 18),\(up + 57)\n"
        }
        let trace = try TemporaryFile("time_s,mx_uT,my_uT,mz_uT\n" + rows.joined(), suffix: ".csv")
        let result = try Binary.run("calibrate", "--trace", trace.path)
        #expect(result.status == 0)
        #expect(result.output.contains("verdict: usable; a sphere at most, because the coverage is above 12"))
        #expect(result.output.contains("For an ellipsoid, keep turning: the upper half"))
        #expect(result.output.contains("model = \"sphere\""))
        for (found, expected) in zip(try Self.numbers("hard_iron_uT", in: result.output), [32.0, -18, 57]) {
            #expect(abs(found - expected) < 1)
        }
    }

    @Test func resultsAreJSON() throws {
        let full = try Self.trace("synth_full_sphere_400")
        let found = try Self.object(Binary.run("calibrate", "--trace", full.path, "--json").output)
        #expect(found["kind"] as? String == "magnetometer")
        #expect(found["is_accepted"] as? Bool == true)
        #expect(found["refusal"] is NSNull)
        let figures = try #require(found["figures"] as? [String: Any])
        #expect(figures["model"] as? String == "ellipsoid")
        #expect((figures["hard_iron_uT"] as? [Double])?.count == 3)
        #expect((figures["soft_iron"] as? [[Double]])?.map(\.count) == [3, 3, 3])
        #expect(figures["coverage"] as? Double == 4.73)
        #expect(figures["spread_before_percent"] as? Double == 36.11)

        let flat = try Self.trace("synth_flat_spin_300")
        let result = try Binary.run("calibrate", "--trace", flat.path, "--json")
        #expect(result.status == 65)
        let refused = try Self.object(result.output)
        #expect(refused["is_accepted"] as? Bool == false)
        #expect(refused["refusal"] as? String == "coverage")
        #expect((refused["message"] as? String)?.contains("keep turning") == true)
    }

    @Test func theWishForAnEllipsoidIsRefusedWhereASphereIsAllThereIs() throws {
        let path = Binary.fixtures + "/broad/broad33_attached_magnet_2cm.csv"
        let part = ["calibrate", "--trace", path, "--from", "50", "--to", "74"]
        let sphere = try Binary.run(part)
        #expect(sphere.status == 0)
        #expect(sphere.output.contains("a sphere at most, because regions are missing"))
        for (found, expected) in zip(try Self.numbers("hard_iron_uT", in: sphere.output), [-4.1, 0.1, 27.4]) {
            #expect(abs(found - expected) < 1)
        }
        #expect(abs(try Self.numbers("field_uT", in: sphere.output)[0] - 44.7) < 1)
        let refused = try Binary.run(part + ["--model", "ellipsoid"])
        #expect(refused.status == 65)
        #expect(refused.errors.contains("allows a sphere at most"))
        // With the time before the magnet came, one sphere cannot fit.
        let whole = try Binary.run("calibrate", "--trace", path)
        #expect(whole.status == 65)
        #expect(whole.errors.contains("keep away from iron and magnets"))
    }

    @Test func theFieldHasToBeThatOfThePlace() throws {
        let trace = try Self.trace("synth_full_sphere_400")
        // Near Kiel the field has 50 µT, in the South Atlantic 23 µT.
        let right = try Binary.run("calibrate", "--trace", trace.path, "--position", "54.32,10.14")
        #expect(right.status == 0)
        #expect(right.output.contains("µT expected"))
        let wrong = try Binary.run("calibrate", "--trace", trace.path, "--position", "-26,-55")
        #expect(wrong.status == 65)
        #expect(wrong.errors.contains("is expected here"))
        #expect(try Binary.run("calibrate", "--trace", trace.path, "--field", "50").status == 0)
        #expect(try Binary.run("calibrate", "--trace", trace.path, "--field", "30").status == 65)
    }

    @Test func whatIsNoMagnetometerIsRefused() throws {
        let trace = try Self.positions()
        let result = try Binary.run("calibrate", "--trace", trace.path)
        #expect(result.status == 64)
        #expect(result.errors.contains("no magnetometer in the traces"))
        let still = try TemporaryFile(
            "time_s,mx_uT,my_uT,mz_uT\n" + (0..<500).map { "\($0),20,0,-40\n" }.joined(), suffix: ".csv")
        let refused = try Binary.run("calibrate", "--trace", still.path)
        #expect(refused.status == 65)
        #expect(refused.errors.contains("only 4 samples that differ"))
    }

    @Test func severalSensorsAreAskedAbout() throws {
        let trace = try TemporaryFile(
            "time_ns,a.mx_uT,a.my_uT,a.mz_uT,b.mx_uT,b.my_uT,b.mz_uT\n0,1,2,3,4,5,6\n", suffix: ".csv")
        let result = try Binary.run("calibrate", "--trace", trace.path)
        #expect(result.status == 64)
        #expect(result.errors.contains("--sensor: 'a', 'b'"), "\(result.errors)")
        #expect(try Binary.run("calibrate", "--trace", trace.path, "--sensor", "b").status == 65)
        #expect(try Binary.run("calibrate", "--trace", trace.path, "--sensor", "c").status == 64)
    }

    // MARK: - Accelerometer

    @Test func sixPositionsGiveAFileAndTheOtherTableStays() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/both.toml"
        let full = try Self.trace("synth_full_sphere_400")
        let six = try Self.positions()
        #expect(try Binary.run("calibrate", "--trace", full.path, "-o", path).status == 0)
        let before = try String(contentsOfFile: path, encoding: .utf8)
        let result = try Binary.run("calibrate", "accelerometer", "--trace", six.path, "-o", path)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("(its [magnetometer] is kept)"))
        #expect(result.output.contains("screen up       |a| is off 1 g by 0.8"))
        #expect(result.output.contains("verdict: good"))
        let text = try String(contentsOfFile: path, encoding: .utf8)
        for key in ["hard_iron_uT", "soft_iron", "field_uT"] {
            #expect(try Self.numbers(key, in: text) == Self.numbers(key, in: before))
        }
        for (found, expected) in zip(try Self.numbers("offset_m_s2", in: text), [0.25, -0.4, 0.6]) {
            #expect(abs(found - expected) < 0.02)
        }
        #expect(text.contains("\n[accelerometer]\noffset_m_s2 = [0.2"))
        #expect(text.contains("\nmatrix = [[0.98"))
        #expect(text.contains("\nfit_error_m_s2 = 0.0"))
        #expect(text.hasSuffix("\npositions = 6\n"))
        // And the other way round.
        #expect(try Binary.run("calibrate", "--trace", full.path, "-o", path, "--force").status == 0)
        let again = try String(contentsOfFile: path, encoding: .utf8)
        #expect(try Self.numbers("offset_m_s2", in: again) == Self.numbers("offset_m_s2", in: text))
    }

    @Test func aMissingPositionIsNamed() throws {
        let missing = try Self.positions(without: 5)
        let result = try Binary.run("calibrate", "accelerometer", "--trace", missing.path)
        #expect(result.status == 65)
        #expect(result.errors.contains("not held still for a second: left edge up"))
        let moving = try Self.positions(moving: 0)
        let moved = try Binary.run("calibrate", "accelerometer", "--trace", moving.path, "--json")
        #expect(moved.status == 65)
        #expect(try Self.object(moved.output)["refusal"] as? String == "moving")
        #expect(moved.errors.contains("it moved with screen up"))
    }

    // MARK: - Files

    @Test(
        arguments: [
            "[sensor.compass]\nsource = \"auto\"\n", "no TOML at all", "magnetometer = 5\n",
            "[magnetometer]\nwhen = 2026-11-21\n[other]\n",
        ])
    func aFileThatIsNoCalibrationIsKept(contents: String) throws {
        let file = try TemporaryFile(contents, suffix: ".toml")
        let trace = try Self.trace("synth_full_sphere_400")
        let result = try Binary.run("calibrate", "--trace", trace.path, "-o", file.path)
        #expect(result.status == 73)
        #expect(result.errors.contains("is there already and is no calibration"))
        #expect(try file.text() == contents)
        #expect(try Binary.run("calibrate", "--trace", trace.path, "-o", file.path, "--force").status == 0)
        #expect(try file.text().contains("[magnetometer]\nmodel = \"ellipsoid\""))
    }

    /// A calibration took a while to make: without a terminal --force replaces it, at one an answer does.
    @Test func aCalibrationIsReplacedOnlyWhenAskedFor() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/c.toml"
        let trace = try Self.trace("synth_full_sphere_400")
        #expect(try Binary.run("calibrate", "--trace", trace.path, "-o", path).status == 0)
        let marked = try String(contentsOfFile: path, encoding: .utf8) + "# mine\n"
        try marked.write(toFile: path, atomically: true, encoding: .utf8)
        let refused = try Binary.run("calibrate", "--trace", trace.path, "-o", path)
        #expect(refused.status == 73)
        #expect(refused.errors.contains("has a calibration of the magnetometer already: name another file, or replace"))
        #expect(refused.errors.contains("--force"))
        let command = "'\(Binary.path)' calibrate --trace '\(trace.path)' -o '\(path)'"
        for (answer, isReplaced) in [("n", false), ("", false), ("y", true)] {
            let run = Child(["/bin/sh", "-c", "printf '\(answer)\\n' | script -qec \"\(command)\" /dev/null"])
            let output = try TemporaryFile()
            run.standardOutput = try output.writer()
            try run.run()
            run.waitUntilExit()
            let said = try output.text()
            #expect(run.terminationStatus == (isReplaced ? 0 : 73), "\(said)")
            #expect(said.contains("Replace it when there is a new one? [y/N]"))
            let isChanged = try String(contentsOfFile: path, encoding: .utf8) != marked
            #expect(isChanged == isReplaced)
        }
    }

    /// A file that is a link, or has rights that are not the usual ones, keeps them.
    @Test func linksAndRightsStay() throws {
        let folder = try TemporaryFolder(["there.toml": "[accelerometer]\npositions = 6\n"])
        let (file, link) = (folder.path + "/there.toml", folder.path + "/link.toml")
        chmod(file, 0o640)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "there.toml")
        let trace = try Self.trace("synth_full_sphere_400")
        let result = try Binary.run("calibrate", "--trace", trace.path, "-o", "link.toml", in: folder.path)
        #expect(result.status == 0)
        #expect(result.output.hasSuffix("calibration = \"\(file)\"\n"))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "there.toml")
        #expect(try String(contentsOfFile: file, encoding: .utf8).hasSuffix("\n[accelerometer]\npositions = 6\n"))
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o640)
    }

    @Test func placesThatCannotBeWrittenAreToldOf() throws {
        let trace = try Self.trace("synth_full_sphere_400")
        for path in ["/nowhere/at/all.toml", "/dev/null", "/"] {
            let result = try Binary.run("calibrate", "--trace", trace.path, "-o", path)
            #expect(result.status == 73, "\(path): \(result.errors)")
        }
    }

    @Test func theTableGoesToStandardOutput() throws {
        let trace = try Self.trace("synth_full_sphere_400")
        let result = try Binary.run("calibrate", "--trace", trace.path, "-o", "-")
        #expect(result.output.hasPrefix("# Written by binnacle calibrate"))
        #expect(result.output.hasSuffix("samples = 400\n"))
        #expect(result.errors.contains("verdict: good"))
    }

    @Test(
        arguments: [
            (["barometer"], "calibrate takes no 'barometer'"), (["magnetometer", "accelerometer"], "one kind"),
            (["--from", "1"], "--from is for --trace"), (["--trace", "x", "--config", "y"], "does not go with"),
            (["--model", "cube"], "sphere or ellipsoid"), (["--position", "54"], "LAT,LON"),
            (["--position", "91,0"], "LAT,LON"), (["--field", "nan"], "number of µT"),
            (["accelerometer", "--field", "50"], "for magnetometers"), (["--json", "-o", "-"], "standard output"),
            (["--trace", "x", "--from", "2", "--to", "1"], "behind"), (["--trace", "x", "--to", "1e300"], "seconds"),
            (["--sensor", "a", "--sensor", "b"], "one sensor"), (["--for", "0s"], "above 0"),
        ] as [([String], String)])
    func wrongUseIsExplained(arguments: [String], message: String) throws {
        let result = try Binary.run(["calibrate"] + arguments)
        #expect(result.status == 64)
        #expect(result.errors.contains(message), "\(result.errors)")
    }
}

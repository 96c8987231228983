import Foundation
import TestSupport
import Testing

@Suite struct ReplayTests {
    /// The telephone's maker has removed the hard iron.
    private let calibrated = ["--set", "north.north.hard_iron_uT=0"]
    private let walk = ["Accelerometer", "Magnetometer"].map { "\(Binary.fixtures)/phyphox_walk/\($0).csv" }
    private let broad05 = "\(Binary.fixtures)/broad/broad05_rotation_breaks.csv"

    private func kinds(_ result: Binary.Result) throws -> [String] {
        try result.lines.map {
            let object = try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
            return try #require(object?["kind"] as? String)
        }
    }

    @Test func theWalkIsToldInWordsWithASummary() throws {
        let result = try Binary.run(["replay"] + walk)
        #expect(result.status == 0)
        #expect(result.output.contains("motion.began"))
        #expect(result.output.contains("heading"))
        let summary = try #require(result.lines.first { $0.hasPrefix("replayed 21152 samples") })
        #expect(summary.contains("105.0 s recorded"))
        #expect(result.lines.contains("  motion: still moving when the trace ended"))
    }

    @Test func theOrderOfTheFilesOnTheCommandLineDoesNotMatter() throws {
        let one = try Binary.run(["replay", "--json"] + walk)
        let other = try Binary.run(["replay", "--json"] + walk.reversed())
        #expect(one.output == other.output)
    }

    @Test func oneMotionDetectorAndOneNorthDetectorByDefault() throws {
        let result = try Binary.run("replay", "--json", broad05)
        let names = try result.lines.map { line -> String in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return "\(object?["detector"] ?? "-") \(object?["sensor"] ?? "-")"
        }
        #expect(Set(names) == ["motion accelerometer", "north magnetometer"])
        #expect(try kinds(result).filter { $0 == "motion.began" }.count == 4)
    }

    @Test func withoutAMagnetometerThereIsNoHeadingAndItIsSaid() throws {
        let result = try Binary.run("replay", "--json", walk[0])
        #expect(result.status == 0)
        #expect(!(try kinds(result).contains("heading")))
        #expect(result.errors.contains("no magnetometer"))
    }

    /// One command plays a folder of recordings, of which some have a magnetometer.
    @Test func withoutAMagnetometerSettingsOfHeadingsHaveNoEffect() throws {
        let plain = try Binary.run("replay", "--json", walk[0])
        let result = try Binary.run(["replay", "--json", walk[0]] + calibrated)
        #expect(result.status == 0 && result.output == plain.output)
        #expect(result.errors.contains("--set north.north.hard_iron_uT=0: no effect without a magnetometer"))
        let named = try Binary.run(["replay", walk[0], "--set", "north.north.magnetometer=accelerometer"] + calibrated)
        #expect(named.status != 0)
    }

    @Test func withoutAnAccelerometerThereIsNothingToDo() throws {
        let result = try Binary.run("replay", walk[1])
        #expect(result.status == 64)
        #expect(result.errors.contains("no accelerometer"))
    }

    @Test func sensorsAreBoundByNameOrByKind() throws {
        let configuration = try TemporaryFile(
            """
            [sensor.phone]
            source = "iio"
            match = { name = "accel_3d" }
            [sensor.compass]
            source = "iio"
            match = { name = "magn_3d" }
            [motion.walk]
            accelerometer = "phone"
            [north.way]
            accelerometer = "phone"
            magnetometer = "compass"
            """, suffix: ".toml")
        let byKind = try Binary.run(["replay", "--json", "-c", configuration.path] + walk)
        #expect(byKind.status == 0)
        #expect(byKind.output.contains(#""detector":"walk","sensor":"phone""#))
        #expect(byKind.output.contains(#""detector":"way","sensor":"compass""#))
        let byName = try Binary.run(
            "replay", "--json", "-c", configuration.path, "--bind", "compass=\(walk[1])",
            "--bind=phone=\(walk[0]):accelerometer"
        )
        #expect(byName.output == byKind.output)
        let missing = try Binary.run("replay", "--json", "-c", configuration.path, walk[0])
        #expect(missing.status == 64)
        #expect(missing.errors.contains("north.way needs the magnetometer of sensor 'compass'"))
        let unknown = try Binary.run("replay", "-c", configuration.path, "--bind", "fone=\(walk[0])", walk[1])
        #expect(unknown.status == 64)
        #expect(unknown.errors.contains("fone"))
        let wrongKind = try Binary.run("replay", "-c", configuration.path, "--bind", "phone=\(walk[1])", walk[0])
        #expect(wrongKind.status == 64)
        #expect(wrongKind.errors.contains("has no accelerometer"))
    }

    @Test func handlersLogAlwaysAndRunCommandsOnlyWhenAsked() throws {
        let witness = try TemporaryFile()
        let configuration = try TemporaryFile(
            """
            [sensor.chassis]
            source = "iio"
            match = { name = "accel_3d" }
            [motion.moved]
            accelerometer = "chassis"
            [handler.note]
            on = ["motion.began"]
            log = true
            decorate = [{ count = { every = 2 } }]
            [handler.alarm]
            on = ["motion.ended"]
            command = ["/usr/bin/tee", "-a", "\(witness.path)"]
            decorate = [{ rate_limit = { per_minute = 1 } }]
            """, suffix: ".toml")
        let quiet = try Binary.run("replay", "--json", "--config", configuration.path, broad05)
        #expect(quiet.errors.split(separator: "\n").filter { $0.hasPrefix("note: ") }.count == 2)
        #expect(try witness.text().isEmpty)
        let loud = try Binary.run("replay", "--json", "--config", configuration.path, "--handlers", broad05)
        #expect(loud.output == quiet.output)
        // Four ends, three of them less than a minute after one that passed.
        let written = try witness.text().split(separator: "\n").map(String.init)
        #expect(written.count == 2)
        #expect(written.allSatisfy { loud.lines.contains($0) })
    }

    @Test(arguments: ["/nonexistent/program", "/bin/false", "/etc/passwd"])
    func aCommandThatFailsIsNamedAndEndsNothing(program: String) throws {
        let configuration = try TemporaryFile(
            """
            [sensor.chassis]
            source = "iio"
            match = { name = "accel_3d" }
            [motion.moved]
            accelerometer = "chassis"
            [handler.alarm]
            on = ["motion.ended"]
            command = ["\(program)"]
            """, suffix: ".toml")
        let result = try Binary.run("replay", "--json", "--config", configuration.path, "--handlers", broad05)
        #expect(result.status == 0)
        let said = result.errors.split(separator: "\n").filter { $0.hasPrefix("alarm: \(program): ") }
        // What cannot be run is said once.
        #expect(said.count == (program == "/bin/false" ? 4 : 2))
        #expect(program == "/bin/false" || said[1].hasSuffix("the same for 3 more events"))
    }

    @Test func handlersThatAreNotRunAreNamed() throws {
        let folder = try TemporaryFolder([
            "b.toml": """
            [sensor.chassis]
            source = "auto"
            [motion.moved]
            accelerometer = "chassis"
            [handler.alarm]
            on = ["motion.ended"]
            command = ["/bin/true"]
            [handler.log]
            on = ["motion.ended"]
            log = true
            """
        ])
        let words = "binnacle: not run, because they act on the world: `alarm`; --handlers runs them\n"
        let result = try Binary.run("replay", "--json", "--config", folder.path + "/b.toml", broad05)
        #expect(result.errors.contains(words), "\(result.errors)")
        let other = try Binary.run("replay", "--json", "--handlers", "--config", folder.path + "/b.toml", broad05)
        #expect(!other.errors.contains("not run"))
    }

    @Test func aConfigurationMayNameItsTraces() throws {
        let folder = URL(fileURLWithPath: broad05).deletingLastPathComponent().path
        let configuration = try TemporaryFile(
            """
            [sensor.device]
            source = "trace"
            file = "\(folder)/broad05_rotation_breaks.csv"
            [sensor.spare]
            source = "trace"
            file = "nobody-looks-at-it.csv"
            [motion.moved]
            accelerometer = "device"
            """, suffix: ".toml")
        let result = try Binary.run("replay", "--json", "--config", configuration.path)
        #expect(result.status == 0)
        #expect(try kinds(result).filter { $0 == "motion.began" }.count == 4)
        let relative = try Binary.run(
            "replay", "--json", "--config", "Golden/simulated-three-sensors.toml", in: Binary.tests.path)
        let expected = try Binary.run(
            "replay", "--json", "--config", "simulated-three-sensors.toml", "simulated-three-sensors.csv",
            in: Binary.golden)
        #expect(relative.output == expected.output)
        #expect(!relative.output.isEmpty)
    }

    @Test func aConfigurationWithoutADetectorIsRefused() throws {
        let configuration = try TemporaryFile(
            "[sensor.device]\nsource = \"iio\"\nmatch = { name = \"a\" }\n", suffix: ".toml")
        let result = try Binary.run("replay", "--config", configuration.path, broad05)
        #expect(result.status == 78)
        #expect(result.errors.contains("no detector"))
    }

    @Test func whatNobodyLooksAtIsSaid() throws {
        let result = try Binary.run("replay", "--json", broad05, walk[0])
        #expect(result.errors.contains("'accelerometer2': not used"))
    }

    /// Also by another path, by a link, in a folder beside it, and in a sum of several replays.
    @Test func aRecordingCountsOnce() throws {
        let folder = try TemporaryFolder()
        let (file, link) = (folder.path + "/a.csv", folder.path + "/b.csv")
        try FileManager.default.copyItem(atPath: broad05, toPath: file)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
        let other = folder.path + "/./a.csv"
        for (words, option) in [
            (["replay"], []), (["sweep"], []), (["plot", "-o", folder.path + "/x.svg"], []),
            (["convert", "-o", "-"], []), (["calibrate", "magnetometer"], ["--trace"]), (["run"], ["--trace"]),
        ] as [([String], [String])] {
            for second in [file, link, other] {
                let result = try Binary.run(words + option + [file] + option + [second])
                #expect(result.status == 64, "\(words) \(second)")
                #expect(
                    result.errors.contains(
                        "\(second): is named twice" + (second == file ? "\n" : ", first as \(file)")),
                    "\(words): \(result.errors)")
            }
        }
        unlink(link)
        for words in [
            ["sweep", folder.path, file], ["replay", folder.path, other], ["sweep", folder.path, folder.path],
        ] {
            #expect(try Binary.run(words).errors.contains("is named twice"), "\(words)")
        }
        #expect(try Binary.run("replay", file, "--bind", "x=\(other)").errors.contains("is named twice"))
        // Each sensor has its own samples of one file, and each line of --each a result of its own.
        let bound = try Binary.run("replay", "--bind", "x=\(file):accelerometer", "--bind", "y=\(other):magnetometer")
        #expect(bound.status == 0, "\(bound.errors)")
        let each = try Binary.run(["replay", "--each"], input: "\(file)\n\(other)\n")
        #expect(each.lines.count { $0.contains("recording.replayed") } == 2, "\(each.errors)")
    }

    @Test func aNameCannotWriteToTheTerminal() throws {
        let header = "time_ns,a\u{9B}31m.ax_g,a\u{9B}31m.ay_g,a\u{9B}31m.az_g\n"
        let file = try TemporaryFile(header + "1,0,0,1\n9000000000,0,0,1\n", suffix: "\u{1B}[31m.csv")
        for arguments in [["replay", file.path], ["replay", "--json", file.path], ["replay", file.path + "x"]] {
            let result = try Binary.run(arguments)
            for text in [result.output, result.errors] {
                #expect(!text.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{9B}" })
            }
        }
    }

    @Test func stampsAtBothEndsOfTimeArePacedWithoutOverflow() throws {
        let file = try TemporaryFile(
            "time_ns,ax,ay,az\n-9000000000000000000,0,0,1\n9000000000000000000,0,0,1\n9000000000000000001,0,0,1\n")
        let result = try Binary.run("replay", "--json", "--speed", "1e18", file.path)
        #expect(result.status == 0)
        #expect(result.output.contains("gap"))
    }

    /// Whatever names it, and also with --force.
    @Test func whatIsReadIsNotWrittenOver() throws {
        let text = "time_s,ax,ay,az\n0,0,0,1\n0.01,0,0,1\n"
        let folder = try TemporaryFolder(["v.csv": text])
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/link.json", withDestinationPath: "v.csv")
        let configuration =
            "[sensor.box]\nsource = \"trace\"\nfile = \"v.csv\"\n[motion.moved]\naccelerometer = \"box\"\n"
        try configuration.write(toFile: folder.path + "/c.toml", atomically: true, encoding: .utf8)
        for arguments in [
            ["replay", "v.csv", "--report", "./v.csv"], ["replay", "v.csv", "--report", "link.json"],
            ["replay", "-c", "c.toml", "--report", "c.toml"], ["plot", "-c", "c.toml", "-o", "c.toml"],
        ] {
            let result = try Binary.run(arguments + ["--force"], in: folder.path)
            #expect(result.status != 0, "\(arguments)")
            #expect(try String(contentsOfFile: folder.path + "/v.csv", encoding: .utf8) == text, "\(arguments)")
            #expect(try String(contentsOfFile: folder.path + "/c.toml", encoding: .utf8) == configuration)
        }
    }

    @Test func ctrlCEndsWithWhatWasDoneAndCompleteLines() throws {
        let process = Binary.process(["replay", "--json", "--speed", "20"] + calibrated + walk)
        let output = try TemporaryFile()
        let errors = try TemporaryFile()
        process.standardOutput = try output.writer()
        process.standardError = try errors.writer()
        try process.run()
        try output.wait { $0.split(separator: "\n").count >= 20 }
        kill(process.processIdentifier, SIGINT)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit)
        #expect(process.terminationStatus == 130)
        #expect(try errors.text().contains("cancelled after"))
        let text = try output.text()
        let whole = try Binary.run(["replay", "--json"] + calibrated + walk).output
        #expect(text.hasSuffix("\n"))
        #expect(whole.hasPrefix(text))
        #expect(text.count < whole.count)
    }

    @Test func whatIsFarAheadIsWaitedForInOnePieceAndASignalEndsIt() throws {
        let trace = try TemporaryFile("time_s,ax,ay,az,mx,my,mz\n0,0,0,9.8,0,21,-45\n3000,0,0,9.8,0,21,-45\n")
        let process = Binary.process(["replay", "--json", "--speed", "1"] + calibrated + [trace.path])
        let output = try TemporaryFile()
        let errors = try TemporaryFile()
        process.standardOutput = try output.writer()
        process.standardError = try errors.writer()
        try process.run()
        // The first heading is written before the wait.
        try output.wait { $0.contains("heading") }
        // A wait that wakes up again and again does so within any time.
        usleep(300_000)
        let status = try String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches") })
        let switches = try #require(line.split(separator: "\t").last.flatMap { Int($0) })
        kill(process.processIdentifier, SIGINT)
        process.waitUntilExit()
        #expect(switches < 100)
        #expect(process.terminationStatus == 130)
        #expect(try errors.text().contains("cancelled after 2 samples"))
    }

    @Test func aKilledReplayLeavesCompleteLines() throws {
        for delay in [5_000, 20_000, 60_000] as [UInt32] {
            let process = Binary.process(["replay", "--json", "--speed", "500"] + walk)
            let pipe = Pipe()
            process.standardOutput = pipe.fileHandleForWriting
            try process.run()
            try pipe.fileHandleForWriting.close()
            usleep(delay)
            kill(process.processIdentifier, SIGKILL)
            let data = pipe.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            #expect(data.isEmpty || data.last == UInt8(ascii: "\n"))
        }
    }

    @Test func aReaderThatGoesAwayIsNoFault() throws {
        let process = Binary.process(["replay", "--json"] + walk)
        let pipe = Pipe()
        process.standardOutput = pipe.fileHandleForWriting
        try process.run()
        try pipe.fileHandleForWriting.close()
        _ = try pipe.fileHandleForReading.read(upToCount: 10)
        try pipe.fileHandleForReading.close()
        process.waitUntilExit()
        #expect(process.terminationReason == .exit)
        #expect(process.terminationStatus == 0)
    }

    @Test func aFullDiskIsAFault() throws {
        guard FileManager.default.isWritableFile(atPath: "/dev/full") else { return }
        let process = Binary.process(["replay", "--json"] + walk)
        process.standardOutput = FileHandle(forWritingAtPath: "/dev/full")
        let errors = try TemporaryFile()
        process.standardError = try errors.writer()
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 74)
        #expect(try errors.text().contains("standard output"))
    }

    @Test func aPipeIsReadAsAFileIs() throws {
        let process = Child(
            ["/bin/sh", "-c", "cat '\(broad05)' | '\(Binary.path)' replay --json /dev/stdin 2>/dev/null"])
        let output = try TemporaryFile()
        process.standardOutput = try output.writer()
        try process.run()
        process.waitUntilExit()
        #expect(try output.text() == Binary.run("replay", "--json", broad05).output)
    }

    /// A large file is decoded on all processors; what is printed is that of one.
    @Test(arguments: [false, true]) func allProcessorsPrintWhatOnePrints(endsEarly: Bool) throws {
        var text = "t_ms,ax,ay,az\n"
        text.reserveCapacity(8_000_000)
        for row in 0..<250_000 {
            let push = row % 5000 < 200 ? row % 7 : 0
            switch row % 10_007 {
            case 17: text += "\(row * 10),nan,0.1,9.8\n"
            case 5000: text += "\(row * 10 - 500),0.1,0.2,9.8\n"
            case 9000: text += "\n\(row * 10),0.1,0.\n\(row * 10),x,0.1,9.8125\n"
            default: text += "\(row * 10),\(push).0\(row % 10),0.125,9.8125\n"
            }
            if endsEarly, row == 200_000 { text += String(repeating: "x,y,z\n", count: 1001) }
        }
        let file = try TemporaryFile(text, suffix: ".csv")
        let arguments = ["replay", "--json", file.path]
        let all = try Binary.run(arguments)
        let one = try onOneProcessor { try Binary.run(arguments) }
        #expect(all.output == one.output)
        // All but the time that it took.
        let messages = [all, one].map { $0.errors.split(separator: "\n").filter { !$0.hasPrefix("replayed ") } }
        #expect(messages[0] == messages[1])
        #expect(messages[0].count > 3)
        #expect(all.status == one.status)
        #expect(all.status == (endsEarly ? 65 : 0))
        #expect(all.lines.count > 50)
        #expect(all.errors.contains("\(file.path):"))
    }

    /// What a magnetometer showed before it froze is no compass to which a gyroscope is compared.
    @Test func aMagnetometerThatFreezesBlamesNoGyroscope() throws {
        let path = "\(Binary.fixtures)/gyroscope/broad11_slow_translation.csv"
        let rows = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").dropFirst().map {
            $0.split(separator: ",", omittingEmptySubsequences: false)
        }
        let head = "time_ns,gx_rad_s,gy_rad_s,gz_rad_s,ax_m_s2,ay_m_s2,az_m_s2,mx_uT,my_uT,mz_uT"
        let lines = rows.enumerated().map { index, row in
            (["\(index * 7_000_000)"] + row[1...6] + rows[min(index, 4000)][7...9]).joined(separator: ",")
        }
        let file = try TemporaryFile(([head] + lines).joined(separator: "\n") + "\n", suffix: ".csv")
        let result = try Binary.run(
            "replay", "--json", "--set", "north.north.heading_filter_deg=0", "--set", "north.north.upright_axis=none",
            "--set", "north.north.hard_iron_uT=0", file.path)
        #expect(result.status == 0 && result.output.contains("\"heading\""), "\(result.errors)")
        #expect(!result.output.contains("detector.failed"))
    }

    /// Two recordings in a row: the gyroscope has not seen that the device was turned, and no room turns the field in a moment.
    @Test func aJumpOfTheFieldIsNoRoom() throws {
        let path = "\(Binary.fixtures)/gyroscope/broad07_fast_rotation.csv"
        let rows = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").dropFirst().map {
            $0.split(separator: ",", omittingEmptySubsequences: false)[1...9].joined(separator: ",")
        }
        let head = "time_ns,gx_rad_s,gy_rad_s,gz_rad_s,ax_m_s2,ay_m_s2,az_m_s2,mx_uT,my_uT,mz_uT"
        func headings(_ rows: [String]) throws -> Int {
            let lines = rows.enumerated().map { index, row in "\(index * 7_000_000),\(row)" }
            let file = try TemporaryFile(([head] + lines).joined(separator: "\n") + "\n", suffix: ".csv")
            let result = try Binary.run(["replay", "--json", file.path] + calibrated)
            return result.lines.count { $0.contains(#""kind":"heading","#) && !$0.contains("age_s") }
        }
        let (once, twice) = (try headings(rows), try headings(rows + rows))
        #expect(once > 8000 && Double(twice) > 1.8 * Double(once), "\(once), \(twice)")
    }
}

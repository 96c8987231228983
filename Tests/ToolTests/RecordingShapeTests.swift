import Foundation
import TestSupport
import Testing

/// Recordings of many shapes, through the program.
///
/// Each plays right, or its refusal prints a command that does, or it is
/// said at the beginning and in the summary what may be wrong. None plays wrong in silence.
@Suite struct RecordingShapeTests {
    /// What a conversion gave: the mean of the first samples, and their distance.
    private struct Played {
        let rest: [Double]
        let stepSeconds: Double
        let messages: String

        init(_ output: URL, messages: String) throws {
            self.messages = messages
            var rows: [[Double]] = []
            for line in try String(contentsOf: output, encoding: .utf8).split(separator: "\n").dropFirst() {
                let fields = line.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
                // The accelerometer is behind a magnetometer.
                let values = Array(fields.suffix(3).compactMap { $0 })
                guard let time = fields[0], values.count == 3 else { continue }
                rows.append([time] + values)
                if rows.count == 140 { break }
            }
            try #require(rows.count == 140, "\(messages)")
            rest = (1...3).map { axis in rows.reduce(0) { $0 + $1[axis] } / 140 }
            stepSeconds = (rows[139][0] - rows[0][0]) / 139 * 1e-9
        }
    }

    private func shell(_ line: String, in folder: TemporaryFolder) throws -> Binary.Result {
        let child = Child(["/bin/sh", "-c", line])
        child.folder = folder.path
        let output = try TemporaryFile()
        let errors = try TemporaryFile()
        child.standardOutput = try output.writer()
        child.standardError = try errors.writer()
        try child.run()
        child.waitUntilExit()
        return Binary.Result(status: child.terminationStatus, output: try output.text(), errors: try errors.text())
    }

    /// The command that a refusal prints; `binnacle` is the program under test, and `piped` what a pipe had.
    private func retry(_ result: Binary.Result, piped: String? = nil) throws -> String {
        let lines = result.errors.split(separator: "\n").filter { $0.hasPrefix("try: ") }
        try #require(lines.count == 1, "\(result.errors)")
        var line = String(lines[0].dropFirst(5))
        if let piped {
            #expect(line.hasPrefix("… | "), "\(line)")
            line = line.replacingOccurrences(of: "… | ", with: "cat '\(piped)' | ")
        }
        return "binnacle() { '\(Binary.path)' \"$@\"; }; " + line
    }

    /// Runs the command that a refusal prints, and what that prints in turn, until one succeeds or prints none.
    private func followed(
        _ first: Binary.Result, in folder: TemporaryFolder, most: Int = 3, piped: String? = nil
    ) throws -> Binary.Result {
        var result = first
        var lines: [String] = []
        while result.status != 0, result.errors.contains("\ntry: ") {
            let line = try retry(result, piped: piped)
            #expect(!lines.contains(line), "the command that was printed does nothing: \(line)")
            try #require(lines.count < most, "\(lines) \(result.errors)")
            lines.append(line)
            result = try shell(line, in: folder)
        }
        return result
    }

    /// One file of a command is refused: the command that is printed plays all that can be played.
    @Test(arguments: RecordingShape.all, [false, true])
    func playsBesideAnotherRecording(shape: RecordingShape, isFirst: Bool) throws {
        let folder = try TemporaryFolder([
            "my other.csv": "time_s,ax_m_s2,ay_m_s2,az_m_s2\n"
                + RecordingShape.moments.map { RecordingShape.f([$0.t] + $0.a) + "\n" }.joined()
        ])
        try shape.contents.write(to: URL(fileURLWithPath: "\(folder.path)/\(shape.file)"))
        let files = isFirst ? [shape.file, "my other.csv"] : ["my other.csv", shape.file]
        let result = try followed(try Binary.run(["replay", "--json"] + files, in: folder.path), in: folder)
        #expect(result.status == 0, "\(result.errors)")
        #expect(shape.told != nil || result.output.contains("motion.began"), "\(result.errors)")
    }

    /// All files that an app exports, most of which no detector uses.
    @Test(arguments: ["replay", "plot", "calibrate"])
    func aFolderOfAnAppPlaysWithTheCommandThatIsPrinted(command: String) throws {
        func text(_ names: String, _ row: (RecordingShape.Moment) -> [Double]) -> String {
            "time,seconds_elapsed,\(names)\n"
                + RecordingShape.moments.map {
                    "\(1_679_068_247_354_694_100 + Int64($0.number) * 20_000_000),"
                        + RecordingShape.f([$0.t] + row($0)) + "\n"
                }.joined()
        }
        let folder = try TemporaryFolder([
            "Accelerometer.csv": text("z,y,x") { $0.user.reversed() },
            "TotalAcceleration.csv": text("z,y,x") { $0.a.reversed() },
            "Gravity.csv": text("z,y,x") { _ in [9.81, 0, 0] },
            "Gyroscope.csv": text("z,y,x") { $0.w.reversed() },
            "Magnetometer.csv": text("z,y,x") { $0.m.reversed() },
            "Orientation.csv": text("qz,qy,qx,qw,roll,pitch,yaw") { [0.1, 0.7, 0, 0.7] + $0.w },
            "Barometer.csv": text("relativeAltitude,pressure") { [$0.t, 1013] },
            "Compass.csv": text("magneticBearing") { [$0.t] },
            "Location.csv": text("speed,bearing,altitude,longitude,latitude") { [1, 2, $0.t, 9.9, 53.5] },
        ])
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".csv") }
            .sorted()
        if command == "calibrate" {
            let traces = files.flatMap { ["--trace", $0] }
            let result = try followed(try Binary.run([command] + traces, in: folder.path), in: folder, most: 1)
            // The device lies still, so that nothing can be fitted; the samples have been read.
            #expect(result.errors.contains("no calibration of the magnetometer: only"), "\(result.errors)")
            return
        }
        // A configuration is no recording, although it is not left out.
        try "[motion.motion]\naccelerometer = \"a\"\n[sensor.a]\nsource = \"auto\"\n".write(
            toFile: folder.path + "/binnacle.toml", atomically: true, encoding: .utf8)
        let options = ["--config", "binnacle.toml"] + (command == "plot" ? ["-o", "page.html"] : ["--json"])
        let result = try followed(try Binary.run([command] + options + files, in: folder.path), in: folder, most: 1)
        #expect(result.status == 0, "\(result.errors)")
        #expect(command == "plot" || result.output.contains("motion.began"), "\(result.errors)")
    }

    /// The folder of a file that is refused: the command that is printed makes it one that plays.
    @Test(arguments: RecordingShape.all.filter(\.isAccelerometer))
    func aFolderPlaysWithTheCommandThatIsPrinted(shape: RecordingShape) throws {
        let folder = try TemporaryFolder(["export/notes.txt": "a walk"])
        try shape.contents.write(to: URL(fileURLWithPath: "\(folder.path)/export/\(shape.file)"))
        let first = try Binary.run(["replay", "--json", "export"], in: folder.path)
        guard first.status != 0, first.errors.contains("\ntry: ") else { return }
        let result = try followed(first, in: folder)
        #expect(result.status == 0, "\(result.errors)")
    }

    /// A command that is printed runs, whatever command was refused.
    @Test(arguments: RecordingShape.all)
    func everyCommandThatIsPrintedRuns(shape: RecordingShape) throws {
        let folder = try TemporaryFolder([
            "config.toml": "[sensor.s]\nsource = \"trace\"\nfile = \"\(shape.file)\"\n"
                + "[motion.m]\naccelerometer = \"s\"\n"
        ])
        try shape.contents.write(to: URL(fileURLWithPath: "\(folder.path)/\(shape.file)"))
        var commands = [["convert", shape.file, "-o", "out.csv"]]
        if shape.isAccelerometer {
            commands += [
                ["replay", "--report", "report.json", shape.file], ["plot", "-o", "page.html", shape.file],
                ["run", "--speed", "1000", "--json", "--trace", shape.file],
                ["run", "--speed", "1000", "--json", "--config", "config.toml", "--trace=\(shape.file)"],
            ]
        }
        func follow(_ first: Binary.Result, piped: String? = nil) throws {
            guard first.status != 0, first.errors.contains("\ntry: ") else { return }
            let result = try followed(first, in: folder, piped: piped)
            #expect(result.status == 0, "\(result.errors)")
        }
        for command in commands { try follow(try Binary.run(command, in: folder.path)) }
        // Named in a configuration, which keeps naming it.
        let configured = try Binary.run(["replay", "--config", "config.toml"], in: folder.path)
        if configured.status != 0, configured.errors.contains("\ntry: ") {
            #expect(try shell(try retry(configured), in: folder).status == 0)
        }
        for command in [
            ["convert", "-", "-o", "piped.csv"], ["replay", "--json", "-"], ["replay", "/dev/stdin", "--json"],
        ]
        where shape.isAccelerometer || command[0] == "convert" {
            let line = ([Binary.path] + command).map { "'\($0)'" }.joined(separator: " ")
            try follow(try shell("cat '\(shape.file)' | \(line)", in: folder), piped: shape.file)
        }
    }

    /// What was recorded at another time is not the same recording.
    @Test(arguments: [true, false])
    func anotherRecordingIsNotProposed(isOfTheSameTime: Bool) throws {
        func text(_ start: Int64, _ row: (RecordingShape.Moment) -> [Double]) -> String {
            "time,z,y,x\n"
                + RecordingShape.moments.map {
                    "\(start + Int64($0.number) * 20_000_000)," + RecordingShape.f(row($0)) + "\n"
                }.joined()
        }
        let start: Int64 = 1_679_068_247_354_694_100
        let folder = try TemporaryFolder([
            "Linear Acceleration.csv": text(start) { $0.user },
            "Accelerometer.csv": text(isOfTheSameTime ? start + 300_000_000 : start - 86_400_000_000_000) { $0.a },
        ])
        let result = try Binary.run(["replay", "--json", "Linear Acceleration.csv"], in: folder.path)
        let line = try #require(result.errors.split(separator: "\n").last)
        let wanted =
            isOfTheSameTime
            ? "binnacle replay --json Accelerometer.csv"
            : "binnacle replay --map acceleration=linear --json 'Linear Acceleration.csv'"
        #expect(line == "try: " + wanted)
    }

    /// A packed file whose name does not say so, and one beside a file that has the name without the end.
    @Test(arguments: ["walk.csv", "walk.csv.gz"]) func aPrintedCommandWritesOverNoFile(name: String) throws {
        let rows = RecordingShape.moments.map { RecordingShape.f([$0.t] + $0.a) + "\n" }
        let folder = try TemporaryFolder([
            "plain": "time_s,ax_m_s2,ay_m_s2,az_m_s2\n" + rows.joined(), "walk.csv": "mine",
        ])
        #expect(try shell("gzip -c plain >'\(name)'", in: folder).status == 0)
        func contents() throws -> [Data] {
            try ["walk.csv", name].map { try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/\($0)")) }
        }
        let before = try contents()
        let result = try followed(try Binary.run(["replay", "--json", name], in: folder.path), in: folder)
        #expect(result.status == 0 && result.output.contains("motion.began"), "\(result.errors)")
        #expect(try contents() == before)
    }

    /// One recording with both signs of the acceleration, as `up.csv` and `down.csv`.
    private static func bothSigns() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for (name, sign) in [("up", 1.0), ("down", -1.0)] {
            let rows = RecordingShape.moments.map {
                RecordingShape.f([$0.t] + $0.a.map { $0 * sign } + $0.m) + "\n"
            }
            try ("t_s,ax_m_s2,ay_m_s2,az_m_s2,mx_uT,my_uT,mz_uT\n" + rows.joined()).write(
                toFile: "\(folder.path)/\(name).csv", atomically: true, encoding: .utf8)
        }
        return folder
    }

    /// The remedy that a lost heading prints works for the section of a device as well, in whose place a recording plays.
    @Test func theSignOfADeviceIsThatOfARecordingInItsPlace() throws {
        let folder = try Self.bothSigns()
        for acceleration in ["specific_force", "gravity"] {
            try """
            [sensor.chassis]
            source = "auto"
            acceleration = "\(acceleration)"
            [north.north]
            accelerometer = "chassis"
            magnetometer = "chassis"
            hard_iron_uT = 0
            """.write(toFile: "\(folder.path)/\(acceleration).toml", atomically: true, encoding: .utf8)
        }
        func run(_ arguments: String...) throws -> String {
            let result = try Binary.run(arguments, in: folder.path)
            #expect(result.status == 0, "\(result.errors)")
            return result.output
        }
        let right = try run("replay", "--json", "--config", "specific_force.toml", "up.csv")
        #expect(right.contains("heading"))
        #expect(try run("replay", "--json", "--config", "gravity.toml", "down.csv") == right)
        #expect(
            try run("replay", "--json", "--config", "gravity.toml", "--bind", "chassis=down.csv") == right)
        #expect(try run("replay", "--json", "--config", "specific_force.toml", "down.csv") != right)
        // What `record` writes has been turned.
        for name in ["own.csv", "own.arrows"] {
            _ = try run("convert", "up.csv", "-o", name)
            #expect(try run("replay", "--json", "--config", "gravity.toml", name) == right, "\(name)")
        }
        try """
        [sensor.other]
        source = "auto"
        [motion.motion]
        accelerometer = "other"
        """.write(toFile: folder.path + "/other.toml", atomically: true, encoding: .utf8)
        let gravity = try String(contentsOfFile: folder.path + "/gravity.toml", encoding: .utf8)
        let other = try String(contentsOfFile: folder.path + "/other.toml", encoding: .utf8)
        try (gravity + "\n" + other).write(toFile: folder.path + "/both.toml", atomically: true, encoding: .utf8)
        try FileManager.default.copyItem(atPath: folder.path + "/up.csv", toPath: folder.path + "/second.csv")
        let both = try Binary.run(["replay", "--config", "both.toml", "down.csv", "second.csv"], in: folder.path)
        #expect(both.errors.contains("say with --bind chassis=FILE"), "\(both.errors)")
    }

    @Test func aModelCanBeRecordedAndCalibrated() throws {
        let folder = try TemporaryFolder([
            "model.toml": "[sensor.model]\nsource = \"simulated\"\n",
            "used.toml": "[sensor.model]\nsource = \"simulated\"\n[motion.motion]\naccelerometer = \"model\"\n",
            "played.toml": "[sensor.s]\nsource = \"trace\"\nfile = \"day.csv\"\n",
            "day.csv": "t_s,ax_g,ay_g,az_g\n0,0,0,1\n",
        ])
        for (name, kinds) in [("model", 3), ("used", 1)] {
            let result = try Binary.run(
                ["record", "--config", "\(name).toml", "--for", "300ms", "-o", "\(name).csv"], in: folder.path)
            #expect(result.status == 0, "\(result.errors)")
            let header = try String(contentsOfFile: "\(folder.path)/\(name).csv", encoding: .utf8).prefix { $0 != "\n" }
            #expect(header.split(separator: ",").count == 1 + 3 * kinds, "\(header)")
        }
        let played = try Binary.run(
            ["record", "--config", "played.toml", "--for", "300ms", "-o", "played.csv"], in: folder.path)
        #expect(played.status == 78 && played.errors.contains("'binnacle convert' copies"), "\(played.errors)")
    }

    @Test(arguments: RecordingShape.all)
    func playsRightOrSaysHow(shape: RecordingShape) throws {
        let folder = try TemporaryFolder()
        try shape.contents.write(to: URL(fileURLWithPath: "\(folder.path)/\(shape.file)"))
        var converted = try Binary.run(["convert", shape.file, "-o", "out.csv"], in: folder.path)
        var replayed = try Binary.run(
            shape.isAccelerometer ? ["replay", "--json", shape.file] : ["calibrate", "--trace", shape.file],
            in: folder.path)
        if case .refused(let words) = shape.outcome {
            #expect(converted.status == 65 && replayed.status == 65)
            for result in [converted, replayed] { #expect(result.errors.contains(words), "\(result.errors)") }
            #expect(!FileManager.default.fileExists(atPath: folder.path + "/out.csv"))
            return
        }
        if converted.status != 0 {
            let line = try retry(converted)
            try? FileManager.default.removeItem(atPath: folder.path + "/out.csv")
            converted = try shell(line, in: folder)
            if shape.isAccelerometer { replayed = try shell(try retry(replayed), in: folder) }
        }
        #expect(converted.status == 0, "\(converted.errors)")
        let played = try Played(URL(fileURLWithPath: folder.path + "/out.csv"), messages: converted.errors)
        let rest = shape.isLinear ? [0, 0, RecordingShape.gravity] : RecordingShape.rest.map { $0 * shape.sign }
        let expected = shape.isAccelerometer ? rest : RecordingShape.field
        let isRight = zip(played.rest, expected).allSatisfy { abs($0 - $1) < max(0.02 * abs($1), 0.12) }
        let isTimed = abs(played.stepSeconds * shape.rateHz - 1) < 0.02
        if let told = shape.told {
            // At the beginning and in the summary.
            #expect(converted.errors.components(separatedBy: told).count >= 3, "\(converted.errors)")
            if shape.isAccelerometer {
                #expect(replayed.errors.components(separatedBy: told).count >= 3, "\(replayed.errors)")
            }
        }
        if shape.told == nil || shape.isLinear { #expect(isRight && isTimed, "\(played)") }
        guard isRight, isTimed, shape.isAccelerometer else { return }
        #expect(replayed.status == 0, "\(replayed.errors)")
        #expect(replayed.output.contains("motion.began"), "\(replayed.errors)")
        #expect(!replayed.output.contains("free_fall"))
    }

    @Test func theSignOfARecordingIsSaidInTheConfigurationOrOnTheCommandLine() throws {
        let folder = try Self.bothSigns()
        for name in ["up", "down"] {
            for acceleration in ["specific_force", "gravity"] {
                try """
                [sensor.phone]
                source = "trace"
                file = "\(name).csv"
                acceleration = "\(acceleration)"
                [north.north]
                accelerometer = "phone"
                magnetometer = "phone"
                hard_iron_uT = 0
                """.write(
                    toFile: "\(folder.path)/\(name)-\(acceleration).toml", atomically: true, encoding: .utf8)
            }
        }
        func events(_ arguments: String...) throws -> String {
            let result = try Binary.run(["replay", "--json"] + arguments, in: folder.path)
            #expect(result.status == 0, "\(result.errors)")
            return result.output
        }
        let right = try events("--config", "up-specific_force.toml")
        #expect(right.contains("heading"))
        #expect(try events("--config", "down-gravity.toml") == right)
        #expect(try events("--config", "down-specific_force.toml") != right)
        #expect(try events("--map", "acceleration=gravity", "down.csv") == events("up.csv"))
    }

    @Test func everyCommandThatReadsRecordingsTakesTheSameOptions() throws {
        let folder = try TemporaryFolder()
        try RecordingShape.moments.map { RecordingShape.f($0.m) + "\n" }.joined().write(
            toFile: folder.path + "/field.txt", atomically: true, encoding: .utf8)
        let options = [
            "--rate", "50", "--map", "mx=#1:uT,my=#2:uT,mz=#3:uT", "--bind", "compass=field.txt:magnetometer",
        ]
        let converted = try Binary.run(["convert"] + options + ["-o", "out.csv"], in: folder.path)
        #expect(converted.status == 0, "\(converted.errors)")
        #expect(converted.errors.contains("400 × magnetometer of compass"))
        // The device lies still, so that nothing can be fitted; the samples have been read.
        let calibrated = try Binary.run(["calibrate"] + options, in: folder.path)
        #expect(calibrated.status == 65)
        #expect(calibrated.errors.contains("no calibration of the magnetometer: only"), "\(calibrated.errors)")
        let replayed = try Binary.run(["replay"] + options, in: folder.path)
        #expect(replayed.errors.contains("no accelerometer in the traces"), "\(replayed.errors)")
    }
}

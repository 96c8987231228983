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

    /// The command that a refusal prints; `binnacle` is the program under test.
    private func retry(_ result: Binary.Result) throws -> String {
        let lines = result.errors.split(separator: "\n").filter { $0.hasPrefix("try: ") }
        try #require(lines.count == 1, "\(result.errors)")
        return "binnacle() { '\(Binary.path)' \"$@\"; }; " + lines[0].dropFirst(5)
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
        let folder = try TemporaryFolder()
        for (name, sign) in [("up", 1.0), ("down", -1.0)] {
            let rows = RecordingShape.moments.map {
                RecordingShape.f([$0.t] + $0.a.map { $0 * sign } + $0.m) + "\n"
            }
            try ("t_s,ax_m_s2,ay_m_s2,az_m_s2,mx_uT,my_uT,mz_uT\n" + rows.joined()).write(
                toFile: "\(folder.path)/\(name).csv", atomically: true, encoding: .utf8)
            for acceleration in ["specific_force", "gravity"] {
                try """
                [sensor.phone]
                source = "trace"
                file = "\(name).csv"
                acceleration = "\(acceleration)"
                [north.north]
                accelerometer = "phone"
                magnetometer = "phone"
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

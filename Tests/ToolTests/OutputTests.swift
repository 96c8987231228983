import Foundation
import TestSupport
import Testing

/// The files that commands write.
@Suite struct OutputTests {
    private static let trace =
        "time_s,ax,ay,az\n" + (0..<200).map { "\(Double($0) / 100),0,\($0 % 2),9.8\n" }.joined()

    /// A recording that only the configuration names, with files that it reads.
    private static func folder() throws -> TemporaryFolder {
        try TemporaryFolder([
            "rec.csv": trace, "other.csv": trace,
            "box.toml": """
            [accelerometer]
            offset_m_s2 = [0.0, 0.0, 0.0]
            matrix = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
            fit_error_m_s2 = 0.01
            positions = 6
            """,
            "c.toml": """
            [sensor.box]
            source = "trace"
            file = "rec.csv"
            calibration = "box.toml"
            [motion.moved]
            accelerometer = "box"
            [handler.writes]
            on = ["motion.began"]
            file = "rec.csv"
            [sensor.model]
            source = "simulated"
            """,
        ])
    }

    private static let commands: [[String]] = [
        ["replay", "-c", "c.toml", "--force", "--report"],
        ["plot", "-c", "c.toml", "--format", "svg", "--force", "-o"],
        ["plot", "-c", "c.toml", "--format", "html", "--force", "-o"],
        ["replay", "-c", "c.toml", "other.csv", "--force", "--report"],
        ["record", "-c", "c.toml", "--for", "100ms", "--force", "-o"],
        ["convert", "rec.csv", "--force", "-o"],
        ["calibrate", "accelerometer", "-c", "c.toml", "--sensor", "box", "--force", "-o"],
    ]

    /// Whatever names the input, and whatever name of it the output has.
    @Test(arguments: commands)
    func anOutputIsNeverAnInput(command: [String]) throws {
        let folder = try Self.folder()
        let inputs = ["rec.csv", "c.toml", "box.toml"]
        let contents = try inputs.map { try String(contentsOfFile: "\(folder.path)/\($0)", encoding: .utf8) }
        for name in inputs {
            // A calibration is measured to replace the one that there is.
            guard command[0] != "calibrate" || name != "box.toml" else { continue }
            guard command[0] != "convert" || name == "rec.csv" else { continue }
            try FileManager.default.linkItem(atPath: "\(folder.path)/\(name)", toPath: "\(folder.path)/hard.\(name)")
            try FileManager.default.createSymbolicLink(atPath: "\(folder.path)/soft.\(name)", withDestinationPath: name)
            for output in [name, "./" + name, "hard." + name, "soft." + name, "\(folder.path)/\(name)"] {
                let result = try Binary.run(command + [output], in: folder.path)
                #expect(result.status != 0, "\(output): \(result.errors)")
                #expect(
                    result.errors.contains("would be written over while it is read") || output.hasPrefix("soft."),
                    "\(output): \(result.errors)")
            }
        }
        #expect(try inputs.map { try String(contentsOfFile: "\(folder.path)/\($0)", encoding: .utf8) } == contents)
    }

    @Test func aHandlerDoesNotWriteToARecordingThatPlays() throws {
        let folder = try Self.folder()
        for command in [
            ["replay", "-c", "c.toml", "--handlers"], ["run", "-c", "c.toml"],
            ["run", "-c", "c.toml", "--trace", "rec.csv"], ["replay", "-c", "c.toml", "--handlers", "rec.csv"],
        ] {
            let result = try Binary.run(command, in: folder.path)
            // Both may be in the configuration alone.
            #expect(result.status == (command == ["run", "-c", "c.toml"] ? 78 : 64), "\(command)")
            #expect(result.errors.contains("choose another file for [handler.writes]"), "\(result.errors)")
        }
        #expect(try String(contentsOfFile: "\(folder.path)/rec.csv", encoding: .utf8) == Self.trace)
        // Without handlers nothing is written.
        #expect(try Binary.run(["replay", "-c", "c.toml"], in: folder.path).status == 0)
    }

    @Test func standardOutputIsNoInputEither() throws {
        let folder = try TemporaryFolder(["rec.csv": Self.trace])
        for words in [
            "convert rec.csv -o - >> rec.csv", "replay rec.csv >> rec.csv",
            "plot --format svg -o - - < rec.csv >> rec.csv",
        ] {
            let child = Child(["/bin/sh", "-c", "'\(Binary.path)' \(words)"])
            child.folder = folder.path
            child.standardError = try TemporaryFile().writer()
            try child.run()
            child.waitUntilExit()
            #expect(child.terminationStatus == 64, "\(words)")
            #expect(try String(contentsOfFile: "\(folder.path)/rec.csv", encoding: .utf8) == Self.trace)
        }
    }

    /// The file of the metrics is replaced, also while no daemon answers.
    @Test func metricsReplaceNothingButARegularFile() throws {
        let folder = try TemporaryFolder(["metrics.prom": "old\n", "precious": "precious\n"])
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/link", withDestinationPath: "precious")
        try #require(mkfifo(folder.path + "/pipe", 0o600) == 0)
        let command = ["metrics", "--socket", "/nonexistent/s", "--file"]
        for (name, reason) in [
            ("link", "is no regular file"), ("pipe", "is no regular file"), (".", "is no regular file"),
            ("nowhere/metrics.prom", "cannot be replaced"),
        ] {
            let result = try Binary.run(command + [name], in: folder.path)
            #expect(result.status == 73 && result.errors.contains("\(name): \(reason)"), "\(result.errors)")
        }
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.path + "/link") == "precious")
        let pipe = try FileManager.default.attributesOfItem(atPath: folder.path + "/pipe")
        #expect(pipe[.type] as? FileAttributeType != .typeRegular)
        #expect(try Binary.run(command + ["metrics.prom"], in: folder.path).status == 69)
        #expect(try String(contentsOfFile: folder.path + "/metrics.prom", encoding: .utf8).contains("binnacle_up 0"))
    }

    /// In a folder of another user, a link may lead to any file.
    @Test(arguments: [
        ["replay", "other.csv", "--report"], ["plot", "other.csv", "--format", "svg", "-o"],
        ["convert", "other.csv", "-o"],
        ["record", "-c", "model.toml", "--for", "100ms", "-o"],
    ])
    func linksAreNotWrittenThrough(command: [String]) throws {
        let folder = try TemporaryFolder([
            "other.csv": Self.trace, "precious": "precious\n", "model.toml": "[sensor.m]\nsource = \"simulated\"\n",
        ])
        for (link, target) in [("link", "precious"), ("dangling", "none")] {
            try FileManager.default.createSymbolicLink(atPath: "\(folder.path)/\(link)", withDestinationPath: target)
            let result = try Binary.run(command + [link, "--force"], in: folder.path)
            #expect(result.status == 73, "\(result.errors)")
            #expect(
                result.errors.contains("\(link): is a symbolic link, which is not written through"), "\(result.errors)")
        }
        #expect(try String(contentsOfFile: "\(folder.path)/precious", encoding: .utf8) == "precious\n")
        #expect(access(folder.path + "/none", F_OK) != 0)
        // Those of the kernel lead to this process's own descriptors.
        let result = try Binary.run(command + ["/dev/stdout", "--force"], in: folder.path)
        #expect(result.status == 0 && !result.output.isEmpty, "\(result.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 5)
    }

    /// Opening a pipe without a reader would wait, also beyond a signal; with one, all of it arrives.
    @Test(arguments: [
        ["replay", "other.csv", "--report"], ["plot", "other.csv", "--format", "svg", "-o"],
        ["convert", "other.csv", "-o"],
        ["record", "-c", "model.toml", "--for", "100ms", "-o"],
    ])
    func aPipeNeedsItsReader(command: [String]) throws {
        let folder = try TemporaryFolder([
            "other.csv": Self.trace, "model.toml": "[sensor.m]\nsource = \"simulated\"\n",
        ])
        let pipe = folder.path + "/pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        let refused = try Binary.run(command + ["pipe", "--force"], in: folder.path)
        #expect(refused.status == 73, "\(refused.errors)")
        #expect(
            refused.errors.contains("pipe: is a pipe that no program reads: start its reader first"),
            "\(refused.errors)")
        let reader = open(pipe, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        let written = try Binary.run(command + ["pipe", "--force"], in: folder.path)
        #expect(written.status == 0, "\(written.errors)")
        var bytes = [UInt8](repeating: 0, count: 65_536)
        #expect(read(reader, &bytes, bytes.count) > 0)
    }

    /// Reports and pictures are there as a whole or not at all, and keep the rights of the file that they replace.
    @Test func resultsAreWrittenAsAWhole() throws {
        let folder = try TemporaryFolder(["rec.csv": Self.trace, "bad.csv": "a,b\n1,2\n", "old": "old\n"])
        for words in [["replay", "--report"], ["plot", "--format", "svg", "-o"]] {
            #expect(try Binary.run(words + ["new", "bad.csv"], in: folder.path).status == 65)
            #expect(try Binary.run(words + ["old", "--force", "bad.csv"], in: folder.path).status == 65)
            #expect(try String(contentsOfFile: "\(folder.path)/old", encoding: .utf8) == "old\n")
            #expect(access(folder.path + "/new", F_OK) != 0)
        }
        #expect(chmod(folder.path + "/old", 0o600) == 0)
        for (place, words) in [["replay", "--report"], ["plot", "--format", "svg", "-o"]].enumerated() {
            #expect(try Binary.run(words + ["old", "--force", "rec.csv"], in: folder.path).status == 0)
            #expect(
                try FileManager.default.attributesOfItem(atPath: folder.path + "/old")[.posixPermissions] as? Int
                    == 0o600)
            #expect(try Binary.run(words + ["new\(place)", "rec.csv"], in: folder.path).status == 0)
            #expect(try Binary.run(words + ["new\(place)", "rec.csv"], in: folder.path).status == 73)
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
                == ["bad.csv", "new0", "new1", "old", "rec.csv"])
    }
}

import Foundation
import TestSupport
import Testing

@Suite struct CommandLineTests {
    @Test(
        arguments: [
            ([], "no command given"), (["fly"], "unknown command 'fly'"), (["repaly"], "did you mean `replay`?"),
            (["replay"], "needs a trace"), (["replay", "--sped", "1", "x"], "did you mean `--speed`?"),
            (["replay", "x", "--speed"], "--speed needs a value"), (["replay", "x", "--speed", "0"], "above 0"),
            (["replay", "x", "--speed", "nan"], "above 0"), (["replay", "x", "--batch", "0"], "whole number"),
            (["replay", "x", "--json=yes"], "takes no value"),
            (["replay", "x", "--speed", "1", "--speed", "2"], "given once"),
            (["replay", "--bind", "foo", "x"], "has to be SENSOR=FILE"),
            (["replay", "--map", "foo", "x"], "is not TARGET"),
            (["--frobnicate"], "unknown option"),
        ] as [([String], String)])
    func wrongUseIsExplained(arguments: [String], message: String) throws {
        let result = try Binary.run(arguments)
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
        #expect(result.errors.hasPrefix("binnacle: "))
        #expect(result.errors.contains(message), "\(result.errors)")
    }

    /// They are a megabyte of the program that every start relocates and searches; PlainText searches texts without them.
    @Test(.enabled(if: Binary.isOptimized)) func theProgramHasNoRegularExpressions() throws {
        let program = try Data(contentsOf: URL(fileURLWithPath: Binary.path), options: .alwaysMapped)
        #expect(program.range(of: Data("12_RegexParser".utf8)) == nil)
    }

    @Test func helpNamesEveryCommandAndOption() throws {
        let overview = try Binary.run("--help")
        #expect(overview.status == 0)
        for command in ["replay", "check"] {
            #expect(overview.output.contains("  \(command) "))
            let help = try Binary.run(command, "--help")
            #expect(help.status == 0)
            #expect(help.output.hasPrefix("usage: binnacle \(command) "))
        }
        let replay = try Binary.run("replay", "-h").output
        for option in ["--bind", "--map", "--config", "--speed", "--batch", "--handlers", "--json", "--help"] {
            #expect(replay.contains(option))
        }
    }

    private static let commands = [
        "run", "replay", "record", "convert", "devices", "doctor", "check", "status", "events", "on", "monitor",
        "calibrate", "declination", "simulate", "bench",
    ]

    /// Terminals without a window have 80 columns.
    @Test func helpFitsATerminal() throws {
        for text in try ([["--help"]] + Self.commands.map { [$0, "--help"] }).map({ try Binary.run($0).output }) {
            for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
        }
    }

    @Test func helpIsAlsoACommand() throws {
        #expect(try Binary.run("help").output == Binary.run("--help").output)
        for command in Self.commands {
            #expect(try Binary.run("help", command).output == Binary.run(command, "--help").output)
        }
        #expect(try Binary.run("help", "repaly").errors.contains("did you mean `replay`?"))
        #expect(try Binary.run("help", "run", "on").status == 64)
        #expect(try Binary.run("-V").output == Binary.run("--version").output)
    }

    /// The configuration is an argument or behind --config, for check and for run.
    @Test func aConfigurationIsNamedInBothWays() throws {
        let file = try TemporaryFile("[sensor.a]\nsource = \"trace\"\nfile = \"/nonexistent\"\n", suffix: ".toml")
        #expect(try Binary.run("check", file.path).output == Binary.run("check", "--config", file.path).output)
        #expect(try Binary.run("check", "-c", file.path).status == 0)
        for arguments in [[file.path], ["--config", file.path]] {
            let result = try Binary.run(["run"] + arguments)
            #expect(result.status == 78 && result.errors.contains("no detector"), "\(result.errors)")
        }
        #expect(try Binary.run("run", file.path, "--config", file.path).status == 64)
        let simulated = try Binary.run("run", file.path, "--simulate", "walk")
        #expect(simulated.status == 78 && simulated.errors.contains("no detector"), "\(simulated.errors)")
    }

    /// The name of a file is text; one that is not is said to be, alone and in a folder.
    @Test func aNameThatIsNotUTF8IsSaidToBe() throws {
        let folder = try TemporaryFolder()
        try "t_s,ax_g,ay_g,az_g\n0,0,0,1\n".write(toFile: folder.path + "/a.csv", atomically: true, encoding: .utf8)
        let script =
            "cd '\(folder.path)' && cp a.csv \"$(printf 'x\\377.csv')\" && '\(Binary.path)' replay . && '\(Binary.path)' replay x*"
        let run = Child(["/bin/sh", "-c", script])
        let errors = try TemporaryFile()
        run.standardError = try errors.writer()
        try run.run()
        run.waitUntilExit()
        #expect(run.terminationStatus == 64)
        let text = try errors.text()
        #expect(text.contains("(its name is not UTF-8)") && text.contains(": is not UTF-8: rename the file"), "\(text)")
    }

    @Test func standardInputIsATrace() throws {
        let trace = Binary.fixtures + "/phyphox_walk/Accelerometer.csv"
        let folder = try TemporaryFolder()
        for (arguments, named) in [
            (["replay", "--json", "-"], ["replay", "--json", trace]),
            (["replay", "--json", "--bind", "accelerometer=-"], ["replay", "--json", trace]),
            (["convert", "-", "-o", "-"], ["convert", trace, "-o", "-"]),
        ] as [([String], [String])] {
            let process = Binary.process(arguments, in: folder.path)
            let output = try TemporaryFile()
            process.standardInput = FileHandle(forReadingAtPath: trace)
            process.standardOutput = try output.writer()
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            #expect(try output.text() == Binary.run(named).output)
        }
    }

    @Test func whatOverwritesIsNamedWhereAFileIsInTheWay() throws {
        let file = try TemporaryFile("old")
        let trace = Binary.fixtures + "/phyphox_walk/Accelerometer.csv"
        let result = try Binary.run("convert", trace, "-o", file.path)
        #expect(result.status == 73)
        #expect(result.errors.contains("--force"), "\(result.errors)")
        #expect(try file.text() == "old")
    }

    /// Long events go on in the next line of a terminal, between two figures.
    @Test func eventsFitATerminal() throws {
        let trace = Binary.golden + "/simulated-turn.csv"
        let command = "stty cols 80; '\(Binary.path)' replay '\(trace)'"
        let terminal = Child(["script", "-qec", command, "/dev/null"])
        let output = try TemporaryFile()
        terminal.standardOutput = try output.writer()
        try terminal.run()
        terminal.waitUntilExit()
        let lines = try output.text().split(whereSeparator: \.isNewline)
        #expect(lines.contains { $0.contains("heading ") })
        let long = lines.filter { $0.count > 80 }
        #expect(long.isEmpty, "\(long.prefix(3))")
        #expect(lines.contains { $0.hasPrefix("    ") && $0.contains("dip ") })
    }

    @Test func theVersionIsThatOfTheChangeLog() throws {
        let result = try Binary.run("--version")
        let changes = try String(
            contentsOf: Binary.tests.deletingLastPathComponent().appendingPathComponent("CHANGELOG.md"), encoding: .utf8
        )
        let version = try #require(result.output.split(separator: " ").last).trimmingCharacters(in: .newlines)
        #expect(changes.contains("## \(version)"))
    }

    @Test func theShippedConfigurationIsAccepted() throws {
        let result = try Binary.run("check", "\(Binary.config)/binnacle.toml")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("ok: "))
    }

    @Test func aBrokenConfigurationNamesEveryPlace() throws {
        let file = try TemporaryFile(
            "[sensor.chassis]\nsource = \"iio\"\nmatch = { name = \"a\" }\n\n[motion.m]\naccelerometer = \"chasis\"\ntreshold_g = 1\n",
            suffix: ".toml")
        for arguments in [["check", file.path], ["replay", "--config", file.path, "/dev/null"]] {
            let result = try Binary.run(arguments)
            #expect(result.status == 78)
            for part in ["\(file.path):6:", "`chassis`", "\(file.path):7:", "`threshold_g`"] {
                #expect(result.errors.contains(part), "\(result.errors)")
            }
        }
        #expect(try Binary.run("check", "/nonexistent.toml").status == 78)
    }

    @Test func whatFollowsTwoDashesIsAFile() throws {
        let result = try Binary.run("replay", "--", "--json")
        #expect(result.status == 66)
        #expect(result.errors.contains("--json: no such file"))
    }
}

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
        for line in (overview.output + replay).split(separator: "\n") { #expect(line.count <= 120) }
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
        #expect(try Binary.run("check", "/nonexistent.toml").status == 66)
    }

    @Test func whatFollowsTwoDashesIsAFile() throws {
        let result = try Binary.run("replay", "--", "--json")
        #expect(result.status == 66)
        #expect(result.errors.contains("--json: no such file"))
    }
}

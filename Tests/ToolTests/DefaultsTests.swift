import Foundation
import TestSupport
import Testing

/// The shipped configuration on a board of a user, as `binnacle status` sees it.
@Suite struct DefaultsTests {
    /// Runs the shipped configuration with a file in its conf.d, on a board with one accelerometer.
    private static func run(_ own: String, _ check: (DaemonRun, String) throws -> Void) throws {
        let tree = try FifoTree()
        let node = try #require(try tree.addDevice(0, name: "accel_3d", scale: "0.01"))
        let folder = NSTemporaryDirectory() + "binnacle-defaults-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder + "/conf.d", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.copyItem(
            atPath: Binary.config + "/binnacle.toml", toPath: folder + "/binnacle.toml")
        let socket = folder + "/b.sock"
        try "[store]\nenabled = false\n[socket]\npath = \"\(socket)\"\n\(own)".write(
            toFile: folder + "/conf.d/own.toml", atomically: true, encoding: .utf8)
        let run = try DaemonRun(nil, ["--config", folder, "--root", tree.root]).start()
        for number in 0..<3 { try node.write(FifoNode.scan(0, 0, number == 2 ? 982 : 981, Clock.now())) }
        try waitUntil("samples") {
            try Binary.run("status", "--socket", socket).output.contains("3 samples")
        }
        try check(run, socket)
        #expect(run.stop() == 0)
    }

    @Test func aBoardWithoutAMagnetometerIsWell() throws {
        try Self.run("") { run, socket in
            let status = try Binary.run("status", "--socket", socket)
            #expect(status.status == 0, "\(status.output)")
            #expect(status.output.contains("sensor compass: none on this machine"))
            #expect(status.output.contains("detector bow: waits for its sensor"))
            #expect(status.output.contains("detector moved: running"))
        }
    }

    /// A heading that the user asked for is missed.
    @Test func aDetectorOfOnesOwnNeedsItsSensor() throws {
        try Self.run(
            "[motion.mine]\naccelerometer = \"chassis\"\n[north.own]\naccelerometer = \"chassis\"\nmagnetometer = \"compass\"\n"
        ) { run, socket in
            let status = try Binary.run("status", "--socket", socket)
            #expect(status.status == 1, "\(status.output)")
            #expect(status.output.contains("wrong: sensor 'compass' is inactive"))
            #expect(!status.output.contains("detector bow"))
        }
    }

    /// `doctor` is well when what the configuration needs is there.
    @Test func doctorAsksForWhatTheConfigurationNeeds() throws {
        let tree = try FifoTree()
        _ = try tree.addDevice(0, name: "accel_3d", scale: "0.01")
        let shipped = Binary.config + "/binnacle.toml"
        for arguments in [[], ["--config", shipped]] {
            let result = try Binary.run(["doctor", "--root", tree.root] + arguments)
            #expect(result.status == 0, "\(result.output)")
            #expect(result.output.contains("\npossible: motion, shake"))
            #expect(result.output.contains("\nnot possible: headings"))
        }
        #expect(
            try Binary.run("doctor", "--root", tree.root, "--config", shipped).output
                .contains("sensor 'compass' of the configuration (magnetometer): none, which may be"))
        let boat = Binary.config + "/examples/boat-heading.toml"
        let missing = try Binary.run("doctor", "--root", tree.root, "--config", boat)
        #expect(missing.status == 69)
        #expect(missing.output.contains("sensor 'compass' of the configuration (magnetometer): MISSING"))
        #expect(try Binary.run("doctor", "--root", try FifoTree().root).status == 69)
    }
}

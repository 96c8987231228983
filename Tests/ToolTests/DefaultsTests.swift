import Foundation
import TestSupport
import Testing

/// The shipped configuration on a board of a user, as `binnacle status` sees it.
@Suite struct DefaultsTests {
    /// Runs the shipped configuration with a file in its conf.d, on a board with one accelerometer or without sensors.
    private static func run(
        _ own: String, hasAccelerometer: Bool = true, _ check: (DaemonRun, String) throws -> Void
    ) throws {
        let tree = try FifoTree()
        let node = hasAccelerometer ? try tree.addDevice(0, name: "accel_3d", scale: "0.01") : nil
        let folder = NSTemporaryDirectory() + "binnacle-defaults-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder + "/conf.d", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.copyItem(
            atPath: Binary.config + "/binnacle.toml", toPath: folder + "/binnacle.toml")
        let socket = folder + "/b.sock"
        try "[store]\nenabled = false\n[socket]\npath = \"\(socket)\"\n\(own)".write(
            toFile: folder + "/conf.d/own.toml", atomically: true, encoding: .utf8)
        let run = try DaemonRun(nil, ["--config", folder, "--root", tree.root, "--json"]).start()
        for number in 0..<3 { try node?.write(FifoNode.scan(0, 0, number == 2 ? 982 : 981, Clock.now())) }
        try waitUntil("samples, or the search for devices") {
            let status = try Binary.run("status", "--socket", socket).output
            return node == nil ? status.contains("none on this machine") : status.contains("3 samples")
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
            // By now the search has ended, and the samples have been looked at.
            #expect(try run.events().isEmpty)
        }
    }

    @Test func aMachineWithoutSensorsIsWell() throws {
        // Without the switch and the sensor of light, detectors of single readings wait as well.
        let own = "[light.room]\ndefault = true\n[proximity.ear]\ndefault = true\n"
        try Self.run(own, hasAccelerometer: false) { run, socket in
            for detector in ["moved", "bow", "room", "ear"] {
                try waitUntil("the search for the sensor of \(detector)") {
                    try Binary.run("status", "--socket", socket).output
                        .contains("detector \(detector): waits for its sensor")
                }
            }
            let status = try Binary.run("status", "--socket", socket)
            #expect(status.status == 0, "\(status.output)")
            #expect(!status.output.contains("wrong:"))
            #expect(try run.events().isEmpty)
        }
    }

    /// A detector by default that a handler of the user's own names is missed, and so is its sensor.
    @Test(
        arguments: [
            "[handler.own]\non = [\"heading\"]\ndetector = [\"bow\"]\nstdout = true\n",
            "[dbus]\ncompass = \"bow\"\n", "[north.bow]\ndefault = false\n",
            "[sensor.compass]\nmatch = { name = \"mine\" }\n",
        ])
    func whatTheUserNamesIsNoDefault(own: String) throws {
        try Self.run(own) { run, socket in
            try waitUntil("the failure") {
                try Binary.run("status", "--socket", socket).output.contains("wrong: sensor 'compass' is inactive")
            }
            #expect(try Binary.run("status", "--socket", socket).status == 1)
            try run.waitForMessage("sensor.inactive")
        }
    }

    /// A reload that makes a waiting detector the user's own reports what it lacks, and one that takes that back does not.
    @Test func aReloadDecidesWhatMayBeMissing() throws {
        let tree = try FifoTree()
        let shipped = try String(contentsOfFile: Binary.config + "/binnacle.toml", encoding: .utf8)
        let socket = NSTemporaryDirectory() + "binnacle-defaults-\(UUID().uuidString).sock"
        let text = shipped.replacing("\n[store]\n", with: "\n")
            .replacing("\n[socket]\n", with: "\n[socket]\npath = \"\(socket)\"\n")
        let run = try DaemonRun(text, ["--root", tree.root, "--json"]).start()
        func status(contains text: String) throws -> Bool {
            try Binary.run("status", "--socket", socket).output.contains(text)
        }
        try waitUntil("a start") { try status(contains: "sensor compass: none on this machine") }
        try run.configure(text + "[motion.own]\naccelerometer = \"chassis\"\n")
        run.reload()
        try run.waitForEvent("sensor.inactive")
        try run.waitForEvent("detector.failed")
        try waitUntil("the failure") { try status(contains: "wrong: sensor 'chassis' is inactive") }
        let count = try run.events().count
        try run.configure(text)
        run.reload()
        try waitUntil("the compass") { try status(contains: "detector bow: waits for its sensor") }
        let later = try run.events().dropFirst(count).compactMap { $0["sensor"] as? String }
        #expect(!later.contains("compass"))
        #expect(run.stop() == 0)
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

    /// A daemon without a place for its socket says why, and the remedy that it prints works.
    @Test func aDaemonWithoutASocketSaysWhy() throws {
        let nowhere = ["HOME": "", "XDG_RUNTIME_DIR": "", "XDG_STATE_HOME": ""]
        let run = try DaemonRun(nil, ["--simulate", "still"], environment: nowhere).start()
        try run.waitForMessage("this daemon keeps no events, and has no socket")
        #expect(run.stop() == 0)
        let message = try #require(try run.errors.text().split(separator: "\n").first { $0.contains("has no socket") })
        let folder = NSTemporaryDirectory() + "binnacle-own-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let place = geteuid() == 0 ? "/run/" : "/tmp/"
        let words = message.replacing(place, with: folder + "/").split(separator: " ").map(String.init)
        let settings = words.indices.filter { words[$0] == "--set" }.flatMap { words[$0...($0 + 1)] }
        let remedied = try DaemonRun(nil, ["--simulate", "still"] + settings, environment: nowhere).start()
        let option = try #require(words.firstIndex(of: "--socket"))
        let socket = words[option + 1].replacing("'", with: "")
        try waitUntil("an answer") { try Binary.run("status", "--socket", socket).status == 0 }
        #expect(try !remedied.errors.text().contains("this daemon"))
        #expect(remedied.stop() == 0)
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
            #expect(result.output.contains("\nno gyroscope that can be read: no rotation"))
        }
        #expect(
            try Binary.run("doctor", "--root", tree.root, "--config", shipped).output
                .contains("sensor 'compass' of the configuration (magnetometer): none, which may be"))
        let lit = try TemporaryFile("[light.room]\n[proximity.ear]\ndefault = true\n", suffix: ".toml")
        let readings = try Binary.run("doctor", "--root", tree.root, "--config", lit.path)
        #expect(readings.status == 69)
        #expect(readings.output.contains("sensor of detector 'room' of the configuration (light): MISSING"))
        #expect(
            readings.output.contains("sensor of detector 'ear' of the configuration (proximity): none, which may be"))
        let boat = Binary.config + "/examples/boat-heading.toml"
        let missing = try Binary.run("doctor", "--root", tree.root, "--config", boat)
        #expect(missing.status == 69)
        #expect(missing.output.contains("sensor 'compass' of the configuration (magnetometer): MISSING"))
        #expect(try Binary.run("doctor", "--root", try FifoTree().root).status == 69)
        // As in the daemon, a section that any device satisfies does not take the only one of another.
        _ = try tree.addDevice(1, name: "bmi160", scale: "0.01")
        let two = try TemporaryFile(
            """
            [sensor.any]
            source = "auto"
            [sensor.named]
            source = "iio"
            match = { name = "accel_3d" }
            [motion.first]
            accelerometer = "any"
            [motion.second]
            accelerometer = "named"
            """, suffix: ".toml")
        let both = try Binary.run("doctor", "--root", tree.root, "--config", two.path)
        #expect(both.status == 0)
        #expect(both.output.contains("sensor 'any' of the configuration (accelerometer): bmi160"))
        #expect(both.output.contains("sensor 'named' of the configuration (accelerometer): accel_3d"))
    }

    /// A model and a recording are sensors without a device.
    @Test(arguments: [
        ("simulated\"", "simulated", 0), ("trace\"\nfile = \"a.csv\"", "played from", 0),
        ("trace\"\nfile = \"b.csv\"", "MISSING", 69),
    ])
    func doctorCountsWhatIsNoDevice(source: String, says: String, status: Int32) throws {
        let folder = try TemporaryFolder([
            "c.toml": "[sensor.box]\nsource = \"\(source)\n[motion.moved]\naccelerometer = \"box\"\n",
            "a.csv": "t_s,ax,ay,az\n0,0,0,9.8\n",
        ])
        let tree = try FifoTree()
        let result = try Binary.run(["doctor", "--root", tree.root, "--config", "c.toml"], in: folder.path)
        #expect(result.status == status)
        #expect(
            result.output.contains("sensor 'box' of the configuration (accelerometer): \(says)"), "\(result.output)")
    }

    @Test func checkSaysWhereItHasLooked() throws {
        // A machine where Binnacle is installed has a configuration.
        guard access("/etc/binnacle", F_OK) != 0 else { return }
        let result = try Binary.run("check")
        #expect(result.status == 78)
        #expect(
            result.errors.contains("looked for /etc/binnacle/binnacle.toml and /etc/binnacle/conf.d/*.toml"),
            "\(result.errors)")
    }
}

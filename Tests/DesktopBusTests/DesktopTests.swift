import Foundation
import TestSupport
import Testing

import DesktopBus

/// `[dbus]` of the daemon, on a bus of the test's own.
@Suite struct DesktopTests {
    private static let configuration = """
        [sensor.lid]
        source = "trace"
        file = "\(FileManager.default.currentDirectoryPath)/Tests/Golden/simulated-screen.csv"
        loop = true

        [orientation.screen]
        accelerometer = "lid"
        frame = "device"

        [dbus]
        claims = "group"
        group = "root"
        """

    @Test func theCommandsOfTheManualWork() throws {
        let bus = try PrivateBus()
        let environment = ["DBUS_SYSTEM_BUS_ADDRESS": bus.address]
        let daemon = try DaemonRun(Self.configuration, environment: environment).start()
        try waitUntil("the service; \(try daemon.errors.text())") {
            try bus.call("org.binnacle.Binnacle1", "/org/binnacle/Binnacle1", "org.freedesktop.DBus.Peer.Ping")
                .contains("()")
        }
        let manual = try String(contentsOfFile: "docs/desktop.md", encoding: .utf8)
        let commands = manual.split(separator: "\n").filter { $0.hasPrefix("busctl ") || $0.hasPrefix("gdbus ") }
        #expect(commands.count == 5)
        for command in commands {
            let output = try TemporaryFile()
            // busctl knows the bus by its address alone.
            let line = command.replacingOccurrences(of: "busctl ", with: "busctl --address=\(bus.address) ")
            let process = Child(["/bin/sh", "-c", "exec " + line])
            process.environment = environment
            process.standardOutput = try output.writer()
            process.standardError = try output.writer()
            try process.run()
            // The recording turns again and again.
            let wanted =
                command.hasSuffix(".GetStatus")
                ? "\"state\":" : command.hasSuffix(".Status") ? "'state': <" : "Changed"
            try output.wait { $0.contains(wanted) }
            process.end()
        }
        #expect(daemon.stop() == 0)
    }

    @Test func aReloadKeepsTheNameAndRemovingTheSectionReleasesIt() throws {
        let bus = try PrivateBus()
        let daemon = try DaemonRun(Self.configuration, environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address]).start()
        func owner() throws -> String {
            try bus.call(
                "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.GetNameOwner",
                "net.hadess.SensorProxy")
        }
        try waitUntil("the name") { try owner().contains(":1.") }
        let first = try owner()
        daemon.reload()
        try daemon.waitForMessage("configuration reloaded")
        #expect(try owner() == first)
        try daemon.configure(Self.configuration.replacingOccurrences(of: "[dbus]", with: "[dbus]\nenabled = false"))
        daemon.reload()
        try daemon.waitForMessage("configuration reloaded", count: 2)
        try waitUntil("the end of the name") { try owner().contains("NameHasNoOwner") }
        #expect(daemon.stop() == 0)
    }

    /// The lines are those of monitor-sensor, which a daemon's package removes.
    @Test func monitorShowsWhatDesktopsGet() throws {
        let bus = try PrivateBus()
        let environment = ["DBUS_SYSTEM_BUS_ADDRESS": bus.address]
        func monitor(_ arguments: String...) throws -> (process: Child, output: TemporaryFile) {
            let output = try TemporaryFile()
            let process = Child([Binary.path, "monitor"] + arguments)
            process.environment = environment
            process.standardOutput = try output.writer()
            process.standardError = try output.writer()
            try process.run()
            return (process, output)
        }
        let (all, everything) = try monitor()
        let (light, lightAlone) = try monitor("--light")
        let waiting = "    Waiting for iio-sensor-proxy to appear\n"
        try everything.wait { $0 == waiting }
        let daemon = try DaemonRun(Self.configuration, environment: environment).start()
        // The recording turns again and again.
        try everything.wait { $0.contains("    Accelerometer orientation changed: ") }
        let others = "=== No ambient light sensor\n=== No proximity sensor\n=== No compass\n"
        let appeared = waiting + "+++ iio-sensor-proxy appeared\n"
        let known = appeared.replacingOccurrences(of: "+", with: "\\+") + "=== Has accelerometer "
        let beginning = try Regex(known + "\\(orientation: [a-z-]+, tilt: [a-z-]+\\)\n" + others)
        #expect(try everything.text().starts(with: beginning))
        #expect(daemon.stop() == 0)
        let vanished = "--- iio-sensor-proxy vanished, waiting for it to appear\n"
        try everything.wait { $0.hasSuffix(vanished) }
        try lightAlone.wait { $0 == appeared + "=== No ambient light sensor\n" + vanished }
        let again = try DaemonRun(Self.configuration, environment: environment).start()
        try everything.wait { $0.components(separatedBy: "=== Has accelerometer").count == 3 }
        kill(all.processIdentifier, SIGINT)
        all.waitUntilExit()
        #expect(all.terminationStatus == 130)
        light.end()
        #expect(again.stop() == 0)

        // There is no polkit.
        let strict = try DaemonRun(
            Self.configuration.replacingOccurrences(of: "claims = \"group\"", with: ""), environment: environment
        ).start()
        let (refused, reason) = try monitor("--accel", "--compass")
        refused.waitUntilExit()
        #expect(refused.terminationStatus == 77)
        #expect(try reason.text().contains("binnacle: the sensor Accelerometer cannot be claimed: "))
        #expect(strict.stop() == 0)
    }

    @Test func theHeadingComesToWhoClaimsTheCompass() throws {
        let bus = try PrivateBus()
        let (daemon, program) = try serve(
            bus,
            """
            [sensor.bow]
            source = "simulated"
            model = "walk"

            [north.bow]
            accelerometer = "bow"
            magnetometer = "bow"

            [dbus]
            claims = "group"
            group = "root"
            """)
        try program.claim(.compass)
        try wait(program, for: "headings; \(try daemon.errors.text())") {
            program.heard.count { $0.contains("CompassHeading=") && !$0.contains("CompassHeading=-1") } >= 3
        }
        #expect(daemon.stop() == 0)
    }

    /// A daemon on a bus, and a program, once the daemon has its names.
    private func serve(
        _ bus: PrivateBus, _ configuration: String = configuration, _ arguments: [String] = []
    ) throws -> (daemon: DaemonRun, program: BusProgram) {
        let daemon = try DaemonRun(configuration, arguments, environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address])
            .start()
        try waitUntil("the service; \(try daemon.errors.text())") {
            try bus.call("net.hadess.SensorProxy", "/net/hadess/SensorProxy", "org.freedesktop.DBus.Peer.Ping")
                .contains("()")
        }
        return (daemon, try BusProgram(bus))
    }

    /// In its long form a minute of 1,000 claims and releases a second.
    @Test func claimsWithoutEndCostNoMemoryAndNoDescriptor() throws {
        let bus = try PrivateBus()
        let (daemon, program) = try serve(bus)
        let turns = TestForm.count(500, long: 20_000)
        var descriptors: [Int] = []
        var memory: [Int] = []
        // A leak grows in each round. The heap may keep what was in flight in one of them, once.
        var growth: [Int] { zip(memory.dropFirst(2), memory.dropFirst()).map { $0 - $1 } }
        while growth.last.map({ $0 >= 256 }) ?? true, growth.count < 4 {
            program.forget()
            for turn in 1...turns {
                try program.claim(.accelerometer)
                try program.release(.accelerometer)
                guard turn.isMultiple(of: 16) || turn == turns else { continue }
                try wait(program, for: "the answers") {
                    program.heard.count(where: { $0.hasSuffix(": ok") }) == 2 * turn
                }
            }
            // Programs come and go as well.
            for _ in 0..<50 {
                let passing = try BusProgram(bus, listens: false)
                try passing.claim(.accelerometer)
                try wait(passing, for: "the answer") { passing.heard == ["ClaimAccelerometer: ok"] }
                passing.connection.close()
            }
            try waitUntil("the end of all claims") {
                try bus.call(
                    "org.binnacle.Binnacle1", "/org/binnacle/Binnacle1", "org.binnacle.Binnacle1.GetStatus"
                ).contains("\"accelerometer\":0")
            }
            descriptors.append(daemon.descriptorCount)
            memory.append(try daemon.memory())
        }
        print("descriptors and memory in kB after each \(turns) claims and releases: \(descriptors), \(memory)")
        // A sensor stays wanted for a second after its release, and its device open. From its second minute on, the recording that is
        // played over and over is open twice.
        try waitUntil("\(descriptors[0]) descriptors, not \(daemon.descriptorCount)") {
            daemon.descriptorCount <= descriptors[0] + 1
        }
        // What is freed is kept for the next message: a leak of 16 bytes a claim is more than this in the long form.
        #expect(growth.contains { $0 < 256 })
        #expect(daemon.stop() == 0)
    }

    @Test func hostileProgramsCostNothingThatStays() throws {
        let bus = try PrivateBus()
        let (daemon, program) = try serve(bus)
        try program.claim(.accelerometer)
        try wait(program, for: "an answer") { program.heard("ClaimAccelerometer: ok").count == 1 }
        let hostile = try BusProgram(bus, listens: false)
        let own = (BusInterface.ownName, BusInterface.own.path)
        /// Says of every program that it has ended, as only the bus may.
        func lie() throws {
            for number in 0..<50 {
                try hostile.connection.signal(
                    "NameOwnerChanged", of: "org.freedesktop.DBus", at: "/org/freedesktop/DBus", to: own.0
                ) { message throws(BusFailure) in
                    try message.append(":1.\(number)")
                    try message.append(":1.\(number)")
                    try message.append("")
                }
            }
        }
        func attack() throws {
            try lie()
            hostile.forget()
            var calls = 0
            for turn in 0..<200 {
                for method in ["ClaimAccelerometer", "ClaimEverything"] {
                    // Arguments that no method takes, some of them long.
                    try hostile.call(method) { message throws(BusFailure) in
                        try message.append(String(repeating: "x", count: turn.isMultiple(of: 50) ? 4 << 20 : 10))
                    }
                    calls += 1
                }
                try hostile.call("Set", of: "org.freedesktop.DBus.Properties") { message throws(BusFailure) in
                    try message.append("net.hadess.SensorProxy")
                    try message.append("HasAccelerometer")
                    try message.within("v", "b") { () throws(BusFailure) in try message.append(.boolean(false)) }
                }
                try hostile.call("Get", of: "org.freedesktop.DBus.Properties") { message throws(BusFailure) in
                    try message.append("net.hadess.SensorProxy")
                    try message.append(String(repeating: "y", count: 100_000))
                }
                calls += 2
                // Signals that a service could take for those of the bus or of polkit.
                for member in ["NameOwnerChanged", "NameLost", "PropertiesChanged", "Changed"] {
                    try hostile.connection.signal(
                        member, of: "org.freedesktop.DBus", at: "/org/freedesktop/DBus", to: own.0
                    ) { message throws(BusFailure) in
                        try message.append(BusInterface.proxyName)
                        try message.append(String(repeating: "z", count: 1000))
                        try message.append("")
                    }
                }
                try hostile.process()
            }
            try wait(hostile, for: "the refusals") { hostile.heard.count == calls }
            #expect(hostile.heard.filter { !$0.contains("org.freedesktop.DBus.Error") } == [])
        }
        // What is opened once, and late on a busy machine, is there when an attack has opened no more; a leak goes on.
        try attack()
        var descriptors: Int
        var attacks = 1
        repeat {
            descriptors = daemon.descriptorCount
            try attack()
            attacks += 1
        } while daemon.descriptorCount > descriptors && attacks < 6
        // A leak grows with each attack. The heap may keep the room of one long message from any of them, once.
        var memory = [try daemon.memory()]
        var growth: [Int] { zip(memory.dropFirst(), memory).map { $0 - $1 } }
        while growth.last.map({ $0 >= 1024 }) ?? true, growth.count < 4 {
            try attack()
            memory.append(try daemon.memory())
        }
        print("memory after each attack, in kB: \(memory)")
        // The recording may have come to its second pass meanwhile, as above.
        try waitUntil("\(descriptors) descriptors, not \(daemon.descriptorCount)") {
            daemon.descriptorCount <= descriptors + 1
        }
        #expect(growth.contains { $0 < 1024 })
        // The claim from before is still there.
        #expect(try bus.call(own.0, own.1, "org.binnacle.Binnacle1.GetStatus").contains("\"accelerometer\":1"))
        #expect(daemon.stop() == 0)
        #expect(!(try daemon.errors.text()).contains("lost the name"))
    }
}

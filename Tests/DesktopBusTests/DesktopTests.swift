import Foundation
import TestSupport
import Testing

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
        #expect(commands.count == 4)
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
            let wanted = command.contains("GetStatus") ? "\"state\":" : "Changed"
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
        try daemon.waitForMessage("configuration read anew")
        #expect(try owner() == first)
        try daemon.configure(Self.configuration.replacingOccurrences(of: "[dbus]", with: "[dbus]\nenabled = false"))
        daemon.reload()
        try daemon.waitForMessage("configuration read anew", count: 2)
        try waitUntil("the end of the name") { try owner().contains("NameHasNoOwner") }
        #expect(daemon.stop() == 0)
    }
}

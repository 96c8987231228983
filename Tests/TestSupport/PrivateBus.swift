import Foundation
import Testing

/// A message bus of a test's own, as the system bus is without its policy: every client may have every name.
package final class PrivateBus {
    /// What connects to it, and what `DBUS_SYSTEM_BUS_ADDRESS` takes.
    package let address: String
    private let folder = NSTemporaryDirectory() + "bus-" + UUID().uuidString.prefix(8)
    private var process: Child

    /// Starts a bus without the limits of a system bus, or with some.
    package init(limits own: [String: Int] = [:]) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        address = "unix:path=\(folder)/bus"
        let limits = [
            "max_completed_connections", "max_connections_per_user", "max_pending_service_starts",
            "max_names_per_connection", "max_match_rules_per_connection", "max_replies_per_connection",
        ].map { "<limit name=\"\($0)\">\(own[$0] ?? 100_000)</limit>" }.joined()
        try """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig><listen>\(address)</listen><auth>EXTERNAL</auth>
        <policy context="default"><allow user="*"/><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy>
        \(limits)</busconfig>
        """.write(toFile: folder + "/bus.conf", atomically: true, encoding: .utf8)
        process = Child([])
        try start()
    }

    deinit {
        process.end()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Starts it, after ``stop()``.
    package func start() throws {
        process = Child(["dbus-daemon", "--config-file=\(folder)/bus.conf", "--nofork", "--print-address"])
        // It prints the address once it listens.
        let output = try TemporaryFile()
        process.standardOutput = try output.writer()
        try process.run()
        try output.wait { $0.contains("unix:") }
    }

    /// Ends it, and with it all connections.
    package func stop() {
        process.end()
        try? FileManager.default.removeItem(atPath: folder + "/bus")
    }

    /// Calls a method with gdbus, as a person does.
    ///
    /// - Returns: What it prints.
    package func call(_ name: String, _ path: String, _ method: String, _ arguments: String...) throws -> String {
        let output = try TemporaryFile()
        let process = Child(
            ["gdbus", "call", "--system", "--dest", name, "--object-path", path, "--method", method] + arguments)
        process.environment = ["DBUS_SYSTEM_BUS_ADDRESS": address]
        process.standardOutput = try output.writer()
        process.standardError = try output.writer()
        try process.run()
        process.waitUntilExit()
        return try output.text()
    }
}

import Foundation
package import Testing

/// A daemon under test: `binnacle run`, with what it writes in files.
package final class DaemonRun {
    package let process: Child
    package let output: TemporaryFile
    package let errors: TemporaryFile
    /// The folder of its configuration.
    package let folder = NSTemporaryDirectory() + "binnacle-run-" + UUID().uuidString

    /// Starts a daemon.
    ///
    /// - Parameters:
    ///   - configuration: Its `binnacle.toml`; without one, the arguments say what it does.
    ///   - arguments: Further arguments.
    ///   - environment: Further variables.
    /// - Throws: When its files cannot be made.
    package init(
        _ configuration: String? = nil, _ arguments: [String] = [], environment: [String: String] = [:]
    ) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        output = try TemporaryFile()
        errors = try TemporaryFile()
        process = Binary.process(
            ["run"] + (configuration == nil ? [] : ["--config", folder + "/binnacle.toml"]) + arguments)
        process.environment = environment
        process.standardOutput = try output.writer()
        process.standardError = try errors.writer()
        if let configuration { try configure(configuration) }
    }

    deinit {
        process.end()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Writes the configuration, in one step.
    package func configure(_ text: String) throws {
        try text.write(toFile: folder + "/binnacle.toml", atomically: true, encoding: .utf8)
    }

    /// Starts the process.
    @discardableResult
    package func start() throws -> DaemonRun {
        try process.run()
        return self
    }

    /// Sends SIGHUP, at which the daemon reads its configuration again.
    package func reload() {
        kill(process.processIdentifier, SIGHUP)
    }

    /// Ends it as a service manager would.
    ///
    /// - Returns: The exit status; −1 when a signal ended it.
    @discardableResult
    package func stop(_ signal: Int32 = SIGTERM) -> Int32 {
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        return process.terminationReason == .exit ? process.terminationStatus : -1
    }

    /// The events that it wrote as JSON, so far.
    package func events() throws -> [[String: Any]] {
        // A line that is being written has no end yet.
        try output.text().split(separator: "\n", omittingEmptySubsequences: false).dropLast().map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    /// Waits until an event of a kind has come.
    package func waitForEvent(
        _ kind: String, count: Int = 1, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try output.wait(sourceLocation: sourceLocation) {
            $0.components(separatedBy: "\"kind\":\"\(kind)\"").count > count
        }
    }

    /// Waits until something was said on standard error.
    package func waitForMessage(
        _ text: String, count: Int = 1, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try errors.wait(sourceLocation: sourceLocation) { $0.components(separatedBy: text).count > count }
    }

    /// How many descriptors the process has open.
    package var descriptorCount: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.processIdentifier)/fd").count) ?? 0
    }

    /// How many threads the process has.
    package var threadCount: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.processIdentifier)/task").count) ?? 0
    }

    /// A figure of the process's memory, in kilobytes.
    ///
    /// - Parameter field: One of /proc/PID/status, such as RssAnon for the memory that is the process's own.
    /// - Returns: The figure.
    /// - Throws: When the process has ended, or there is no such field.
    package func memory(_ field: String = "RssAnon") throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(field + ":") })
        return try #require(Int(line.split(separator: " ")[1]))
    }
}

import Foundation
import TestSupport
import Testing

/// `binnacle on` or `binnacle events` under test, with what it writes in files; it ends with this object.
final class SubscriberRun {
    let process: Child
    let output: TemporaryFile
    let errors: TemporaryFile

    init(
        _ arguments: [String], in folder: String? = nil, environment: [String: String] = [:]
    ) throws {
        process = Binary.process(arguments, in: folder)
        process.environment = environment
        output = try TemporaryFile()
        errors = try TemporaryFile()
        process.standardOutput = try output.writer()
        process.standardError = try errors.writer()
        try process.run()
    }

    deinit {
        process.end()
    }

    /// Waits for the end.
    ///
    /// - Returns: The exit status; 128 and the signal when one ended it.
    func wait() -> Int32 {
        process.waitUntilExit()
        return process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
    }

    /// Sends a signal to the program alone, and waits for its end.
    func stop(_ signal: Int32 = SIGTERM) -> Int32 {
        kill(process.processIdentifier, signal)
        return wait()
    }

    /// Waits until there are so many lines on standard output.
    func waitForLines(_ count: Int) throws -> [String] {
        try output.wait { $0.utf8.count { $0 == 10 } >= count }
        return try output.text().split(separator: "\n").map(String.init)
    }
}

import Foundation
import Testing

/// The program as users run it.
enum Binary {
    struct Result {
        let status: Int32
        let output: String
        let errors: String

        var lines: [String] { output.split(separator: "\n").map(String.init) }
    }

    static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    static let fixtures = tests.appendingPathComponent("Fixtures").path
    static let golden = tests.appendingPathComponent("Golden").path
    static let config = tests.deletingLastPathComponent().appendingPathComponent("config").path

    /// The release binary that `make test` names, or else the one built together with these tests.
    static let path: String = {
        if let path = ProcessInfo.processInfo.environment["BINNACLE_BINARY"] { return path }
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? ".build/debug/none"
        return URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("binnacle").path
    }()

    static func process(_ arguments: [String], in folder: String? = nil) -> Child {
        let child = Child([path] + arguments)
        child.folder = folder
        return child
    }

    /// Runs the program to its end.
    static func run(_ arguments: String..., in folder: String? = nil) throws -> Result {
        try run(arguments, in: folder)
    }

    static func run(_ arguments: [String], in folder: String? = nil) throws -> Result {
        let process = process(arguments, in: folder)
        let output = try TemporaryFile()
        let errors = try TemporaryFile()
        process.standardOutput = try output.writer()
        process.standardError = try errors.writer()
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationReason == .exit, "ended by a signal: \(arguments)")
        return Result(status: process.terminationStatus, output: try output.text(), errors: try errors.text())
    }
}

/// A file that lives as long as this object.
final class TemporaryFile {
    let path: String

    init(_ contents: Data = Data(), suffix: String = "") throws {
        path = NSTemporaryDirectory() + "binnacle-test-" + UUID().uuidString + suffix
        try contents.write(to: URL(fileURLWithPath: path))
    }

    convenience init(_ text: String, suffix: String = "") throws {
        try self.init(Data(text.utf8), suffix: suffix)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func writer() throws -> FileHandle {
        try #require(FileHandle(forWritingAtPath: path))
    }

    /// Waits until the file holds what is wanted; gives up after what is an eternity even on a busy machine.
    func wait(until isEnough: (String) -> Bool) throws {
        for _ in 0..<6000 {
            if isEnough(try text()) { return }
            usleep(10_000)
        }
        Issue.record("waited in vain; so far: \(try text().prefix(500))")
    }

    func text() throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
    }
}

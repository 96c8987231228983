package import Foundation
package import Testing

/// The program as users run it.
package enum Binary {
    package struct Result: Sendable {
        package let status: Int32
        package let output: String
        package let errors: String

        package init(status: Int32, output: String, errors: String) {
            self.status = status
            self.output = output
            self.errors = errors
        }

        package var lines: [String] { output.split(separator: "\n").map(String.init) }
    }

    package static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    package static let fixtures = tests.appendingPathComponent("Fixtures").path
    package static let golden = tests.appendingPathComponent("Golden").path
    package static let config = tests.deletingLastPathComponent().appendingPathComponent("config").path

    /// The folder of what was built together with these tests.
    package static let buildFolder: String = {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? ".build/debug/none"
        return URL(fileURLWithPath: bundle).deletingLastPathComponent().path
    }()

    /// The release binary that `make test` names, or else the one built together with these tests.
    package static let path: String = {
        ProcessInfo.processInfo.environment["BINNACLE_BINARY"] ?? buildFolder + "/binnacle"
    }()

    /// Whether the program is built with a sanitizer, whose own memory grows with whatever was touched once.
    package static let isSanitized = ProcessInfo.processInfo.environment["BINNACLE_SANITIZED"] != nil

    /// Whether it is one that users run, and not a debug build, whose loops take fifty times as long.
    package static let isOptimized = ProcessInfo.processInfo.environment["BINNACLE_BINARY"] != nil && !isSanitized

    package static func process(_ arguments: [String], in folder: String? = nil) -> Child {
        let child = Child([path] + arguments)
        child.folder = folder
        return child
    }

    /// Runs the program to its end.
    package static func run(_ arguments: String..., in folder: String? = nil) throws -> Result {
        try run(arguments, in: folder)
    }

    package static func run(_ arguments: [String], in folder: String? = nil, input: String? = nil) throws -> Result {
        let process = process(arguments, in: folder)
        let file = try input.map { try TemporaryFile($0) }
        if let file { process.standardInput = FileHandle(forReadingAtPath: file.path) }
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
package final class TemporaryFile {
    package let path: String

    package init(_ contents: Data = Data(), suffix: String = "") throws {
        // Of one length and digits alone: names of columns are read together with the file's name, and where that has
        // more words, reading it takes more memory than reading another one.
        let digits = String(UInt64.random(in: 10_000_000_000_000_000_000...UInt64.max))
        path = NSTemporaryDirectory() + "binnacle-test-" + digits + suffix
        try contents.write(to: URL(fileURLWithPath: path))
    }

    package convenience init(_ text: String, suffix: String = "") throws {
        try self.init(Data(text.utf8), suffix: suffix)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    package func writer() throws -> FileHandle {
        try #require(FileHandle(forWritingAtPath: path))
    }

    /// Waits until the file holds what is wanted.
    package func wait(
        sourceLocation: SourceLocation = #_sourceLocation, until isEnough: (String) throws -> Bool
    ) throws {
        try waitUntil("a text; it ends with: \(text().suffix(500))", sourceLocation: sourceLocation) {
            try isEnough(text())
        }
    }

    package func text() throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
    }
}

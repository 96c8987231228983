import Foundation
package import Testing

/// A test that needs a process without a free descriptor: a process of its own, because all other tests need some.
package struct FewDescriptors: Sendable {
    /// Set in the process that has few.
    private let variable: String
    /// Whether this process has few.
    package let isInside: Bool

    package init(_ variable: String) {
        self.variable = variable
        isInside = ProcessInfo.processInfo.environment[variable] != nil
    }

    /// Runs the one test of this program with a name, in a process with 64 descriptors; it has to pass.
    package func run(_ test: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let output = try TemporaryFile()
        let child = Child([
            "/bin/sh", "-c", "ulimit -n 64; exec \"$0\" --testing-library swift-testing --filter \(test)",
            CommandLine.arguments[0],
        ])
        child.environment = [variable: "1"]
        child.standardOutput = try output.writer()
        child.standardError = child.standardOutput
        try child.run()
        child.waitUntilExit()
        let said = try output.text()
        #expect(
            child.terminationReason == .exit && child.terminationStatus == 0, "\(said)", sourceLocation: sourceLocation)
        #expect(said.contains("1 test"), "\(said)", sourceLocation: sourceLocation)
    }
}

import Foundation
import TestSupport
import Testing

/// The program under test, running in a test bed.
final class MockProgram {
    let output: TemporaryFile
    let errors: TemporaryFile
    private let station: MockStation
    private let identifier: pid_t
    private var end: Int32?

    init(station: MockStation, identifier: pid_t, output: TemporaryFile, errors: TemporaryFile) {
        self.station = station
        self.identifier = identifier
        self.output = output
        self.errors = errors
    }

    func interrupt() {
        kill(identifier, SIGINT)
    }

    /// Waits for the end, and says with which status it came.
    func status() throws -> Int32 {
        if let end { return end }
        let words = try station.obey("wait", String(identifier)).split(separator: " ")
        let number = try #require(Int32(words[1]))
        if words[0] == "signal" {
            Issue.record("ended by signal \(number); it said: \(try errors.text().suffix(2000))")
        }
        end = words[0] == "exit" ? number : 128 + number
        return end ?? 0
    }

    /// Waits until a line on standard error holds all of some words.
    @discardableResult
    func waitForMessage(_ words: String..., sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        var found: Substring?
        do {
            try eventually("standard error says \(words)", sourceLocation: sourceLocation) {
                found = try errors.text().split(separator: "\n").first { line in words.allSatisfy(line.contains) }
                return found != nil
            }
        } catch {
            Issue.record("it said: \(try errors.text().suffix(2000))", sourceLocation: sourceLocation)
            throw error
        }
        return String(found ?? "")
    }
}

import Foundation
import TestSupport
import Testing

/// The program under test, running in a test bed.
final class MockProgram {
    let output: TemporaryFile
    let errors: TemporaryFile
    private let station: MockStation
    private let identifier: pid_t
    var processIdentifier: pid_t { identifier }
    private var end: Int32?

    init(station: MockStation, identifier: pid_t, output: TemporaryFile, errors: TemporaryFile) {
        self.station = station
        self.identifier = identifier
        self.output = output
        self.errors = errors
    }

    /// Whether it has ended and only waits to be asked for its status.
    var hasEnded: Bool {
        guard end == nil, let text = try? String(contentsOfFile: "/proc/\(identifier)/stat", encoding: .utf8) else {
            return true
        }
        return text.drop { $0 != ")" }.hasPrefix(") Z")
    }

    /// The processor time that it has used, in hundredths of a second.
    var processorTicks: Int {
        let text = (try? String(contentsOfFile: "/proc/\(identifier)/stat", encoding: .utf8)) ?? ""
        // Behind the name, which may hold anything, the fields 14 and 15 of proc(5) are the 12th and 13th.
        let fields = text.drop { $0 != ")" }.split(separator: " ").dropFirst()
        guard fields.count > 13 else { return 0 }
        return fields.dropFirst(11).prefix(2).compactMap { Int($0) }.reduce(0, +)
    }

    /// Waits for a condition, as long as the program runs.
    func waitUntil(
        _ what: String, sourceLocation: SourceLocation = #_sourceLocation, isCase: () async throws -> Bool
    ) async throws {
        var isMet = false
        do {
            try await TestSupport.waitUntil(what, sourceLocation: sourceLocation) {
                let hadEnded = hasEnded
                isMet = try await isCase()
                return isMet || hadEnded
            }
        } catch {
            Issue.record("it said: \(try errors.text().suffix(2000))", sourceLocation: sourceLocation)
            throw error
        }
        guard !isMet else { return }
        let said = try errors.text().suffix(2000)
        Issue.record(
            "ended with \(try await status()) before \(what); it said: \(said)", sourceLocation: sourceLocation)
        throw MockFailure(message: "ended before \(what)")
    }

    func interrupt() {
        kill(identifier, SIGINT)
    }

    /// Waits for the end, and says with which status it came.
    func status() async throws -> Int32 {
        if let end { return end }
        try await TestSupport.waitUntil("the end of \(identifier)") { hasEnded }
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
    func waitForMessage(_ words: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws -> String {
        var found: Substring?
        try await waitUntil("standard error says \(words)", sourceLocation: sourceLocation) {
            found = try errors.text().split(separator: "\n").first { line in words.allSatisfy(line.contains) }
            return found != nil
        }
        return String(found ?? "")
    }
}

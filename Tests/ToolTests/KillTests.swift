import Foundation
import TestSupport
import Testing

/// The promise of the store: what was appended reaches its handler, at least once and in order, however often the daemon
/// is killed.
@Suite struct KillTests {
    /// How often the daemon is killed.
    private static let kills =
        ProcessInfo.processInfo.environment["BINNACLE_KILLS"].flatMap(Int.init)
        ?? TestForm.count(20, long: 200)

    private let folder: TemporaryFolder
    private var delivered: String { folder.path + "/delivered" }
    private var socket: String { folder.path + "/binnacle.sock" }
    private var store: String { folder.path + "/events.db" }

    init() throws {
        folder = try TemporaryFolder([:])
    }

    /// A sensor whose noise makes some hundred events a second, or none at all.
    private func configuration(floods: Bool) -> String {
        """
        [store]
        path = "\(store)"
        [socket]
        path = "\(socket)"
        \(NoiseFlood.sections(floods: floods))
        [handler.append]
        on = ["shake"]
        command = ["/usr/bin/tee", "-a", "\(delivered)"]
        output_bytes = 0
        """
    }

    /// The number of the event in a line; `nil` when it is of another kind.
    private static func number(_ line: Substring) throws -> Int? {
        let value = try JSONSerialization.jsonObject(with: Data(line.utf8))
        guard let event = value as? [String: Any], event["kind"] as? String == "shake" else { return nil }
        return event["seq"] as? Int
    }

    /// The numbers in a file's whole lines: the last one may be under way, or cut by a kill.
    private static func numbers(_ text: String) throws -> [Int] {
        let end = text.lastIndex(of: "\n") ?? text.startIndex
        return try text[..<end].split(separator: "\n").compactMap(number)
    }

    @Test func nothingThatWasAppendedIsMissingAfterManyKills() throws {
        // The subscriber outlives every daemon, and begins where it was.
        let (list, words) = (try TemporaryFile(), try TemporaryFile())
        let subscriber = Binary.process(["on", "any", "--after", "0", "--json", "--socket", socket])
        subscriber.standardOutput = try list.writer()
        subscriber.standardError = try words.writer()
        try subscriber.run()
        defer { subscriber.end() }

        var generator = SeededGenerator(seed: 5)
        // How many lines the handler had written when a daemon was killed.
        var ends: [Int] = []
        for kill in 0..<Self.kills {
            let run = try DaemonRun(configuration(floods: true), ["--json"]).start()
            // On a busy machine a daemon may be killed before it has found anything.
            if kill % 2 == 0 { try run.waitForEvent("shake", count: 1) }
            usleep(UInt32.random(in: 5_000...150_000, using: &generator))
            run.process.end()
            ends.append(try lineCount())
        }

        // The last one has time for everything that is left, and makes nothing new.
        let run = try DaemonRun(configuration(floods: false)).start()
        let stored = try #require(try Self.numbers(try whenSettled()).last)
        try waitUntil("the last event to be handled") {
            try Self.numbers(try String(contentsOfFile: delivered, encoding: .utf8)).last == stored
        }
        try waitUntil("the subscriber to have the last event") { try Self.numbers(try list.text()).last == stored }
        #expect(run.stop() == 0)
        subscriber.end()

        let handled = try Self.numbers(try String(contentsOfFile: delivered, encoding: .utf8))
        let seen = try Self.numbers(try list.text())
        let file = try Binary.run("events", "--json", "--store", store)
        try #require(file.status == 0, "\(file.errors)")
        let kept = try Self.numbers(file.output)
        #expect(kept == kept.sorted() && Set(kept).count == kept.count)
        let isSame = seen == kept
        #expect(isSame, "the subscriber's own list is the store's: \(seen.count), \(kept.count)")
        let missing = Set(kept).subtracting(handled).sorted().prefix(5)
        #expect(missing.isEmpty)
        #expect(Set(handled).isSubset(of: kept))
        // The order goes back only where a daemon was killed: what it had not taken note of is done again.
        var descents: [Int] = []
        for (index, pair) in zip(handled, handled.dropFirst()).enumerated() where pair.1 <= pair.0 {
            descents.append(index + 1)
        }
        // A program that was under way outlives its daemon by a line.
        let unexplained = descents.filter { place in !ends.contains { abs($0 - place) <= 2 } }
        #expect(unexplained.isEmpty)
        #expect(descents.count <= Self.kills)
        let repeated = handled.count - Set(handled).count
        print("\(Self.kills) kills: \(kept.count) events appended, \(handled.count) handled, \(repeated) of them twice")
    }

    /// Standard output and the log have an event before the store has it, so that no alarm waits for a disk.
    @Test func standardOutputIsAheadOfTheStoreByTheLastEventsBeforeAKillAlone() throws {
        var generator = SeededGenerator(seed: 9)
        var printed: [[Int]] = []
        for _ in 0..<TestForm.count(8, long: 100) {
            let run = try DaemonRun(configuration(floods: true), ["--json"]).start()
            try run.waitForEvent("shake", count: 3)
            usleep(UInt32.random(in: 0...50_000, using: &generator))
            run.process.end()
            printed.append(try Self.numbers(try run.output.text()))
        }
        let file = try Binary.run("events", "--json", "--store", store)
        try #require(file.status == 0, "\(file.errors)")
        let kept = Set(try Self.numbers(file.output))
        #expect(!kept.isEmpty)
        for (run, numbers) in printed.enumerated() {
            let lacking = numbers.filter { !kept.contains($0) }
            #expect(lacking == Array(numbers.suffix(lacking.count)), "run \(run)")
            // They belong to no other event, and the next run goes on behind them.
            if run > 0, let last = printed[run - 1].last { #expect(numbers.allSatisfy { $0 > last }, "run \(run)") }
        }
        print("\(printed.count) kills: \(printed.joined().count { !kept.contains($0) }) events printed and not kept")
    }

    private func lineCount() throws -> Int {
        (try? String(contentsOfFile: delivered, encoding: .utf8))?.split(separator: "\n").count ?? 0
    }

    /// What the store holds, when nothing is added to it any more.
    private func whenSettled() throws -> String {
        var last = ""
        try waitUntil("a store that settles") {
            usleep(300_000)
            let text = try Binary.run("events", "--kind", "shake", "--json", "--socket", socket).output
            defer { last = text }
            return !text.isEmpty && text == last
        }
        return last
    }
}

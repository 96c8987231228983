import Foundation
import TestSupport
import Testing

/// Many events: detection goes on, and what cannot be handled is counted.
@Suite struct FloodTests {
    /// How long the flood lasts; `make soak` asks for half a minute.
    private static let seconds = ProcessInfo.processInfo.environment["BINNACLE_FLOOD_SECONDS"].flatMap(Int.init) ?? 3
    /// A program that is built with a sanitizer is ten times slower, and would lose samples of itself.
    private static let hertz = Binary.isSanitized ? 5000 : 20_000

    /// Every sample is an event.
    private static let flooding = """
        [sensor.box]
        source = "simulated"
        model = "still"
        rate_hz = \(hertz)
        [motion.moved]
        accelerometer = "box"
        detect = ["motion"]
        measure = "magnitude"
        threshold_g = 0.0000001
        release_g = 0.00000005
        min_duration_s = 0
        quiet_s = 3600
        update_interval_s = 0.000000001

        """

    /// How many events at most a handler had not handled at its end, by the message at the end of a run.
    private static func rest(of handler: String, _ run: DaemonRun) throws -> Int {
        let parts = try run.errors.text().components(separatedBy: "handler '\(handler)': up to ")
        return parts.count < 2 ? 0 : try #require(parts[1].split(separator: " ").first.flatMap { Int($0) })
    }

    /// A handler that hangs for ever, one that gets everything, and one that tells what was dropped.
    @Test func aHandlerThatHangsKeepsNobodyWaiting() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let run = try DaemonRun(
            Self.flooding + """
                [handler.stuck]
                on = ["motion.moving"]
                stdout = true
                [handler.all]
                on = ["motion.moving"]
                command = ["/bin/true"]
                decorate = [{ count = { every = \(Self.hertz) } }]
                [handler.note]
                on = ["events.dropped", "samples.lost", "gap", "command.finished", "motion.began"]
                log = true
                """)
        // No process reads the other end.
        run.process.standardOutput = FileHandle(fileDescriptor: ends[1])
        let start = ContinuousClock.now
        try run.start()
        // One for each second of samples: had detection waited for the handler that is stuck, they would not come.
        try run.waitForMessage("command.finished", count: Self.seconds)
        #expect(run.stop() == 0)
        let duration = ContinuousClock.now - start
        let text = try run.errors.text()
        #expect(!text.contains("samples.lost") && !text.contains("gap"))
        let dropped = text.split(separator: "\n").filter { $0.contains("events.dropped") }.compactMap { line in
            line.components(separatedBy: "count ").last?.split(separator: " ").first.flatMap { Int($0) }
        }
        let expected = Self.seconds * Self.hertz - 2 * 4096 - 64 * 1024 / 100
        #expect(dropped.reduce(try Self.rest(of: "stuck", run), +) > expected)
        // The first drop is reported without delay, later ones at growing intervals.
        #expect(dropped.count <= Int(duration.components.seconds) + 3)
        #expect(text.contains("handler 'stuck'"))
    }

    /// A thousand events a second into programs of which two may run at a time.
    @Test func whatCommandsCannotTakeIsCountedAndSaid() throws {
        let marker = try TemporaryFile()
        let run = try DaemonRun(
            Self.flooding.replacingOccurrences(of: "rate_hz = \(Self.hertz)", with: "rate_hz = 1000") + """
                [handler.slow]
                on = ["motion.moving"]
                command = ["/bin/sh", "-c", "echo + >>\(marker.path); sleep 0.05; echo - >>\(marker.path)"]
                concurrent = 2
                queue = 10
                [handler.out]
                on = ["motion.moving", "motion.began", "events.dropped", "command.finished", "command.failed"]
                stdout = true
                """
        ).start()
        try run.waitForEvent("motion.moving", count: Self.seconds * 1000)
        #expect(run.stop() == 0)
        let events = try run.events()
        func count(_ kind: String) -> Int { events.count { $0["kind"] as? String == kind } }
        let dropped = events.filter { $0["kind"] as? String == "events.dropped" }
        let droppedCount = dropped.compactMap { $0["count"] as? Int }.reduce(0, +)
        #expect(dropped.allSatisfy { $0["handler"] as? String == "slow" })
        // Each event was handled, was dropped, or is in what a handler without enough time to end leaves.
        let handled = count("command.finished") + count("command.failed")
        #expect(handled > 0)
        let told = droppedCount + handled
        #expect((told...told + (try Self.rest(of: "slow", run))).contains(count("motion.moving")), "\(told)")
        var (running, most) = (0, 0)
        for line in try marker.text().split(separator: "\n") {
            running += line == "+" ? 1 : -1
            most = max(most, running)
        }
        #expect(most <= 2)
    }
}

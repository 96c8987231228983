import Foundation
import TestSupport
import Testing

/// A daemon that runs for long, with everything in it moving: `make soak` with SOAK_SECONDS.
@Suite struct SoakTests {
    private static let seconds = ProcessInfo.processInfo.environment["BINNACLE_SOAK_SECONDS"].flatMap(Int.init) ?? 0

    private static func version(_ number: Int) -> String {
        """
        [sensor.box]
        source = "simulated"
        model = "shake"
        [sensor.deck]
        source = "simulated"
        model = "\(number % 2 == 0 ? "turn" : "walk")"
        [motion.moved]
        accelerometer = "box"
        [north.bow]
        accelerometer = "deck"
        magnetometer = "deck"
        [handler.out]
        on = ["shake", "events.dropped", "samples.lost", "command.finished", "command.failed"]
        stdout = true
        [handler.note]
        on = ["heading"]
        log = true
        decorate = [{ rate_limit = { per_minute = \(number % 3 + 1) } }]
        [handler.tell]
        on = ["shake"]
        command = ["/bin/true", "{user_g}"]
        decorate = [{ count = { every = \(number % 4 + 2) } }]

        """
    }

    @Test(.enabled(if: seconds > 0, "takes as long as BINNACLE_SOAK_SECONDS says"))
    func nothingGrowsAndNothingIsLost() throws {
        let run = try DaemonRun(Self.version(0)).start()
        try run.waitForEvent("command.finished")
        // What is made once has been made after a few versions.
        let settled = 24
        let rounds = max(settled + 12, Self.seconds / 2)
        var (descriptors, threads) = (0, 0)
        var memory: [Int] = []
        for number in 1...rounds {
            sleep(2)
            try run.configure(Self.version(number))
            run.reload()
            try #require(run.process.isRunning)
            // A handler that a reload took out, or a command, may be ending at any moment.
            if (settled - 11...settled).contains(number) {
                (descriptors, threads) = (max(descriptors, run.descriptorCount), max(threads, run.threadCount))
            }
            if number >= settled, (number - settled) % 12 == 0 { memory.append(try run.memory()) }
        }
        try run.waitForMessage("configuration reloaded", count: rounds)
        try waitUntil("\(descriptors) descriptors, not \(run.descriptorCount)") { run.descriptorCount <= descriptors }
        try waitUntil("\(threads) threads, not \(run.threadCount)") { run.threadCount <= threads }
        // A leak has all of the second half above the first one.
        let (first, second) = (memory.prefix((memory.count + 1) / 2), memory.suffix(memory.count / 2))
        #expect(try #require(second.min()) < #require(first.max()) + 1024, "\(memory)")
        #expect(run.stop() == 0)
        let events = try run.events()
        let kinds = Set(events.compactMap { $0["kind"] as? String })
        #expect(kinds == ["shake", "command.finished"])
        let numbers = events.compactMap { $0["seq"] as? Int }
        #expect(numbers == numbers.sorted())
    }
}

import Binnacle
import Foundation
import LinuxSystem
import TestSupport
import Testing

/// `binnacle events`, against a server in this process.
@Suite struct EventsTests {
    private func double() throws -> SocketDouble {
        let double = try SocketDouble()
        for index in 1...2000 {
            double.publish(index % 2 == 0 ? .shock : .motionBegan, sensor: index % 5 == 0 ? "door" : "lid")
        }
        return double
    }

    private func events(_ double: SocketDouble, _ arguments: String...) throws -> Binary.Result {
        try Binary.run(["events", "--socket", double.path] + arguments)
    }

    @Test func everythingThatIsKeptIsShown() throws {
        let double = try double()
        let text = try events(double)
        #expect(text.status == 0 && text.lines.count == 2000 && text.errors.isEmpty)
        #expect(text.lines[0] == "2025-11-21T15:00:01.000000Z  motion.began    moved       peak 0.2500 g")
        let json = try events(double, "--json")
        #expect(json.lines.count == 2000)
        #expect(json.lines[1999].hasPrefix(#"{"seq":2000,"kind":"shock""#))
    }

    @Test func kindSensorAndTimeChoose() throws {
        let double = try double()
        #expect(try events(double, "--kind", "shock").lines.count == 1000)
        #expect(try events(double, "--kind", "shock", "--kind", "motion.began").lines.count == 2000)
        #expect(try events(double, "--kind", "any").lines.count == 2000)
        #expect(try events(double, "--sensor", "door", "--kind", "shock").lines.count == 200)
        #expect(try events(double, "--sensor", "attic").lines.isEmpty)
        // The last of them happened at 15:33:20.
        #expect(try events(double, "--since", "2025-11-21T15:33:11Z").lines.count == 10)
        #expect(try events(double, "--since", "2025-11-21 15:33").lines.count == 21)
        #expect(try events(double, "--since", "2025-11-22").lines.isEmpty)
        #expect(try events(double, "--since", "1m").lines.isEmpty)
        let days = (SystemClock.realtime() - 1_763_737_200_000_000_000) / 86_400_000_000_000 + 1
        #expect(try events(double, "--since", "\(days)d").lines.count == 2000)
    }

    @Test func followGoesOn() throws {
        let double = try double()
        let run = try SubscriberRun(["events", "--socket", double.path, "--follow", "--since", "2025-11-21T15:33:11Z"])
        #expect(try run.waitForLines(10).count == 10)
        double.publish(.shake)
        #expect(try run.waitForLines(11).last?.contains("shake") == true)
        #expect(run.stop(SIGINT) == 130)
    }

    @Test func aReaderThatGoesAwayEndsIt() throws {
        let double = try double()
        let run = Child(["/bin/sh", "-c", "'\(Binary.path)' events --socket '\(double.path)' | head -n 1"])
        let output = try TemporaryFile()
        run.standardOutput = try output.writer()
        try run.run()
        run.waitUntilExit()
        #expect(try output.text().split(separator: "\n").count == 1)
    }

    @Test func wrongUseIsExplained() throws {
        for (arguments, status, message) in [
            (["x"], 64, "takes no 'x'"), (["--since", "x"], 64, "--since x: has to be"),
            (["--since", "1.5.5h"], 64, "has to be"), (["--since", "2025-13-01"], 64, "has to be"),
            (["--kind", "shok"], 64, "did you mean `shock`?"),
            (["--socket", "/nonexistent/s"], 69, "no daemon answers"),
            (["--socket", "/nonexistent/s", "--follow"], 69, "no daemon answers"),
        ] as [([String], Int32, String)] {
            let result = try Binary.run(["events"] + arguments)
            #expect(result.status == status, "\(arguments)")
            #expect(result.errors.contains(message), "\(result.errors)")
        }
    }
}

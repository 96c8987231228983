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

    private func events(
        _ double: SocketDouble, _ arguments: String..., in zone: String = "UTC"
    ) throws -> Binary.Result {
        let process = Binary.process(["events", "--socket", double.path] + arguments)
        process.environment = ["TZ": zone]
        let output = try TemporaryFile()
        let errors = try TemporaryFile()
        process.standardOutput = try output.writer()
        process.standardError = try errors.writer()
        try process.run()
        process.waitUntilExit()
        return Binary.Result(
            status: process.terminationStatus, output: try output.text(), errors: try errors.text())
    }

    /// New York is five hours behind UTC in November.
    @Test func timesAreLocal() throws {
        let double = try double()
        let local = try events(
            double, "--since", "2025-11-21 10:33:11", "--until", "2025-11-21T10:33:12", in: "America/New_York")
        #expect(local.lines.map { $0.prefix(23) } == ["2025-11-21 10:33:11.000", "2025-11-21 10:33:12.000"])
        let inUTC = try events(
            double, "--utc", "--since", "2025-11-21 15:33:11", "--until", "2025-11-21T15:33:12", in: "America/New_York")
        #expect(inUTC.lines.map { $0.prefix(27) } == ["2025-11-21T15:33:11.000000Z", "2025-11-21T15:33:12.000000Z"])
        let named = try events(double, "--since", "2025-11-21T15:33:19Z", in: "America/New_York")
        #expect(named.lines.count == 2)
    }

    /// The events are from 15:00:01 to 15:33:20 UTC on the third Friday of November; clocks are set at 15:30 UTC, back and forward.
    @Test func anHourThatIsTwiceThereOrSkippedLosesNoEvent() throws {
        let double = try double()
        let back = "STD0DST-1,M3.2.0,M11.3.5/16:30"
        #expect(try events(double, "--since", "2025-11-21 16:05", in: back).lines.count == 1701)
        #expect(try events(double, "--since", "2025-11-21 15:31", in: back).lines.count == 2000)
        #expect(try events(double, "--until", "2025-11-21 15:31", in: back).lines.count == 1860)
        #expect(try events(double, "--until", "2025-11-21 16:05", in: back).lines.count == 2000)
        let forward = "STD0DST-1,M11.3.5/15:30,M12.1.0"
        #expect(try events(double, "--since", "2025-11-21 15:45", in: forward).lines.count == 201)
        #expect(try events(double, "--until", "2025-11-21 15:45", in: forward).lines.count == 1800)
        #expect(try events(double, "--since", "2025-11-21 16:31", in: forward).lines.count == 141)
    }

    @Test func theLastOnesAreShown() throws {
        let double = try double()
        let last = try events(double, "-n", "3", "--json")
        #expect(last.lines.map { $0.prefix(11) } == [#"{"seq":1998"#, #"{"seq":1999"#, #"{"seq":2000"#])
        #expect(try events(double, "--last", "5000").lines.count == 2000)
        let until = try events(double, "-n", "2", "--until", "2025-11-21T15:00:05Z", "--json")
        #expect(until.lines.map { $0.prefix(9) } == [#"{"seq":4,"#, #"{"seq":5,"#])
        #expect(try events(double, "-n", "0").status == 64)
        #expect(try events(double, "-n", "2", "--follow").errors.contains("--last does not go with --follow"))
    }

    @Test func groupsOfKindsChoose() throws {
        let double = try double()
        #expect(try events(double, "--kind", "motion.*").lines.count == 1000)
        #expect(try events(double, "--kind", "north.*").lines.isEmpty)
        let unknown = try events(double, "--kind", "nort.*")
        #expect(unknown.status == 64 && unknown.errors.contains("did you mean `north.*`?"), "\(unknown.errors)")
        let far = try events(double, "--kind", "xyz")
        #expect(far.errors.contains("'binnacle events --kinds' lists them"))
        #expect(far.errors.count < 120)
    }

    @Test func theKindsAreListed() throws {
        let kinds = try Binary.run("events", "--kinds")
        #expect(kinds.status == 0)
        #expect(kinds.lines.count == EventKind.allCases.count)
        for (line, kind) in zip(kinds.lines, EventKind.allCases) {
            #expect(line.hasPrefix(kind.rawValue + " ") && line.hasSuffix("."), "\(line)")
        }
    }

    @Test func everythingThatIsKeptIsShown() throws {
        let double = try double()
        // The rest of the tests name UTC, or a distance.
        let text = try events(double, in: "UTC")
        #expect(text.status == 0 && text.lines.count == 2000 && text.errors.isEmpty)
        #expect(text.lines[0] == "2025-11-21 15:00:01.000  motion.began    moved       peak 0.2500 g")
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
        #expect(try events(double, "--since", "2025-11-21T17:33:11+02:00").lines.count == 10)
        #expect(try events(double, "--since", "2025-11-21T12:03:11.000-0330").lines.count == 10)
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

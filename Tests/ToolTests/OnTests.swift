import Binnacle
import EventSocket
import Foundation
import TestSupport
import Testing

/// `binnacle on`, against a server in this process.
@Suite struct OnTests {
    private func on(_ double: SocketDouble, _ arguments: String...) throws -> SubscriberRun {
        try SubscriberRun(["on", "--socket", double.path] + arguments)
    }

    @Test func theCommandRunsForEachEventInItsOrder() throws {
        let double = try SocketDouble()
        let run = try on(double, "motion.began", "--", "/bin/echo", "{peak_g}", "{sensor}!", "{{x}}", "{dip_deg}")
        try double.waitForSubscriber()
        for index in 1...5 {
            double.publish(peak: Double(index) / 4)
            double.publish(.shock)
        }
        #expect(
            try run.waitForLines(5)
                == ["0.2500", "0.5000", "0.7500", "1.0000", "1.2500"].map { "\($0) lid! {x} " })
        #expect(run.stop() == 143)
        #expect(try run.errors.text() == "")
    }

    @Test func theCommandTakesPartInTheSession() throws {
        let double = try SocketDouble()
        let folder = try TemporaryFolder()
        let run = try SubscriberRun(
            [
                "on", "any", "--socket", double.path, "--once", "--", "sh", "-c",
                "pwd; echo $MINE $BINNACLE_KIND $BINNACLE_PEAK_G $BINNACLE_OLD; cat; echo said >&2; ls /proc/$$/fd",
            ], in: folder.path, environment: ["MINE": "kept", "BINNACLE_OLD": "of another event"])
        try double.waitForSubscriber()
        double.publish()
        #expect(run.wait() == 0)
        let lines = try run.output.text().split(separator: "\n").map(String.init)
        try #require(lines.count >= 3)
        #expect(lines[0] == URL(fileURLWithPath: folder.path).resolvingSymlinksInPath().path || lines[0] == folder.path)
        #expect(lines[1] == "kept motion.began 0.2500")
        #expect(
            lines[2].hasPrefix(#"{"seq":1,"kind":"motion.began","detector":"moved","sensor":"lid","time_ns":1000000,"#))
        // No descriptor but the three.
        #expect(lines.dropFirst(3).prefix(3) == ["0", "1", "2"])
        #expect(lines.dropFirst(6).allSatisfy { (Int($0) ?? 0) > 9 })
        #expect(try run.errors.text() == "said\n")
    }

    @Test(arguments: [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137)] as [(String, Int32)])
    func onceExitsWithTheStatusOfTheCommand(script: String, status: Int32) throws {
        let double = try SocketDouble()
        let run = try on(double, "any", "--once", "--", "sh", "-c", script)
        try double.waitForSubscriber()
        double.publish()
        double.publish()
        #expect(run.wait() == status)
    }

    /// The program that starts `binnacle on` may ignore SIGCHLD, so that the kernel discards the statuses of children.
    @Test func theStatusIsKnownAlsoWhereChildrenAreIgnored() throws {
        let double = try SocketDouble()
        let child = Child(
            [
                "/usr/bin/env", "--ignore-signal=CHLD", Binary.path, "on", "any", "--socket", double.path, "--once",
                "--",
                "/bin/false",
            ])
        try child.run()
        defer { child.end() }
        try double.waitForSubscriber()
        double.publish()
        child.waitUntilExit()
        #expect(child.terminationStatus == 1)
    }

    @Test func aCommandThatFailsIsSaidAndTheNextOneRuns() throws {
        let double = try SocketDouble()
        let run = try on(double, "any", "--", "sh", "-c", "echo $BINNACLE_SEQ; exit 3")
        try double.waitForSubscriber()
        for _ in 0..<3 { double.publish() }
        _ = try run.waitForLines(3)
        try run.errors.wait { $0.components(separatedBy: "binnacle: sh: exit status 3\n").count == 4 }
        #expect(run.stop() == 143)
    }

    /// As in a pipe of the shell.
    @Test func itEndsWhenNothingReadsWhatTheCommandWrites() throws {
        let double = try SocketDouble()
        let errors = try TemporaryFile()
        let run = Child([
            "/bin/sh", "-c",
            "'\(Binary.path)' on any --socket '\(double.path)' -- /bin/echo {kind} 2>'\(errors.path)' | head -1",
        ])
        try run.run()
        try double.waitForSubscriber()
        while run.isRunning {
            double.publish()
            usleep(10_000)
        }
        #expect(run.terminationStatus == 0)
        #expect(try errors.text() == "")
    }

    @Test func withoutACommandEventsArePrinted() throws {
        let double = try SocketDouble()
        let text = try on(double, "any", "--after", "0", "--utc")
        let json = try on(double, "shock", "--json", "--after", "0")
        double.publish()
        double.publish(.shock)
        #expect(try text.waitForLines(2)[0] == "2025-11-21T15:00:01.000000Z  motion.began    moved       peak 0.2500 g")
        #expect(try json.waitForLines(1)[0].hasPrefix(#"{"seq":2,"kind":"shock""#))
        #expect(text.stop(SIGINT) == 130)
        #expect(json.stop() == 143)
    }

    @Test func aDaemonThatIsAwayIsWaitedForAndNothingIsLost() throws {
        let double = try SocketDouble()
        double.stop()
        let run = try on(double, "any", "--", "sh", "-c", "echo $BINNACLE_SEQ")
        try run.errors.wait { $0.contains("no daemon answers") }
        try double.start()
        try double.waitForSubscriber()
        for _ in 0..<3 { double.publish() }
        #expect(try run.waitForLines(3) == ["1", "2", "3"])
        double.stop()
        try run.errors.wait { $0.contains("the daemon has closed the connection; waiting for it") }
        // These happen while no client is connected.
        for _ in 0..<3 { double.publish() }
        try double.start(behind: 6)
        #expect(try run.waitForLines(6) == ["1", "2", "3", "4", "5", "6"])
        #expect(run.stop() == 143)
        let said = try run.errors.text()
        // Once for each time, however often it was tried.
        #expect(said.components(separatedBy: "waiting for it").count == 3, "\(said)")
        #expect(said.components(separatedBy: "the daemon answers").count == 3, "\(said)")
    }

    /// The one that it has sends the events that end the test.
    @Test func aSensorThatTheDaemonDoesNotHaveIsSaid() throws {
        let folder = try TemporaryFolder()
        let socket = folder.path + "/s"
        let daemon = try DaemonRun(
            """
            [sensor.box]
            source = "simulated"
            model = "shake"
            [motion.moved]
            accelerometer = "box"
            [socket]
            path = "\(socket)"
            """
        ).start()
        try waitUntil("an answer") { try Binary.run("status", "--socket", socket).status == 0 }
        for command in [["on", "any", "--once"], ["events", "--follow"]] {
            let run = try SubscriberRun(command + ["--socket", socket, "--sensor", "box", "--sensor", "bx"])
            _ = try run.waitForLines(1)
            try run.errors.wait {
                $0.contains("binnacle: --sensor bx: the daemon has no such sensor now (did you mean `box`?)")
            }
            #expect(try !run.errors.text().contains("--sensor box"))
        }
        #expect(daemon.stop() == 0)
    }

    @Test func whatWasMissedIsSaid() throws {
        let double = try SocketDouble(startingBehind: 9)
        let run = try on(double, "any", "--after", "5")
        try run.errors.wait { $0.contains("binnacle: missed 4 events (6 to 9): they are not in the store\n") }
        #expect(run.stop() == 143)
    }

    @Test(arguments: [(SIGTERM, 143), (SIGINT, 130)] as [(Int32, Int32)])
    func aSignalReachesTheCommandAndItsEndIsWaitedFor(signal: Int32, status: Int32) throws {
        let double = try SocketDouble()
        let script = "trap 'sleep 0.2; echo ended; exit' TERM INT; echo begun; while :; do sleep 0.05; done"
        let run = try on(double, "any", "--", "bash", "-c", script)
        try double.waitForSubscriber()
        double.publish()
        double.publish()
        _ = try run.waitForLines(1)
        #expect(run.stop(signal) == status)
        #expect(try run.output.text() == "begun\nended\n")
    }

    @Test func aCommandThatDoesNotReadItsInputIsNoProblem() throws {
        let double = try SocketDouble()
        let run = try on(double, "any", "--once", "--", "true")
        try double.waitForSubscriber()
        double.publish()
        #expect(run.wait() == 0)
    }

    @Test func wrongUseIsExplained() throws {
        for (arguments, status, message) in [
            ([], 64, "needs a kind of event"), (["--", "true"], 64, "needs a kind of event"),
            (["motion.begun"], 64, "did you mean `motion.began`?"), (["any", "--"], 64, "no command behind --"),
            (["any", "--after", "x", "--", "true"], 64, "number of an event"),
            (["any", "--", "true", "{peek_g}"], 64, "did you mean `peak_g`?"),
            (["any", "--json", "--", "true"], 64, "does not go with a command"),
            (["any", "--", "no-such-program"], 66, "no such program"), (["any", "--", "/tmp"], 66, "no such program"),
            (["any", "--once", "--socket", "/nonexistent/s"], 69, "no daemon answers"),
        ] as [([String], Int32, String)] {
            let result = try Binary.run(["on"] + arguments)
            #expect(result.status == status, "\(arguments)")
            #expect(result.errors.contains(message), "\(result.errors)")
        }
    }

    @Test(.enabled(if: geteuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0, "needs root and setpriv"))
    func withoutTheRightItSaysSo() throws {
        let double = try SocketDouble()
        double.stop()
        chmod(double.folder.path, 0o755)
        for (mode, users) in [(UInt32(0o600), nil), (0o666, ["daemon"])] as [(UInt32, [String]?)] {
            try double.start {
                $0.mode = mode
                $0.users = users
            }
            let (status, said) = try runAsStranger(["on", "any", "--socket", double.path])
            #expect(status == 77, "\(said)")
            #expect(said.contains(mode == 0o600 ? "you may not connect" : "no permission"), "\(said)")
            double.stop()
        }
    }
}

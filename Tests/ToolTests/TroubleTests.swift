import Foundation
import TestSupport
import Testing

/// What fails is in the daemon's own log, on standard error, without a handler that was asked for it.
@Suite struct TroubleTests {
    private static let shaken = """
        [sensor.box]
        source = "simulated"
        model = "shake"
        rate_hz = 200
        [motion.moved]
        accelerometer = "box"

        """

    @Test func aBrokerThatIsAwayIsLogged() throws {
        let run = try DaemonRun(
            Self.shaken + "[handler.fleet]\non = [\"shake\"]\nmqtt = \"mqtt://127.0.0.1:1\"\n"
        ).start()
        try run.waitForMessage("binnacle: handler.failed  handler fleet  reason 127.0.0.1:1: Connection refused")
        #expect(run.stop() == 0)
    }

    /// A decorator may drop the failure.
    @Test func aLogHandlerWithDecoratorsHidesNoFailure() throws {
        let run = try DaemonRun(
            Self.shaken + """
                [handler.fleet]
                on = ["shake"]
                mqtt = "mqtt://127.0.0.1:1"
                [handler.l]
                on = ["shake", "handler.failed"]
                log = true
                decorate = [{ rate_limit = { per_minute = 1 } }]
                """
        ).start()
        try run.waitForMessage("binnacle: handler.failed  handler fleet  reason 127.0.0.1:1: Connection refused")
        #expect(run.stop() == 0)
    }

    @Test func aStoreThatCannotBeMadeIsLogged() throws {
        let run = try DaemonRun(Self.shaken + "[store]\npath = \"/proc/none/events.db\"\n").start()
        try run.waitForMessage("binnacle: store.failed  reason /proc/none/events.db: ")
        #expect(run.stop() == 0)
    }

    /// Two sensors are configured, and there is none: nothing is left, and at no time was one.
    @Test func sensorsThatAreNotThereAreLogged() throws {
        let tree = try FifoTree()
        let run = try DaemonRun(
            """
            [sensor.chassis]
            source = "iio"
            match = { name = "accel_3d" }
            [sensor.compass]
            source = "iio"
            match = { name = "magn_3d" }
            [north.bow]
            accelerometer = "chassis"
            magnetometer = "compass"
            [handler.lines]
            on = ["sensors.one_left", "sensors.none_left"]
            stdout = true
            """, ["--root", tree.root]
        ).start()
        for text in [
            "binnacle: sensor.inactive  chassis  reason ", "binnacle: sensor.inactive  compass  reason ",
            "binnacle: sensors.none_left\n", "binnacle: detector.failed  bow  reason ",
        ] {
            try run.waitForMessage(text)
        }
        try run.waitForEvent("sensors.none_left")
        #expect(run.stop() == 0)
        #expect(try !run.output.text().contains("sensors.one_left"))
    }

    @Test func whatALogHandlerTakesIsLoggedOnceAlsoAfterAReload() throws {
        func configuration(_ kinds: String, _ program: String) -> String {
            Self.shaken + """
                [handler.alarm]
                on = ["shake"]
                command = ["/nonexistent/\(program)"]
                [handler.l]
                on = [\(kinds)]
                log = true
                [handler.lines]
                on = ["command.failed"]
                stdout = true
                """
        }
        let run = try DaemonRun(configuration("\"command.failed\"", "alarm")).start()
        try run.waitForMessage("l: ", count: 2)
        try run.waitForEvent("command.failed", count: 2)
        #expect(try !run.errors.text().contains("binnacle: command.failed"))
        // Now the log handler takes something else, and the handler is another.
        try run.configure(configuration("\"free_fall\"", "siren"))
        run.reload()
        try run.waitForMessage("binnacle: command.failed  handler alarm  program /nonexistent/siren")
        // The same failure for each event is one message.
        try run.waitForEvent("command.failed", count: try run.output.text().split(separator: "\n").count + 3)
        #expect(run.stop() == 0)
        #expect(try run.errors.text().components(separatedBy: "binnacle: command.failed").count == 2)
    }

    @Test func aProgramThatWorksAgainIsLogged() throws {
        let folder = try TemporaryFolder()
        let program = folder.path + "/alarm"
        let run = try DaemonRun(Self.shaken + "[handler.alarm]\non = [\"shake\"]\ncommand = [\"\(program)\"]\n").start()
        try run.waitForMessage("binnacle: command.failed  handler alarm")
        try folder.write("new", "#!/bin/sh\n")
        chmod(folder.path + "/new", 0o755)
        rename(folder.path + "/new", program)
        try run.waitForMessage("binnacle: command.finished  handler alarm")
        #expect(run.stop() == 0)
    }

    // MARK: - The start

    @Test func aRunSaysWhatItRuns() throws {
        let run = try DaemonRun(
            Self.shaken + """
                [handler.log]
                on = ["shake"]
                log = true
                [handler.alarm]
                on = ["shake"]
                command = ["/bin/true"]
                """
        ).start()
        try run.waitForMessage("runs with")
        let line = try #require(try run.errors.text().split(separator: "\n").first)
        #expect(line.hasPrefix("binnacle: version "))
        #expect(
            line.hasSuffix(
                " runs with sensor: box; detector: moved; handlers: log, alarm (command); socket: none; "
                    + "configuration: \(run.folder)/binnacle.toml"))
        #expect(run.stop() == 0)
        #expect(try !run.errors.text().contains("Ctrl-C"))
    }

    @Test func aSocketThatCannotBeOpenedIsNotSaidToBeThere() throws {
        for store in ["", "[store]\npath = \"b.db\"\n"] {
            let run = try DaemonRun(Self.shaken + store + "[socket]\npath = \"/nonexistent/folder/b.sock\"\n").start()
            try run.waitForMessage("runs with")
            let text = try run.errors.text()
            #expect(text.contains("the socket: ") && text.contains("; socket: none; "), "\(text)")
            #expect(run.stop() == 0)
        }
    }

    @Test func onATerminalItSaysHowToEndIt() throws {
        let folder = try TemporaryFolder([
            "b.toml": Self.shaken + "[socket]\npath = \"b.sock\"\n[handler.alarm]\non = [\"shock\"]\nlog = true\n"
        ])
        let screen = try TemporaryFile()
        let child = Child([
            "/usr/bin/script", "-qec", "exec '\(Binary.path)' run --config '\(folder.path)/b.toml'", "/dev/null",
        ])
        child.standardOutput = try screen.writer()
        try child.run()
        defer { child.end() }
        try screen.wait {
            $0.contains("Ctrl-C ends it; 'binnacle status --socket \(folder.path)/b.sock' shows its state")
        }
    }

    // MARK: - Where the output goes

    @Test(arguments: ["--json", ""])
    func aRunEndsWhenItsReaderIsGone(option: String) throws {
        let folder = try TemporaryFolder([
            "b.toml": Self.shaken + "[handler.lines]\non = [\"shake\"]\nstdout = true\n"
        ])
        let arguments = option.isEmpty ? "--config '\(folder.path)/b.toml'" : "--simulate shake --json"
        let output = try TemporaryFile()
        let errors = try TemporaryFile()
        let child = Child([
            "/bin/bash", "-c", "set -o pipefail; '\(Binary.path)' run \(arguments) | head -n 2",
        ])
        child.standardOutput = try output.writer()
        child.standardError = try errors.writer()
        try child.run()
        child.waitUntilExit()
        #expect(child.terminationStatus == 0)
        #expect(try output.text().split(separator: "\n").count == 2)
        #expect(try !errors.text().contains("failed"))
    }

    /// One event, then ten minutes of rest: the end of the reader is noticed without another event.
    @Test func aRunEndsWhenItsReaderIsGoneAndNothingHappens() throws {
        let rows = (0..<12_000).map { index -> String in
            let z = (20..<60).contains(index) ? 9.81 + 5 * sin(Double(index)) : 9.81
            return "\(Double(index) / 20),0,0,\(z)\n"
        }
        let folder = try TemporaryFolder([
            "trace.csv": "t_s,ax_m_s2,ay_m_s2,az_m_s2\n" + rows.joined(),
            "b.toml": """
            [sensor.box]
            source = "trace"
            file = "trace.csv"
            [motion.moved]
            accelerometer = "box"
            detect = ["motion"]
            [handler.lines]
            on = ["motion.ended"]
            stdout = true
            """,
        ])
        let output = try TemporaryFile()
        let child = Child([
            "/bin/bash", "-c", "set -o pipefail; '\(Binary.path)' run '\(folder.path)/b.toml' | head -n 1",
        ])
        child.standardOutput = try output.writer()
        child.standardError = try TemporaryFile().writer()
        try child.run()
        child.waitUntilExit()
        #expect(child.terminationStatus == 0)
        #expect(try output.text().split(separator: "\n").count == 1)
    }

    @Test func aReaderThatIsGoneIsAFailureWhereOtherHandlersGoOn() throws {
        let folder = try TemporaryFolder([
            "b.toml": Self.shaken + """
                [handler.lines]
                on = ["shake"]
                stdout = true
                [handler.history]
                on = ["shake"]
                file = "events.jsonl"
                """
        ])
        let errors = try TemporaryFile()
        let child = Child([
            "/bin/bash", "-c", "exec '\(Binary.path)' run --config '\(folder.path)/b.toml' > >(head -n 1 >/dev/null)",
        ])
        child.standardError = try errors.writer()
        try child.run()
        defer { child.end() }
        try errors.wait { $0.contains("binnacle: handler.failed  handler lines  reason standard output: Broken pipe") }
        // Another thread writes it.
        func history() -> Int {
            (try? String(contentsOfFile: folder.path + "/events.jsonl", encoding: .utf8))?.count ?? 0
        }
        let count = history()
        try waitUntil("further events") { history() > count }
        kill(child.processIdentifier, SIGTERM)
        child.waitUntilExit()
        #expect(child.terminationStatus == 0)
    }

    @Test func outputToAFullDeviceIsTold() throws {
        let run = try DaemonRun(nil, ["--simulate", "shake", "--json"])
        run.process.standardOutput = FileHandle(forWritingAtPath: "/dev/full")
        try run.start()
        try run.waitForMessage("handler --json  reason standard output: No space left on device")
        #expect(run.stop() == 74)
        #expect(try run.errors.text().contains("binnacle: standard output: No space left on device"))
    }

    /// The largest size of a file stands for a disk that is full, and then has room.
    @Test func outputGoesOnWhenThereIsRoomAgain() throws {
        let output = try TemporaryFile()
        let errors = try TemporaryFile()
        let child = Child([
            "/bin/bash", "-c",
            "ulimit -S -f 8; exec '\(Binary.path)' run --simulate shake --json >>'\(output.path)'",
        ])
        child.standardError = try errors.writer()
        try child.run()
        defer { child.end() }
        try errors.wait { $0.contains("handler --json  reason standard output: File too large") }
        let room = Child(["/usr/bin/prlimit", "--pid", "\(child.processIdentifier)", "--fsize=unlimited"])
        try room.run()
        room.waitUntilExit()
        #expect(room.terminationStatus == 0)
        try errors.wait { $0.contains("binnacle: handler.recovered  handler --json") }
        kill(child.processIdentifier, SIGTERM)
        child.waitUntilExit()
        #expect(child.terminationStatus == 0)
        let said = try errors.text()
        #expect(said.contains("binnacle: events.dropped  handler --json  count "))
        #expect(said.components(separatedBy: "binnacle: handler.failed").count == 2)
        // The line that was cut is ended, and all others are whole.
        let lines = try output.text().split(separator: "\n")
        #expect(lines.allSatisfy { $0.hasPrefix("{\"seq\":") })
        #expect(lines.count { !$0.hasSuffix("}") } <= 1)
    }

    @Test func aLogOnAFullDeviceIsInTheStatus() throws {
        let run = try DaemonRun(
            Self.shaken + "[socket]\npath = \"b.sock\"\n[handler.l]\non = [\"shake\"]\nlog = true\n")
        run.process.standardError = FileHandle(forWritingAtPath: "/dev/full")
        try run.start()
        try waitForStatus(run) {
            $0.contains("wrong: the log: standard error: No space left on device")
                && $0.contains("wrong: handler 'l': standard error: No space left on device")
        }
        #expect(run.stop() == 0)
    }

    // MARK: - Status

    /// Waits for a text in the output of `binnacle status`.
    private func waitForStatus(_ run: DaemonRun, until isEnough: (String) -> Bool) throws {
        var said = ""
        try waitUntil("a status; it is: \(said)") {
            let result = try Binary.run("status", "--socket", run.folder + "/b.sock")
            said = result.output + result.errors
            return isEnough(said)
        }
    }

    @Test func aDetectorWithoutItsSensorDoesNotRun() throws {
        let trace = try TemporaryFile("time_s,ax,ay,az\n0,0,0,9.8\n0.01,0,0,9.8\n", suffix: ".csv")
        let run = try DaemonRun(
            Self.shaken + """
                [sensor.lid]
                source = "trace"
                file = "\(trace.path)"
                [motion.opened]
                accelerometer = "lid"
                [socket]
                path = "b.sock"
                """
        ).start()
        try waitForStatus(run) {
            $0.contains("wrong: sensor 'lid' is inactive: the recording has ended")
                && $0.contains("wrong: detector 'opened' does not run")
                && $0.contains("detector opened: not running") && $0.contains("detector moved: running")
        }
        try run.waitForMessage("binnacle: detector.failed  opened  reason the recording has ended")
        #expect(run.stop() == 0)
    }

    @Test func aProgramThatCannotBeRunIsNamed() throws {
        let run = try DaemonRun(
            Self.shaken + """
                [socket]
                path = "b.sock"
                [handler.finished]
                on = ["shake"]
                command = ["/nonexistent/done"]
                """
        ).start()
        try waitForStatus(run) {
            $0.contains("wrong: handler 'finished': /nonexistent/done: cannot be run: No such file or directory")
        }
        #expect(run.stop() == 0)
    }

    /// 63 s with the retries of this handler, for each event.
    @Test func aMissingProgramIsFinalInAReplay() throws {
        let folder = try TemporaryFolder([
            "b.toml": Self.shaken + """
                [handler.finished]
                on = ["motion.began", "shake", "free_fall", "shock"]
                command = ["/nonexistent/done"]
                retries = 6
                """
        ])
        let result = try Binary.run(
            "replay", "--handlers", "--config", folder.path + "/b.toml", Binary.golden + "/simulated-drop.csv")
        #expect(result.status == 0)
        let said = result.errors.split(separator: "\n").filter { $0.hasPrefix("finished: ") }
        #expect(said.first == "finished: /nonexistent/done: cannot be run: No such file or directory")
        #expect(said.count == 2 && said[1].hasPrefix("finished: /nonexistent/done: the same for "), "\(said)")
    }

    // MARK: - A network that is closed

    /// Makes socket(2) fail for IPv4 and IPv6 as RestrictAddressFamilies= does, and becomes a program.
    private static let withoutNetwork = """
        import ctypes, os, platform, struct, sys
        number = 41 if platform.machine() == "x86_64" else 198
        rules = [(0x20, 0, 0, 0), (0x15, 0, 4, number), (0x20, 0, 0, 16), (0x15, 1, 0, 2), (0x15, 0, 1, 10),
                 (0x06, 0, 0, 0x50000 | 97), (0x06, 0, 0, 0x7FFF0000)]
        code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *rule) for rule in rules))
        program = struct.pack("@HP", len(rules), ctypes.addressof(code))
        call = ctypes.CDLL(None, use_errno=True).prctl
        if call(38, 1, 0, 0, 0) or call(22, 2, ctypes.create_string_buffer(program), 0, 0):
            sys.exit(99)
        os.execv(sys.argv[1], sys.argv[1:])
        """

    @Test(arguments: [
        "mqtt = \"mqtt://127.0.0.1:1883\"\non = [\"motion.began\"]", "nmea = \"udp://127.0.0.1:10110\"",
        "mqtt = \"mqtt://broker.example\"\non = [\"motion.began\"]", "nmea = \"tcp://0.0.0.0:10110\"",
    ])
    func aClosedNetworkHasARemedy(action: String) throws {
        let folder = try TemporaryFolder([
            "b.toml": """
            [sensor.box]
            source = "simulated"
            model = "turn"
            [motion.moved]
            accelerometer = "box"
            [north.bow]
            accelerometer = "box"
            magnetometer = "box"
            [handler.sender]
            \(action)
            """
        ])
        let errors = try TemporaryFile()
        let child = Child([
            "/usr/bin/python3", "-c", Self.withoutNetwork, Binary.path, "run", "--config", folder.path + "/b.toml",
        ])
        child.standardError = try errors.writer()
        try child.run()
        defer { child.end() }
        try errors.wait { $0.contains("the drop-in binnacle-network.conf opens it") }
    }
}

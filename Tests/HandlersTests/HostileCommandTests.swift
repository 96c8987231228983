import Binnacle
import Foundation
import Handlers
import TestSupport
import Testing

extension CommandTests {
    /// Programs that do what no program should.
    struct HostileCommandTests {
        private let reports = Reports()

        /// Runs a few lines of sh that hang, until their timeout, which begins with the program.
        ///
        /// Lines that were killed before they were ready, on a busy machine, are run again with twice the time.
        ///
        /// - Parameters:
        ///   - lines: They write the numbers of processes into the file `$1`.
        ///   - processCount: How many numbers there are when they are ready.
        ///   - killDelay: The time between the two signals.
        /// - Returns: What was reported of the end, the timeout in seconds, and the processes.
        /// - Throws: When they are not ready within a minute.
        private func timedOut(
            _ lines: String, processCount: Int = 1, killDelay: Duration = .seconds(5)
        ) throws -> (report: Event, seconds: Double, processes: [pid_t]) {
            var seconds = 0.5
            while true {
                let (reports, file) = (Reports(), try TemporaryFile())
                let handler = reports.shell(
                    lines, [file.path],
                    settings {
                        $0.timeout = .seconds(seconds)
                        $0.killDelay = killDelay
                    })
                handler.handle(event())
                let report = try #require(try reports.waitForEnds(1).first)
                let processes = processes(in: file.path)
                if processes.count == processCount { return (report, seconds, processes) }
                seconds *= 2
                try #require(seconds < 120, "\(lines) is never ready")
            }
        }

        @Test func whatHangsIsAskedToEnd() throws {
            let handler = reports.handler("/bin/sleep", ["1000"], settings { $0.timeout = .milliseconds(200) })
            handler.handle(event(7))
            let report = try #require(try reports.waitForEnds(1).first)
            #expect(report.kind == .commandFailed)
            #expect(report.text(.reason) == "killed after 0.2 seconds")
            #expect(report.integer(.signal) == Int(SIGTERM))
            #expect(report.integer(.trigger) == 7)
            #expect(report.text(.program) == "/bin/sleep")
            #expect(report.figure(.retry) == nil)
        }

        @Test func whatIgnoresTheRequestIsKilled() throws {
            let (report, time, _) = try timedOut(
                "trap '' TERM; echo $$ >> \"$1\"; while :; do sleep 1000; done", killDelay: .milliseconds(100))
            #expect(report.text(.reason) == "killed after \(time) seconds")
            #expect(report.integer(.signal) == Int(SIGKILL))
        }

        @Test func whatObeysAndSaysThatAllIsWellHasFailed() throws {
            let (report, _, _) = try timedOut("trap 'exit 0' TERM; echo $$ >> \"$1\"; while :; do sleep 0.01; done")
            #expect(report.kind == .commandFailed)
            #expect(report.integer(.status) == 0)
        }

        @Test func whatStoppedItselfEndsAllTheSame() throws {
            let handler = reports.shell("kill -STOP $$", [], settings { $0.timeout = .milliseconds(500) })
            handler.handle(event())
            #expect(try reports.waitForEnds(1).first?.integer(.signal) == Int(SIGTERM))
        }

        /// The leader obeys, its children do not, and they hold its output, or they do not.
        @Test(arguments: ["", ">/dev/null 2>&1"])
        func grandchildrenThatIgnoreTheRequestAreKilled(redirection: String) throws {
            let (report, _, family) = try timedOut(
                """
                trap '' TERM
                for i in 1 2 3; do (while :; do sleep 1000; done) \(redirection) & echo $! >> "$1"; done
                trap - TERM
                echo $$ >> "$1"
                wait
                """, processCount: 4, killDelay: .milliseconds(300))
            #expect(report.integer(.signal) == Int(SIGTERM))
            try waitUntil("the end of all of \(family)") { !family.contains(where: isAlive) }
        }

        /// A child that was asked to end as well may do so while it holds the output.
        @Test func theFamilyMayTidyUp() throws {
            let (report, time, _) = try timedOut(
                """
                (trap 'sleep 0.3; echo tidied up; exit' TERM; echo $$ >> "$1"; while :; do sleep 0.01; done) &
                wait
                """, killDelay: .seconds(60))
            #expect(report.text(.reason) == "killed after \(time) seconds")
            #expect(report.text(.output)?.hasSuffix("tidied up") == true)
        }

        @Test func whatIsLeftBehindIsKilled() throws {
            let file = try TemporaryFile()
            let handler = reports.shell(
                """
                trap '' HUP TERM INT
                for i in 1 2 3; do (while :; do sleep 1000; done) & echo $! >> "$1"; done
                echo done
                """, [file.path])
            handler.handle(event())
            let report = try #require(try reports.waitForEnds(1).first)
            #expect(report.kind == .commandFinished)
            #expect(report.text(.output) == "done")
            let family = processes(in: file.path)
            #expect(family.count == 3)
            try waitUntil("the end of all of \(family)") { !family.contains(where: isAlive) }
        }

        /// It holds the output open, and the handler does not wait for it.
        @Test func whatLeavesTheGroupIsNotWaitedFor() throws {
            let file = try TemporaryFile()
            let handler = reports.shell(
                """
                setsid sh -c 'echo $$ >> "$1"; exec sleep 1000' sh "$1" &
                until [ -s "$1" ]; do sleep 0.01; done
                """, [file.path])
            handler.handle(event())
            #expect(try reports.waitForEnds(1).first?.kind == .commandFinished)
            for process in processes(in: file.path) { kill(process, SIGKILL) }
        }

        @Test(
            arguments: [
                (SIGSEGV, "SEGV"), (SIGKILL, "KILL"), (SIGPIPE, "PIPE"),
            ] as [(Int32, String)])
        func aSignalIsToldOf(number: Int32, name: String) throws {
            let handler = reports.shell("kill -\(name) $$")
            handler.handle(event())
            let report = try #require(try reports.waitForEnds(1).first)
            #expect(report.text(.reason) == "ended by signal \(number)")
            #expect(report.integer(.signal) == Int(number))
            #expect(report.integer(.status) == nil)
        }

        @Test func anExitStatusIsToldOf() throws {
            let handler = reports.shell("echo out; echo error >&2; exit 3")
            handler.handle(event())
            let report = try #require(try reports.waitForEnds(1).first)
            #expect(report.text(.reason) == "exit status 3")
            #expect(report.integer(.status) == 3)
            #expect(report.text(.output) == "out\\u{a}error")
        }

        @Test func whatCannotBeRunIsNamedWithItsReason() throws {
            let folder = NSTemporaryDirectory() + "binnacle-test-" + UUID().uuidString
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            func file(_ name: String, _ text: String, mode: Int) throws -> String {
                let path = folder + "/" + name
                try text.write(toFile: path, atomically: false, encoding: .utf8)
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
                return path
            }
            let cases = [
                (folder + "/nobody", "No such file or directory"),
                (try file("plain", "#!/bin/sh\n", mode: 0o644), "Permission denied"),
                (folder, "Permission denied: it is a directory"),
                (
                    try file("bare", "echo hello\n", mode: 0o755),
                    "Exec format error: neither a program nor a script that begins with #!"
                ),
                (
                    try file("orphan", "#!/nonexistent/interpreter\n", mode: 0o755),
                    "No such file or directory: the interpreter that it names is missing"
                ),
            ]
            for (program, reason) in cases {
                let reports = Reports()
                let handler = reports.handler(program)
                handler.handle(event())
                let report = try #require(try reports.waitForEnds(1).first)
                #expect(report.kind == .commandFailed)
                #expect(report.text(.reason) == "cannot be run: " + reason)
                #expect(report.text(.program) == program)
                #expect(report.integer(.status) == nil)
            }
        }

        @Test func argumentsThatAreTooLongAreNamed() throws {
            let handler = reports.handler("/bin/true", [String(repeating: "x", count: 1_000_000)])
            handler.handle(event())
            #expect(
                try reports.waitForEnds(1).first?.text(.reason)
                    == "cannot be run: Argument list too long: an argument is longer than the system allows")
        }

        /// It would block a writer that writes in one piece, and end a writer that does not expect a broken pipe.
        @Test(arguments: ["exec <&-; sleep 0.1", "exit 0", "sleep 0.1", "head -c 70000 >/dev/null"])
        func whoeverDoesNotReadTheEventIsLeftInPeace(program: String) throws {
            let handler = reports.shell(program)
            handler.handle(largeEvent)
            #expect(try reports.waitForEnds(1).first?.kind == .commandFinished)
        }

        @Test func whoeverNeverReadsTheEventDoesNotStopTheClock() throws {
            let handler = reports.handler("/bin/sleep", ["1000"], settings { $0.timeout = .milliseconds(300) })
            handler.handle(largeEvent)
            #expect(try reports.waitForEnds(1).first?.text(.reason) == "killed after 0.3 seconds")
        }

        @Test func aLargeEventArrivesAsAWhole() throws {
            let file = try TemporaryFile()
            let handler = reports.shell("cat > \"$1\"", [file.path])
            handler.handle(largeEvent)
            #expect(try reports.waitForEnds(1).first?.kind == .commandFinished)
            #expect(try file.text() == largeEvent.json + "\n")
        }

        /// That it ends at all says that everything was read.
        @Test func aFloodNeitherBlocksNorGrows() async {
            await #expect(processExitsWith: .success) {
                let reports = Reports()
                let handler = reports.shell(
                    "head -c 600000000 /dev/zero | tr '\\0' x; echo; echo the end", [],
                    settings {
                        $0.outputLimit = 65_536
                        $0.timeout = .seconds(1000)  // A machine with other work may need long for 600 MB.
                    })
                handler.handle(event())
                let report = try #require(try reports.waitForEnds(1).first)
                #expect(report.kind == .commandFinished)
                let output = try #require(report.text(.output))
                #expect(output.hasPrefix("…xxx") && output.hasSuffix("xxx\\u{a}the end"))
                #expect(output.utf8.count < 66_000)
                let status = try #require(contents(of: "/proc/self/status"))
                let peak = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
                let kilobytes = try #require(Int(peak.split(whereSeparator: { !$0.isNumber }).first ?? ""))
                // Most of it is what the address sanitizer keeps of freed memory.
                #expect(kilobytes < 450_000)
            }
        }

        @Test func aFloodKeepsNobodyWaiting() throws {
            let limits = settings {
                $0.concurrentLimit = 2
                $0.timeout = .seconds(1000)
            }
            let handler = reports.command("/bin/sh", limits) { ["-c", $0.sequence == 1 ? "exec yes" : "exit 0"] }
            for sequence in 1...20 { handler.handle(event(UInt64(sequence))) }
            #expect(try reports.waitForEnds(19).allSatisfy { $0.kind == .commandFinished })
            handler.stop(within: .zero)
            let end = try #require(try reports.waitForEnds(20).last)
            #expect(end.integer(.trigger) == 1)
            #expect(end.text(.reason) == "killed, because Binnacle stops")
        }

        @Test func aFloodIsKilledAfterItsTime() throws {
            let handler = reports.shell("exec yes", [], settings { $0.timeout = .milliseconds(300) })
            handler.handle(event())
            #expect(try reports.waitForEnds(1).first?.text(.reason) == "killed after 0.3 seconds")
        }
    }
}

import Binnacle
import Foundation
import Handlers
import LinuxSystem
import Synchronization
import TestSupport
import Testing

extension CommandTests {
    /// How it ends.
    struct CommandStopTests {
        private let reports = Reports()
        private static let stubborn = """
            trap '' TERM HUP
            for i in 1 2; do (while :; do sleep 1000; done) & echo $! >> "$1"; done
            echo $$ >> "$1"
            while :; do sleep 1000; done
            """

        @Test func whatHangsIsKilledAndWhatWaitsIsCounted() throws {
            let file = try TemporaryFile()
            let handler = reports.shell(Self.stubborn, [file.path], settings { $0.concurrentLimit = 2 })
            for sequence in 1...7 { handler.handle(event(UInt64(sequence))) }
            try waitUntil("the numbers of six processes") { processes(in: file.path).count == 6 }
            #expect(handler.stop(within: .seconds(1)) == 5)
            // Everything was told by now.
            let failed = reports.of(.commandFailed)
            #expect(failed.count == 2)
            #expect(failed.allSatisfy { $0.text(.reason) == "killed, because Binnacle stops" })
            #expect(failed.allSatisfy { $0.integer(.signal) == Int(SIGKILL) })
            #expect(reports.of(.eventsDropped).map { $0.integer(.count) } == [5])
            #expect(reports.of(.eventsDropped).first?.text(.reason) == "Binnacle stops")
            let family = processes(in: file.path)
            try waitUntil("the end of all of \(family)") { !family.contains(where: isAlive) }
            // What comes now comes too late, and starts nothing.
            handler.handle(event(8))
            #expect(handler.waitUntilIdle())
            #expect(processes(in: file.path).count == 6)
        }

        /// The thread that supervises it may be too late on a busy machine: nothing outlives the end of the program.
        @Test func aWaitThatGivesUpKillsWhatRuns() throws {
            let file = try TemporaryFile()
            let handler = reports.shell(Self.stubborn, [file.path])
            handler.handle(event())
            try waitUntil("its start") { processes(in: file.path).count == 3 }
            handler.end(within: .seconds(1000))
            // Its thread may have seen the end of what was killed by now, and told of it: 0 then, 1 before.
            #expect(handler.waitForEnd(until: 0) <= 1)
            let family = processes(in: file.path)
            try waitUntil("the end of all of \(family)") { !family.contains(where: isAlive) }
            #expect(handler.stop(within: .zero) == 0)
        }

        /// An end that is late, as on a busy machine, leaves no zombie and knows how the program ended.
        @Test func anEndThatIsOverReapsWhatItKills() throws {
            let file = try TemporaryFile()
            let handler = reports.shell("echo $$ >> \"$1\"; exec sleep 1000", [file.path])
            handler.handle(event())
            try waitUntil("its start") { processes(in: file.path).count == 1 }
            handler.end(within: .nanoseconds(1))
            #expect(handler.waitForEnd(until: .max) == 0)
            #expect(reports.of(.commandFailed).first?.integer(.signal) != nil, "\(reports.all)")
            #expect(processes(in: file.path).allSatisfy { kill($0, 0) != 0 })
        }

        @Test func whatObeysIsAskedFirst() throws {
            let file = try TemporaryFile()
            let handler = reports.shell(
                "trap 'echo bye; exit 0' TERM; echo $$ >> \"$1\"; while :; do sleep 0.01; done", [file.path])
            handler.handle(event())
            try waitUntil("its start") { !processes(in: file.path).isEmpty }
            #expect(handler.stop(within: .seconds(10)) == 0)
            #expect(reports.all.map { $0.integer(.status) } == [0])
            // A shell may have something to say about its own children first.
            #expect(reports.all.first?.text(.output)?.hasSuffix("bye") == true)
        }

        @Test func thereIsTimeForWhatIsShort() throws {
            let handler = reports.handler("/bin/true")
            for sequence in 1...20 { handler.handle(event(UInt64(sequence))) }
            #expect(handler.stop(within: .seconds(100)) == 0)
            #expect(reports.of(.commandFinished).count == 20)
        }

        @Test func nothingIsTriedAgain() throws {
            let handler = reports.handler(
                "/bin/false", [],
                retrying(100, after: .seconds(60)))
            handler.handle(event())
            try reports.waitForEnds(1)
            #expect(handler.stop(within: .seconds(100)) == 1)
            #expect(reports.all.map(\.kind) == [.commandFailed, .eventsDropped])
        }

        @Test func severalShareOneTime() throws {
            let files = try (0..<3).map { _ in try TemporaryFile() }
            let handlers = files.map { reports.shell(Self.stubborn, [$0.path]) }
            for handler in handlers { handler.handle(event()) }
            for file in files { try waitUntil("its start") { processes(in: file.path).count == 3 } }
            for handler in handlers { handler.end(within: .seconds(1)) }
            #expect(handlers.map { $0.waitForEnd(until: .max) } == [0, 0, 0])
            #expect(reports.of(.commandFailed).count == 3)
        }

        @Test func aHandlerThatNeverRanStopsAtOnce() {
            #expect(reports.handler("/bin/true").stop(within: .seconds(100)) == 0)
            #expect(reports.all.isEmpty)
        }

        @Test func aHandlerThatIsGoneLeavesNothing() throws {
            let file = try TemporaryFile()
            do {
                let handler = reports.shell(Self.stubborn, [file.path])
                handler.handle(event())
                try waitUntil("its start") { processes(in: file.path).count == 3 }
            }
            let family = processes(in: file.path)
            try waitUntil("the end of all of \(family)") { !family.contains(where: isAlive) }
            try reports.waitForEnds(1)
        }

        @Test func aCancelledWaitKillsAtOnce() throws {
            let file = try TemporaryFile()
            let handler = reports.shell(Self.stubborn, [file.path])
            for sequence in 1...3 { handler.handle(event(UInt64(sequence))) }
            #expect(!handler.waitUntilIdle(because: "of a test") { processes(in: file.path).count == 3 })
            #expect(reports.all.map { $0.text(.reason) } == ["killed, because of a test", "of a test"])
            #expect(reports.of(.eventsDropped).map { $0.integer(.count) } == [2])
        }

        @Test func aReplayRunsOneAfterTheOtherAndSaysWhatFailed() throws {
            let log = try TemporaryFile()
            let file = try log.writer()
            let writer = LineWriter(descriptor: file.fileDescriptor)
            var willRunCount = 0
            let plan = CommandSupervisor.plan(
                program: "/bin/sh", arguments: { ["-c", $0.sequence == 2 ? "echo oops; exit 4" : "exit 0"] },
                settings: settings {
                    $0.concurrentLimit = 8
                    $0.retryLimit = 1
                    $0.retryDelay = .milliseconds(1)
                })
            let handler = try AwaitedHandler(
                plan, HandlerContext(name: "alarm", log: writer, willRun: { willRunCount += 1 }))
            for sequence in 1...3 {
                handler.handle(event(UInt64(sequence)))
                #expect(willRunCount == sequence)
            }
            handler.finish()
            writer.flush()
            #expect(
                try log.text() == """
                    alarm: /bin/sh: exit status 4; tried again in 0.001 s; output: oops
                    alarm: /bin/sh: exit status 4; output: oops

                    """)
        }

        /// In a process of its own, because the limit is the process's; of another account, because root has none.
        @Test(.timeLimit(.minutes(5))) func aReplayWithoutAThreadSaysSoAndEnds() async {
            await #expect(processExitsWith: .success) {
                let log = try TemporaryFile()
                let file = try log.writer()
                let writer = LineWriter(descriptor: file.fileDescriptor)
                let plan = CommandSupervisor.plan(
                    program: "/bin/true", arguments: { _ in [] }, settings: CommandSettings())
                let handler = try AwaitedHandler(plan, HandlerContext(name: "alarm", log: writer))
                let isRoot = geteuid() == 0
                if isRoot { try #require(CommandStopTests.becomeOther()) }
                // RLIMIT_NPROC, which is not visible here.
                let resource = __rlimit_resource_t(6)
                var limit = rlimit()
                try #require(getrlimit(resource, &limit) == 0)
                let before = limit.rlim_cur
                limit.rlim_cur = 0
                try #require(setrlimit(resource, &limit) == 0)
                for sequence in 1...3 { handler.handle(event(UInt64(sequence))) }
                handler.finish()
                limit.rlim_cur = before
                try #require(setrlimit(resource, &limit) == 0)
                if isRoot { try #require(CommandStopTests.becomeRoot()) }
                writer.flush()
                #expect(
                    try log.text() == """
                        alarm: /bin/true: pthread_create: Resource temporarily unavailable
                        alarm: 3 events were not handled

                        """)
            }
        }

        // The real account has to be another one, too; the saved one stays root.
        private static func becomeOther() -> Bool { setreuid(65_534, 0) == 0 && seteuid(65_534) == 0 }
        private static func becomeRoot() -> Bool { seteuid(0) == 0 && setreuid(0, 0) == 0 }

        /// Like a program of sudo; in a process of its own, which becomes another account while root's program runs.
        @Test(.enabled(if: geteuid() == 0, "needs root")) func whatCannotBeEndedIsNamedAndKeepsItsPlace() async {
            await #expect(processExitsWith: .success) {
                let (reports, folder) = (Reports(), try TemporaryFolder())
                let file = folder.path + "/started"
                let handler = reports.shell(
                    "echo $$ >> \"$1/started\"; while [ ! -e \"$1/end\" ]; do sleep 0.01; done", [folder.path],
                    settings {
                        $0.timeout = .seconds(3)
                        $0.killDelay = .milliseconds(10)
                        $0.retryLimit = 1
                        $0.retryDelay = .milliseconds(1)
                    })
                for sequence in 1...2 { handler.handle(event(UInt64(sequence))) }
                try await waitUntil("its start") { processes(in: file).count == 1 }
                try #require(CommandStopTests.becomeOther())
                try reports.wait("the report") { !$0.isEmpty }
                try #require(CommandStopTests.becomeRoot())
                let first = try #require(processes(in: file).first)
                #expect(
                    reports.all.map { $0.text(.reason) } == [
                        "process \(first) could not be ended: Operation not permitted"
                    ])
                // No second one runs meanwhile.
                #expect(processes(in: file).count == 1)
                try folder.write("end", "")
                try reports.wait("the retry and the other") { $0.count { $0.kind == .commandFinished } == 2 }
                #expect(
                    reports.all.map(\.kind) == [
                        .handlerFailed, .commandFailed, .handlerRecovered, .commandFinished, .commandFinished,
                    ])
                let end = try #require(reports.of(.commandFailed).first)
                #expect(end.integer(.status) == 0 && end.figure(.retry)?.description == "0.001")

                unlink(folder.path + "/end")
                handler.handle(event(3))
                try await waitUntil("its start") { processes(in: file).count == 4 }
                let last = processes(in: file)[3]
                try #require(CommandStopTests.becomeOther())
                #expect(handler.stop(within: .seconds(1)) == 0)
                try #require(CommandStopTests.becomeRoot())
                #expect(
                    reports.all.last?.text(.reason) == "process \(last) is left behind: Operation not permitted")
                kill(last, SIGKILL)
            }
        }

        /// The failure lasts until both have ended, and names one that goes on.
        @Test(.enabled(if: geteuid() == 0, "needs root")) func oneEndOfTwoThatCannotBeEndedIsNoRecovery() async {
            await #expect(processExitsWith: .success) {
                let (reports, folder) = (Reports(), try TemporaryFolder())
                let path = folder.path
                let limits = settings {
                    $0.timeout = .seconds(3)
                    $0.killDelay = .milliseconds(10)
                    $0.concurrentLimit = 2
                }
                let handler = reports.command("/bin/sh", limits) {
                    [
                        "-c", "echo $$ >> \"$1/started$2\"; while [ ! -e \"$1/end$2\" ]; do sleep 0.01; done", "sh",
                        path, "\($0.sequence)",
                    ]
                }
                for sequence in 1...2 { handler.handle(event(UInt64(sequence))) }
                try await waitUntil("their start") {
                    (1...2).allSatisfy { processes(in: "\(path)/started\($0)").count == 1 }
                }
                let second = try #require(processes(in: path + "/started2").first)
                try #require(CommandStopTests.becomeOther())
                try reports.wait("both failures") { $0.count == 2 }
                try #require(CommandStopTests.becomeRoot())
                try folder.write("end1", "")
                try reports.wait("the first end, and what goes on") { $0.count == 4 }
                #expect(
                    reports.all.last?.text(.reason) == "process \(second) could not be ended: Operation not permitted")
                try folder.write("end2", "")
                try reports.wait("the recovery") { $0.count == 6 }
                #expect(
                    reports.all.map(\.kind) == [
                        .handlerFailed, .handlerFailed, .commandFailed, .handlerFailed, .commandFailed,
                        .handlerRecovered,
                    ])
                #expect(handler.stop(within: .zero) == 0)
            }
        }

        /// In a process of its own, because other tests open files and start programs all the time.
        @Test func nothingIsLeft() async {
            await #expect(processExitsWith: .success) {
                func count(_ folder: String) throws -> Int {
                    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/" + folder).count
                }
                func children() throws -> [Substring] {
                    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").flatMap { task in
                        (contents(of: "/proc/self/task/\(task)/children") ?? "")
                            .split(separator: " ")
                    }
                }
                /// What a sanitizer asks for names is no child of ours, and keeps its two pipes.
                func isSymbolizer(_ child: Substring) -> Bool {
                    let name = contents(of: "/proc/\(child)/comm")
                    return name == "addr2line\n" || name?.contains("symbolizer") == true
                }
                func descriptors() throws -> Int { try count("fd") - 2 * children().count(where: isSymbolizer) }
                func round(stoppingTheLast: Bool = false) throws {
                    let reports = Reports()
                    let limits = settings {
                        $0.concurrentLimit = 4
                        $0.timeout = .milliseconds(100)
                        $0.killDelay = .milliseconds(50)
                        $0.retryLimit = 1
                        $0.retryDelay = .milliseconds(1)
                    }
                    let handlers = [
                        reports.handler("/bin/true", [], limits), reports.handler("/bin/sleep", ["1000"], limits),
                        reports.handler("/nonexistent", [], limits),
                        reports.shell("(trap '' TERM; sleep 1000) & sleep 1000", [], limits),
                        reports.shell("exec yes", [], limits), reports.shell("sleep 1000 & exit 1", [], limits),
                        reports.shell("trap '' TERM; sleep 1000; sleep 1000", [], limits),
                    ]
                    for handler in handlers {
                        for sequence in 1...8 { handler.handle(event(UInt64(sequence))) }
                    }
                    for handler in handlers.dropLast(2) { #expect(handler.waitUntilIdle()) }
                    for handler in stoppingTheLast ? handlers : handlers.dropLast() {
                        handler.stop(within: .milliseconds(500))
                    }
                }
                // What the first use of anything opens stays open.
                try round(stoppingTheLast: true)
                // Its last thread may be ending; how many stay is what is to be found out, and cannot be waited for.
                usleep(100_000)
                let descriptorCount = try descriptors()
                let threadCount = try count("task")
                for _ in 0..<3 { try round() }
                // No task sleeps here: the thread on which it goes on would be counted.
                func waitForTheEnd() throws {
                    // The last handler of each round was not stopped, but went: its thread is on its way.
                    try waitUntil("the end of the threads") { try count("task") <= threadCount }
                    try waitUntil("closed descriptors") { try descriptors() <= descriptorCount }
                    try waitUntil("the end of all zombies") { try children().allSatisfy(isSymbolizer) }
                }
                try waitForTheEnd()
            }
        }
    }
}

import Binnacle
import Foundation
import Handlers
import TestSupport
import Testing

extension CommandTests {
    /// How many at a time, how often, and what becomes of those that are too many.
    struct CommandLimitTests {
        private let reports = Reports()

        @Test func commandsRunInTheOrderOfTheirEvents() throws {
            let handler = reports.handler("/bin/true")
            for sequence in 1...20 { handler.handle(event(UInt64(sequence))) }
            #expect(handler.waitUntilIdle())
            #expect(reports.all.map { $0.integer(.trigger) } == Array(1...20))
        }

        @Test func whatFailsIsTriedAgainLaterAndLater() throws {
            let file = try TemporaryFile()
            let handler = reports.shell(
                "echo >> \"$1\"; [ $(wc -l < \"$1\") -ge 3 ]", [file.path],
                retrying(5, after: .milliseconds(20)))
            handler.handle(event(9))
            #expect(handler.waitUntilIdle())
            #expect(reports.all.map(\.kind) == [.commandFailed, .commandFailed, .commandFinished])
            #expect(reports.all.map { $0.integer(.attempt) } == [1, 2, 3])
            #expect(reports.all.map { $0.figure(.retry)?.description } == ["0.020", "0.040", nil])
            #expect(reports.all.allSatisfy { $0.integer(.trigger) == 9 })
            // Each attempt is a whole delay behind the one before.
            let times = reports.all.map(\.timeNanoseconds)
            #expect(times[1] - times[0] >= 20_000_000 && times[2] - times[1] >= 40_000_000)
        }

        @Test func noRetryFollowsTheLastAttempt() throws {
            let handler = reports.handler(
                "/nonexistent/program", [],
                retrying(2, after: .milliseconds(1)))
            handler.handle(event())
            #expect(handler.waitUntilIdle())
            #expect(reports.all.map { $0.figure(.retry)?.description } == ["0.001", "0.002", nil])
        }

        @Test func theDelayDoublesUpToAMinute() {
            let settings = settings { $0.retryLimit = 100 }
            let delays = (1...100).compactMap { settings.retryDelay(after: $0) }
            #expect(delays.count == 100)
            #expect(Array(delays[..<8]) == [1, 2, 4, 8, 16, 32, 60, 60].map { Duration.seconds($0) })
            #expect(delays.allSatisfy { $0 <= .seconds(60) })
            #expect(settings.retryDelay(after: 101) == nil)
            #expect(CommandSettings().retryDelay(after: 1) == nil)
        }

        @Test func othersGoOnWhileOneWaitsToBeTriedAgain() throws {
            let limits = retrying(1, after: .seconds(1000))
            let handler = reports.command("/bin/sh", limits) {
                ["-c", "exit $1", "sh", $0.sequence == 1 ? "1" : "0"]
            }
            for sequence in 1...3 { handler.handle(event(UInt64(sequence))) }
            try reports.waitForEnds(3)
            #expect(reports.all.map { $0.integer(.trigger) } == [1, 2, 3])
            #expect(reports.all.map { $0.integer(.attempt) } == [1, 1, 1])
            #expect(handler.stop(within: .zero) == 1)
        }

        @Test func whatIsTriedAgainRunsOnceMore() throws {
            let limits = retrying(1, after: .milliseconds(1))
            let handler = reports.command("/bin/sh", limits) {
                ["-c", "exit $1", "sh", $0.sequence == 1 ? "1" : "0"]
            }
            for sequence in 1...3 { handler.handle(event(UInt64(sequence))) }
            #expect(handler.waitUntilIdle())
            // When the second attempt comes among the others depends on the machine.
            let ends = reports.all.map { "\($0.integer(.trigger) ?? 0) \($0.integer(.attempt) ?? 0)" }
            #expect(ends.sorted() == ["1 1", "1 2", "2 1", "3 1"])
        }

        @Test func aDisarmedHandlerTriesNothingAgain() throws {
            let handler = reports.handler(
                "/bin/false", [],
                retrying(1, after: .seconds(1000)))
            handler.handle(event(1))
            try reports.waitForEnds(1)
            handler.isArmed = false
            #expect(handler.waitUntilIdle())
            #expect(handler.leftOutCount == 1 && reports.of(.commandFailed).count == 1)
        }

        /// A retry has a place in the queue, so that what always fails does not grow without end.
        @Test func whatWaitsToBeTriedAgainIsCounted() throws {
            let handler = reports.handler(
                "/bin/false", [],
                settings {
                    $0.retryLimit = 1
                    $0.retryDelay = .seconds(60)
                    $0.queueLimit = 5
                })
            // Each of them fails before the next comes, and there is room for six that wait or run.
            for sequence in 1...10 {
                handler.handle(event(UInt64(sequence)))
                if sequence <= 6 { try reports.waitForEnds(sequence) }
            }
            try reports.wait("four drops") { _ in reports.droppedCount == 4 }
            #expect(reports.of(.commandFailed).count == 6)
            #expect(handler.stop(within: .zero) == 6)
        }

        @Test func neverMoreAtATimeAndEveryEventIsAccountedFor() throws {
            let file = try TemporaryFile()
            let handler = reports.shell(
                "echo + >> \"$1\"; sleep 0.01; echo - >> \"$1\"", [file.path],
                settings {
                    $0.concurrentLimit = 2
                    $0.queueLimit = 10
                })
            let submitted = 3000
            for sequence in 1...submitted {
                var event = event(UInt64(sequence))
                event.isSimulated = true
                handler.handle(event)
                usleep(1000)
            }
            let beforeStop = reports.of(.eventsDropped)
            #expect(handler.waitUntilIdle())
            #expect(handler.stop(within: .seconds(60)) == 0)
            var running = 0
            var most = 0
            for line in try file.text().split(separator: "\n") {
                running += line == "+" ? 1 : -1
                most = max(most, running)
            }
            #expect(running == 0)
            #expect(most == 2)
            let finished = reports.of(.commandFinished)
            #expect(finished.count + reports.droppedCount == submitted)
            #expect(reports.all.count == finished.count + reports.of(.eventsDropped).count)
            // Each program that ran is reported once, and the first that waited were not dropped for later ones.
            let numbers = finished.compactMap { $0.integer(.trigger) }
            #expect(Set(numbers).count == numbers.count)
            #expect(Set(1...10).isSubset(of: numbers))
            // The first drop is reported without delay, later ones not more often than once a second.
            #expect(beforeStop.count >= 2)
            for (one, next) in zip(beforeStop, beforeStop.dropFirst()) {
                #expect(next.timeNanoseconds - one.timeNanoseconds >= 1_000_000_000)
            }
            let first = try #require(beforeStop.first)
            #expect(first.text(.reason) == "10 events wait for the command already")
            #expect(first.text(.handler) == "alarm")
            #expect(reports.all.allSatisfy { $0.isSimulated })
        }

        /// The last drops are reported without another event or the handler's end.
        @Test func theLastDropsAreToldOf() throws {
            let handler = reports.handler(
                "/bin/sleep", ["1000"],
                settings {
                    $0.queueLimit = 1
                    $0.timeout = .seconds(1000)
                })
            for sequence in 1...4 { handler.handle(event(UInt64(sequence))) }
            try reports.wait("a first report") { _ in reports.droppedCount > 0 }
            for sequence in 5...6 { handler.handle(event(UInt64(sequence))) }
            try reports.wait("a second report") { _ in reports.droppedCount == 4 }
        }
    }
}

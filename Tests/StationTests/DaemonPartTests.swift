import Binnacle
import Glibc
import Synchronization
import Testing

import Station

/// What the parts of the daemon share: their messages, and the stages of the end.
@Suite struct DaemonPartTests {
    /// A handler's report is counted before the status that is asked for after it, whatever the order of the parts.
    @Test func messagesAreHandledInTheOrderInWhichTheyWereLeft() throws {
        var options = RunOptions()
        options.embedded = .simulated(.shake)
        options.viewSocket = "/nonexistent/binnacle"
        let daemon = try Daemon(options, interruption: .never)
        let handled = Mutex<[String]>([])
        func post<Part: AnyObject & SendableMetatype>(_ part: Part.Type, _ word: String) {
            PartInbox<Part>(daemon).post { _ in handled.withLock { $0.append(word) } }
        }
        post(HandlersPart.self, "report")
        post(SocketPart.self, "status")
        post(DesktopPart.self, "claim")
        post(SocketPart.self, "second status")
        daemon.handleMessages()
        #expect(handled.withLock { $0 } == ["report", "status", "claim", "second status"])
    }

    /// A failure of the handler itself, such as a program that cannot be ended, outlasts the success of another program.
    @Test func theFailureOfAHandlerEndsWithItsRecovery() {
        func report(_ kind: EventKind, _ reason: String? = nil) -> Event {
            Event(kind: kind, timeNanoseconds: 0, figures: reason.map { [Figure(.reason, .text($0))] } ?? [])
        }
        var counters = HandlerCounters()
        let steps: [(event: Event, failure: String?)] = [
            (report(.commandFailed, "exit status 1"), "exit status 1"), (report(.commandFinished), nil),
            (report(.handlerFailed, "it goes on"), "it goes on"), (report(.commandFinished), "it goes on"),
            (report(.commandFailed, "exit status 1"), "it goes on"), (report(.handlerRecovered), "exit status 1"),
            (report(.commandFinished), nil),
        ]
        for (event, failure) in steps {
            counters.count(event)
            #expect(counters.failure == failure, "after \(event.kind)")
        }
    }

    /// A slow disk must not keep the servers from sending their last events.
    @Test func filesAreAwaitedAfterTheServersInWhatTimeIsLeft() {
        #expect(EndStage.allCases.suffix(2) == [.servers, .files])
        #expect(zip(EndStage.allCases, EndStage.allCases.dropFirst()).allSatisfy { $0.time <= $1.time })
        #expect(EndStage.files.time == EndStage.servers.time)
    }

    @Test func membersOfTheStatusThatAreNotListedFollowTheListedOnes() {
        let members = Daemon.ordered([("zeta", "1"), ("dbus", "2"), ("alpha", "3"), ("events_total", "4")])
        let keys = [
            "events_total", "configuration", "sensors", "detectors", "handlers", "store", "socket", "dbus", "zeta",
            "alpha",
        ]
        #expect(members.map(\.key) == keys)
        #expect(members.map(\.json) == ["4"] + [String](repeating: "null", count: 6) + ["2", "1", "3"])
    }

    @Test func workThatIsAskedForWhileItRunsIsDoneOnceMore() {
        var work = RepeatedWork.none
        let first = work.mayBegin()
        work = .running
        let second = work.mayBegin()
        let third = work.mayBegin()
        let isOutdated = work.end()
        #expect(first && !second && !third && isOutdated)
        let again = work.mayBegin()
        work = .running
        let isOutdatedAgain = work.end()
        #expect(again && !isOutdatedAgain)
    }
}

import Binnacle
import EventSocket
import Foundation
import LinuxSystem
import PlainText
import TestSupport
import Testing

/// The client of the library.
@Suite(.timeLimit(.minutes(5))) struct SubscriptionClientTests {
    private func sequences(_ messages: [EventSubscription.Message]) -> [UInt64] {
        messages.map { message in
            guard case .event(let event) = message else { return 0 }
            return event.sequence
        }
    }

    /// Whatever answers at the path has written the message, and a terminal must not obey it.
    @Test func aDaemonsMessageDoesNotControlTheTerminal() throws {
        let hostile = "no\npermission \u{1B}[2J\u{9B}31m\u{7F}"
        let words = EventSubscriptionError.refusal(hostile, path: "/s").description
        #expect(!words.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }, "\(words)")
        // JSON allows these characters as they are; the text stays the same.
        let line = "{\"a\":\t\"x\u{9B}31m\u{7F}\u{E9}\u{202E}\u{E0041}\"\r}"
        let harmless = JSONReader.harmless(line)
        #expect(harmless == "{\"a\": \"x\\u009b31m\\u007f\u{E9}\\u202e\\udb40\\udc41\" }")
        #expect(harmless == harmless.printable)
        #expect(try JSONReader.value(of: harmless.utf8) == JSONReader.value(of: line.utf8))
        let plain = "{\"seq\":1}"
        #expect(JSONReader.harmless(plain) == plain)
    }

    @Test func eventsComeInTheirOrder() async throws {
        let server = try TestServer()
        server.publish(200)
        var messages: [EventSubscription.Message] = []
        for try await message in EventSubscription(path: server.path, after: 0).messages {
            messages.append(message)
            if messages.count == 100 { server.publish(100) }
            if messages.count == 300 { break }
        }
        #expect(sequences(messages) == Array(1...300))
        #expect(messages.first == .event(TestServer.event(1)))
        try await waitUntil("that the connection is closed") { server.server.statistics.connectionCount == 0 }
    }

    @Test func aFilterChooses() async throws {
        let server = try TestServer()
        server.publish(kind: .shake)
        server.publish(kind: .shock, sensor: "door")
        server.publish(kind: .shock)
        let subscription = EventSubscription(path: server.path, kinds: [.shock], sensors: ["lid"], after: 0)
        var iterator = subscription.makeAsyncIterator()
        #expect(try await iterator.next() == .event(TestServer.event(3)))
    }

    @Test func aCancelledTaskEndsIt() async throws {
        let server = try TestServer()
        let path = server.path
        let task = Task {
            var count = 0
            for try await _ in EventSubscription(path: path, after: 0).messages { count += 1 }
            return count
        }
        server.publish(3)
        try await waitUntil("that it has subscribed") { !server.server.statistics.subscribers.isEmpty }
        task.cancel()
        #expect(try await task.value <= 3)
        try await waitUntil("that the connection is closed") { server.server.statistics.connectionCount == 0 }
        // A task that was cancelled before it began gets nothing either.
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            var iterator = EventSubscription(path: path, after: 0).makeAsyncIterator()
            return try await iterator.next()
        }
        #expect(try await late.value == nil)
    }

    @Test func whoTakesItsTimeIsNotReadAhead() async throws {
        let history = FakeHistory(1...5000)
        let server = try TestServer(history: history, startingBehind: 5000)
        var iterator = EventSubscription(path: server.path, after: 0).makeAsyncIterator()
        _ = try await iterator.next()
        // What lies in buffers on the way is little; the rest stays where it is. A server that waits does not say so.
        var before = -1
        while history.queries.count > before {
            before = history.queries.count
            try await Task.sleep(for: .milliseconds(200))
        }
        #expect(history.queries.count < 40)
        for sequence in UInt64(2)...5000 {
            #expect(try await iterator.next() == .event(TestServer.event(sequence)))
        }
    }

    @Test func aDaemonThatIsNotThereIsAnError() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/s"
        var iterator = EventSubscription(path: path).makeAsyncIterator()
        await #expect(throws: EventSubscriptionError.notRunning(path: path)) { try await iterator.next() }
        // Once.
        #expect(try await iterator.next() == nil)
    }

    @Test func aFullQueueIsNoDaemonThatIsNotThere() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/s"
        let address = try #require(UnixAddress(path: path))
        let listener = try UnixAddress.makeStream()
        #expect(address.withPointer { bind(listener.raw, $0, $1) } == 0 && listen(listener.raw, 2) == 0)
        // There is room for three, which are never accepted.
        let waker = try Waker()
        for patience in [SubscriptionReader.Patience.none, .afterFirstAnswer] {
            let reader = SubscriptionReader(
                SubscriptionRequest(), path: path, patience: patience, cancelling: waker.descriptor,
                longestAnswer: 50_000_000)
            #expect(throws: EventSubscriptionError.busy(path: path)) { try reader.next() }
        }
        let first = try SocketConnection(path: path)
        let error = #expect(throws: EventSubscriptionError.self) { _ = try SocketConnection(path: path) }
        #expect(error == .busy(path: path) && error?.isTransient == true)
        // A daemon is there: no other one starts, and no store is read in its place.
        #expect(SocketPath.isAnswered(path))
        withExtendedLifetime((listener, first)) {}
    }

    @Test func aDaemonThatGoesAwayIsAnError() async throws {
        let server = try TestServer()
        server.publish()
        var iterator = EventSubscription(path: server.path, after: 0).makeAsyncIterator()
        #expect(try await iterator.next() == .event(TestServer.event(1)))
        server.server.finish(within: .zero)
        await #expect(throws: EventSubscriptionError.disconnected) { try await iterator.next() }
    }

    @Test func itGoesOnBehindTheLastEvent() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/s"
        let history = FakeHistory()
        var iterator = EventSubscription(path: path, after: 0, reconnects: true).makeAsyncIterator()
        var expected: UInt64 = 1
        for round in UInt64(0)..<3 {
            // Before there is a daemon, and while it was away, events have happened.
            history.add((round * 10 + 1...round * 10 + 10).map { TestServer.event($0) })
            let server = try TestServer(history: history, startingBehind: round * 10 + 10) { $0.path = path }
            for _ in 0..<10 {
                #expect(try await iterator.next() == .event(TestServer.event(expected)))
                expected += 1
            }
            server.server.finish(within: .zero)
            #expect(server.server.waitForEnd(until: SystemClock.monotonic() + 60_000_000_000))
        }
    }

    @Test func whoBeganNowMissesNothingWhileTheDaemonIsAway() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/s"
        let history = FakeHistory(1...5)
        let task: Task<EventSubscription.Message?, any Error>
        do {
            let server = try TestServer(history: history, startingBehind: 5) { $0.path = path }
            task = Task {
                var iterator = EventSubscription(path: path, reconnects: true).makeAsyncIterator()
                return try await iterator.next()
            }
            // Its answer is written in the same turn, and is read before the end of the connection.
            try await waitUntil("that it has subscribed") { !server.server.statistics.subscribers.isEmpty }
        }
        history.add([TestServer.event(6)])
        let server = try TestServer(history: history, startingBehind: 6) { $0.path = path }
        #expect(try await task.value == .event(TestServer.event(6)))
        withExtendedLifetime(server) {}
    }

    /// The first message, read on a thread of its own: a read blocks, and the tasks of all tests share as many threads as there
    /// are processors.
    private func firstMessage(
        _ request: SubscriptionRequest = SubscriptionRequest(), path: String, patience: SubscriptionReader.Patience
    ) -> Task<SocketMessage?, any Error> {
        Task {
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(
                        with: Result {
                            let waker = try Waker()
                            return try SubscriptionReader(
                                request, path: path, patience: patience, cancelling: waker.descriptor
                            ).next()
                        })
                }
            }
        }
    }

    /// No event had come when the daemon ended, so the time still counts at the next one.
    @Test func aTimeToBeginAtCountsUntilAnEventHasCome() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/s"
        let history = FakeHistory(1...5)
        let task: Task<SocketMessage?, any Error>
        do {
            let server = try TestServer(history: history, startingBehind: 5) { $0.path = path }
            var request = SubscriptionRequest()
            request.sinceNanoseconds = TestServer.event(7).wallNanoseconds
            task = firstMessage(request, path: path, patience: .always)
            try await waitUntil("that it has subscribed") { !server.server.statistics.subscribers.isEmpty }
        }
        history.add([TestServer.event(6), TestServer.event(7)])
        let server = try TestServer(history: history, startingBehind: 7) { $0.path = path }
        let message = try await task.value
        guard case .event(let event, _) = message else {
            Issue.record("\(String(describing: message)) in place of an event")
            return
        }
        #expect(event.sequence == 7)
        withExtendedLifetime(server) {}
    }

    /// Where a daemon answers is known when one runs: a reader that began before looks again at each attempt, and stays
    /// with the daemon that has answered.
    @Test func thePathIsLookedUpUntilADaemonAnswers() throws {
        let server = try TestServer()
        server.publish(2)
        let waker = try Waker()
        var paths = ["/nonexistent/binnacle.sock", server.path, "/nonexistent/other.sock"]
        var changes: [SubscriptionReader.Change] = []
        var request = SubscriptionRequest()
        request.after = 0
        let reader = SubscriptionReader(
            request, path: paths.removeFirst(), patience: .always, cancelling: waker.descriptor
        ) { changes.append($0) }
        for number in 1...2 {
            let message = try reader.next()
            guard case .event(let event, _) = message else {
                Issue.record("\(String(describing: message)) in place of event \(number)")
                return
            }
            #expect(event.sequence == UInt64(number))
        }
        #expect(
            changes == [
                .waiting(.notRunning(path: "/nonexistent/binnacle.sock")), .connected, .subscribed(path: server.path),
            ])
        #expect(paths == ["/nonexistent/other.sock"])
    }

    @Test func aRefusalIsAnErrorThatSaysWhy() async throws {
        let server = try TestServer { $0.connectionLimit = 0 }
        var iterator = EventSubscription(path: server.path).makeAsyncIterator()
        let reason = "there are 0 connections already, and no more are allowed"
        let error = await #expect(throws: EventSubscriptionError.self) { try await iterator.next() }
        #expect(error == .busy(path: server.path, reason: reason) && error?.isTransient == true)
        #expect(error?.description.contains(reason) == true)
        let status = #expect(throws: EventSubscriptionError.self) { try SocketConnection.status(path: server.path) }
        #expect(status == error)
    }

    /// A daemon that has too many connections may have room later, so a reader that was there before waits for it.
    @Test func roomIsWaitedFor() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/s"
        let history = FakeHistory(1...5)
        let task: Task<SocketMessage?, any Error>
        do {
            let server = try TestServer(history: history, startingBehind: 5) { $0.path = path }
            task = firstMessage(path: path, patience: .afterFirstAnswer)
            try await waitUntil("that it has subscribed") { !server.server.statistics.subscribers.isEmpty }
        }
        do {
            let full = try TestServer(history: history, startingBehind: 5) { ($0.path, $0.connectionLimit) = (path, 0) }
            try await waitUntil("that it is refused") { full.server.statistics.refusedCount > 0 }
        }
        history.add([TestServer.event(6)])
        let server = try TestServer(history: history, startingBehind: 6) { $0.path = path }
        #expect(try await task.value == .event(TestServer.event(6), json: TestServer.event(6).json))
        withExtendedLifetime(server) {}
    }

    @Test func whatIsNoDaemonIsAnError() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/s"
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        try #require(try #require(UnixAddress(path: path)).withPointer { bind(listener, $0, $1) } == 0)
        try #require(listen(listener, 1) == 0)
        Thread.detachNewThread {
            let connection = accept(listener, nil, nil)
            _ = write(connection, "220 hello\r\n", 11)
            close(connection)
        }
        var iterator = EventSubscription(path: path).makeAsyncIterator()
        let error = await #expect(throws: EventSubscriptionError.self) { try await iterator.next() }
        #expect(error?.description.contains("not a Binnacle daemon") == true, "\(error as Any)")
    }

    @Test func anIteratorThatIsDroppedLeavesNothingBehind() async throws {
        let server = try TestServer()
        server.publish(500)
        for _ in 0..<50 {
            var iterator = EventSubscription(path: server.path, after: 0).makeAsyncIterator()
            _ = try await iterator.next()
        }
        try await waitUntil("that the connections are closed") { server.server.statistics.connectionCount == 0 }
    }
}

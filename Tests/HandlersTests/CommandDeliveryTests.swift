import Binnacle
import Glibc
import Handlers
import Synchronization
import TestSupport
import Testing

/// A command whose events a store keeps: it says of each when it is done with it.
@Suite struct CommandDeliveryTests {
    /// Keeps a handler as busy as a store does: with as many deliveries as it takes, and another for each that is done.
    private final class Feeder: Sendable {
        private struct State {
            var next: Int64 = 1
            var done: [Int64] = []
        }

        private let state = Mutex(State())
        private let count: Int64
        private let handler = Mutex<ThreadedHandler?>(nil)

        init(count: Int64) {
            self.count = count
        }

        var done: [Int64] { state.withLock { $0.done } }

        func start(_ handler: ThreadedHandler) {
            self.handler.withLock { $0 = handler }
            for _ in 0..<(handler.plan.deliveryLimit ?? 0) { deliverNext() }
        }

        func acknowledge(_ ticket: Int64) {
            state.withLock { $0.done.append(ticket) }
            deliverNext()
        }

        private func deliverNext() {
            let ticket = state.withLock { state -> Int64 in
                state.next += 1
                return state.next - 1
            }
            guard ticket <= count, let handler = handler.withLock({ $0 }) else { return }
            let event = Event(kind: .shock, sequence: UInt64(ticket), timeNanoseconds: 0)
            handler.deliver([Delivery(event: event, ticket: ticket)])
        }
    }

    /// The handler that a reload has exchanged had failed.
    @Test func theFirstSuccessEndsTheFailureOfThePredecessor() throws {
        let reports = Reports()
        let handler = reports.command("/bin/sh") { ["-c", "exit $1", "sh", "\($0.sequence % 2)"] }
        handler.inheritFailure()
        for sequence in 1...4 { handler.handle(event(UInt64(sequence))) }
        try reports.wait("all ends") { $0.count == 5 }
        #expect(
            reports.all.map(\.kind) == [
                .commandFailed, .commandFinished, .handlerRecovered, .commandFailed, .commandFinished,
            ])
        #expect(handler.stop(within: .zero) == 0)
    }

    @Test func everyDeliveryIsAcknowledgedAndNoneIsDropped() throws {
        let feeder = Feeder(count: 60)
        let reports = Reports()
        var settings = CommandSettings()
        settings.queueLimit = 3
        let handler = reports.command(
            "/bin/sh", settings, name: "count", acknowledge: { [weak feeder] in feeder?.acknowledge($0) }
        ) {
            ["-c", "exit \($0.sequence % 2)"]
        }
        feeder.start(handler)
        // One that failed for good is done with as well.
        try waitUntil("60 acknowledgements") { feeder.done.count == 60 }
        #expect(feeder.done == Array(1...60))
        #expect(!reports.all.contains { $0.kind == .eventsDropped })
        #expect(handler.stop(within: .seconds(1)) == 0)
    }

    @Test func whatAStopCutsShortIsNeitherAcknowledgedNorDropped() throws {
        let feeder = Feeder(count: 3)
        let reports = Reports()
        let handler = reports.command(
            "/bin/sleep", name: "hang", acknowledge: { [weak feeder] in feeder?.acknowledge($0) }
        ) { _ in
            ["60"]
        }
        feeder.start(handler)
        try waitUntil("three deliveries") { handler.unfinishedCount == 3 }
        #expect(handler.stop(within: .milliseconds(200)) == 0, "the store keeps them")
        #expect(feeder.done.isEmpty)
        #expect(!reports.all.contains { $0.kind == .eventsDropped })
    }

    @Test func aRetryIsNotAnEnd() throws {
        let feeder = Feeder(count: 1)
        let reports = Reports()
        var settings = CommandSettings()
        settings.retryLimit = 2
        settings.retryDelay = .milliseconds(10)
        let handler = reports.command(
            "/bin/false", settings, name: "fail", acknowledge: { [weak feeder] in feeder?.acknowledge($0) }
        ) {
            _ in []
        }
        feeder.start(handler)
        try waitUntil("the acknowledgement") { !feeder.done.isEmpty }
        #expect(reports.of(.commandFailed).count == 3)
        #expect(feeder.done == [1])
        handler.stop(within: .seconds(1))
    }
}

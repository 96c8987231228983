import Binnacle
import Foundation
import TestSupport
import Testing

import Handlers
import MQTT

/// Events that a reader has missed, and asks for.
@Suite(.enabled(if: Broker.program != nil, Broker.absence))
struct MQTTRequestTests {
    /// Events with the numbers of a range, given in pages on another thread, as a store does.
    private final class Kept: EventHistory {
        let identity = "a"
        private let events: [Event]

        init(_ numbers: ClosedRange<UInt64>) { events = motions(numbers) }

        func read(_ query: EventQuery, reply: @escaping @Sendable (EventPage) -> Void) {
            let found = events.filter { $0.sequence > query.after && query.filter.accepts($0) }
            let lines = found.prefix(query.limit).map { EventLine(sequence: $0.sequence, json: $0.json) }
            let isLast = found.count <= query.limit
            let through = isLast ? events.last?.sequence ?? 0 : lines.last?.sequence ?? query.after
            let page = EventPage(
                lines: lines, through: through, first: events.first?.sequence ?? 0, isLast: isLast)
            Thread { reply(page) }.start()
        }
    }

    private static let topic = "fleet/request"

    private func ask(_ broker: Broker, _ message: String) {
        guard let wire = Wire.connected(to: broker.port) else { return }
        wire.send(PacketType.connect, Wire.text("MQTT") + [4, 2, 0, 0] + Wire.text("asker"))
        _ = wire.next()
        // QoS 0; the broker has taken it when it answers the end of the connection.
        wire.send(PacketType.publish, flags: 0, Wire.text(Self.topic) + Array(message.utf8))
        wire.send(PacketType.disconnect, [])
        _ = wire.next()
    }

    /// A handler that hears requests, as its status says.
    private func run(
        _ broker: Broker, _ subscriber: Subscriber, _ history: (any EventHistory)?,
        kinds: Set<EventKind> = [.motionBegan, .motionEnded]
    ) throws -> MQTTRun {
        let run = try MQTTRun(broker.port, history: history) { settings, _ in
            settings.requestTopic = Self.topic
            settings.repeated = HandledEvents(kinds: kinds, detectors: nil)
        }
        try subscriber.wait("the status") { $0.contains { $0.topic == "status" && $0.payload == "online" } }
        return run
    }

    @Test func whatAReaderHasMissedComesAgain() throws {
        let broker = try Broker()
        let subscriber = try Subscriber(broker.port)
        defer { subscriber.stop() }
        let run = try run(broker, subscriber, Kept(101...500))
        run.handler.handle(event(501, kind: .motionBegan))
        try subscriber.waitForNumber(501)
        ask(broker, #"{"after":41,"through":300}"#)
        let answers = try subscriber.wait("an answer") { $0.contains { $0.topic == Self.topic + "/answer" } }
        #expect(subscriber.numbers == [501] + Array(101...300))
        #expect(answers.last?.payload == #"{"after":41,"through":300,"first":101,"events":200}"#)
        let again = try #require(answers.first { $0.payload.hasPrefix(#"{"seq":101,"#) })
        #expect(again.payload.hasSuffix(#","key":"101/motion.began","again":true}"#), "\(again.payload)")
        #expect(!again.isRetained)
        // What is new still says what was before it, and not what came again.
        run.handler.handle(event(502, kind: .motionEnded))
        try subscriber.waitForNumber(502)
        #expect(subscriber.messages.contains { $0.payload.hasSuffix(#","key":"502/motion.ended","previous":501}"#) })
        // What is asked for is the newest, too.
        ask(broker, #"{"after":498}"#)
        try subscriber.wait("the answer") { $0.filter { $0.topic == Self.topic + "/answer" }.count == 2 }
        #expect(subscriber.numbers.suffix(2) == [499, 500])
        #expect(run.end() == 0 && run.reasons.isEmpty, "\(run.reasons)")
    }

    @Test func onlyWhatTheHandlerPublishesComesAgain() throws {
        let broker = try Broker()
        let subscriber = try Subscriber(broker.port)
        defer { subscriber.stop() }
        let run = try run(broker, subscriber, Kept(1...20), kinds: [.motionEnded])
        ask(broker, #"{"after":0}"#)
        try subscriber.wait("an answer") { $0.contains { $0.topic == Self.topic + "/answer" } }
        #expect(subscriber.numbers == (1...10).map { $0 * 2 })
        run.end()
    }

    @Test(arguments: [
        #"{"after":-1}"#, "{}", "[]", "?", #"{"after":1,"limit":2}"#, #"{"after":"1"}"#, #"{"after":1e400}"#,
        #"{"after":18446744073709551616}"#, #"{"after":1,"through":"# + String(repeating: "9", count: 60) + "}",
    ])
    func whatIsNoRequestIsReported(message: String) throws {
        let broker = try Broker()
        let subscriber = try Subscriber(broker.port)
        defer { subscriber.stop() }
        let run = try run(broker, subscriber, Kept(1...9))
        ask(broker, message)
        #expect(try run.waitForFailure().contains("is ignored"))
        // What a stranger sends is no failure that stays.
        try waitUntil("the recovery") { run.reports.of(.handlerRecovered).count == 1 }
        // The handler still works.
        ask(broker, #"{"after":8}"#)
        try subscriber.waitForNumber(9)
        run.end()
    }

    @Test func withoutAStoreThatIsReported() throws {
        let broker = try Broker()
        let subscriber = try Subscriber(broker.port)
        defer { subscriber.stop() }
        let run = try run(broker, subscriber, nil)
        #expect(try run.waitForFailure().contains("[store]"))
        run.end()
    }

    @Test func aFloodOfRequestsIsBounded() throws {
        let broker = try Broker()
        let subscriber = try Subscriber(broker.port)
        defer { subscriber.stop() }
        let run = try run(broker, subscriber, Kept(1...50))
        for _ in 0..<200 { ask(broker, #"{"after":0}"#) }
        run.handler.handle(event(51, kind: .motionBegan))
        try subscriber.waitForNumber(51)
        try subscriber.wait("an answer") { $0.contains { $0.topic == Self.topic + "/answer" } }
        #expect(run.end() == 0 && run.reasons.isEmpty, "\(run.reasons)")
    }

    /// A client that publishes requests as fast as the broker takes them.
    private func flood(_ broker: Broker, count: Int) throws {
        let wire = try #require(Wire.connected(to: broker.port))
        wire.send(PacketType.connect, Wire.text("MQTT") + [4, 2, 0, 0] + Wire.text("flooder"))
        _ = wire.next()
        let packet = Wire.packet(PacketType.publish, Wire.text(Self.topic) + Array(#"{"after":0}"#.utf8))
        for _ in 0..<count / 100 { wire.send(Array(repeatElement(packet, count: 100).joined())) }
        wire.send(PacketType.disconnect, [])
        _ = wire.next()
    }

    @Test func requestsAboveTheRateAreRefusedForAWhileAndThatIsReportedOnce() throws {
        let broker = try Broker()
        let subscriber = try Subscriber(broker.port)
        defer { subscriber.stop() }
        let run = try MQTTRun(broker.port, history: Kept(1...50)) { settings, times in
            settings.requestTopic = Self.topic
            settings.repeated = HandledEvents(kinds: [.motionBegan, .motionEnded], detectors: nil)
            times.requestPause = 500_000_000
        }
        try subscriber.wait("the status") { $0.contains { $0.topic == "status" && $0.payload == "online" } }
        let words = "more than 100 requests in a second"
        for turn in UInt64(1)...2 {
            try flood(broker, count: 20_000)
            try waitUntil("the end of the subscription; \(run.reasons)") {
                broker.log.components(separatedBy: "Received UNSUBSCRIBE from binnacle-fleet").count > turn
            }
            run.handler.handle(event(100 + turn, kind: .motionBegan))
            try subscriber.waitForNumber(100 + turn)
            // It answers again after the pause.
            try waitUntil("the next subscription") {
                broker.log.components(separatedBy: "Received SUBSCRIBE from binnacle-fleet").count > turn + 1
            }
        }
        // Where a busy machine makes a pause within the floods a calm one, what follows is another failure.
        let reported = run.reasons.count { $0.contains(words) }
        #expect((1...20).contains(reported), "\(run.reasons)")
        try waitUntil("the recovery of each") { run.reports.of(.handlerRecovered).count == reported }
        let count = subscriber.messages.count { $0.topic == Self.topic + "/answer" }
        ask(broker, #"{"after":48}"#)
        try subscriber.wait("an answer") { $0.count { $0.topic == Self.topic + "/answer" } > count }
        #expect(run.end() == 0)
    }

    @Test func eventsComeAgainAtALimitedRateAndAllOfThem() throws {
        let broker = try Broker()
        let subscriber = try Subscriber(broker.port)
        defer { subscriber.stop() }
        let run = try run(broker, subscriber, Kept(1...1200))
        ask(broker, #"{"after":0}"#)
        // Those of another reader do not begin it from the start: they have an answer of their own.
        ask(broker, #"{"after":1190}"#)
        let answers = try subscriber.wait("both answers") { $0.count { $0.topic == Self.topic + "/answer" } == 2 }
        #expect(subscriber.numbers == Array(1...1200) + Array(1191...1200))
        #expect(
            answers.filter { $0.topic == Self.topic + "/answer" }.map(\.payload) == [
                #"{"after":0,"through":1200,"first":1,"events":1200}"#,
                #"{"after":1190,"through":1200,"first":1,"events":10}"#,
            ])
        #expect(run.end() == 0 && run.reasons.isEmpty, "\(run.reasons)")
    }

    @Test func aRetainedRequestIsNotAnsweredAtEachConnection() throws {
        let broker = try Broker()
        let wire = try #require(Wire.connected(to: broker.port))
        wire.send(PacketType.connect, Wire.text("MQTT") + [4, 2, 0, 0] + Wire.text("asker"))
        _ = wire.next()
        wire.send(PacketType.publish, flags: 1, Wire.text(Self.topic) + Array(#"{"after":0}"#.utf8))
        wire.send(PacketType.disconnect, [])
        _ = wire.next()
        let subscriber = try Subscriber(broker.port)
        defer { subscriber.stop() }
        let run = try run(broker, subscriber, Kept(1...9))
        #expect(try run.waitForFailure("is ignored").contains("retained"))
        ask(broker, #"{"after":8}"#)
        try subscriber.wait("an answer") { $0.contains { $0.topic == Self.topic + "/answer" } }
        #expect(subscriber.numbers == [9])
        run.end()
    }
}

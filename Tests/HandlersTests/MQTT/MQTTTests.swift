import Binnacle
import Foundation
import Handlers
import MQTT
import LinuxSystem
import TestSupport
import Testing

/// A handler and a real broker.
@Suite(.enabled(if: Broker.program != nil, Broker.absence))
struct MQTTTests {
    @Test func everyEventArrivesOnceAndInOrder() throws {
        let broker = try Broker()
        let subscriber = try Subscriber(broker.port)
        defer { subscriber.stop() }
        let run = try MQTTRun(broker.port)
        for event in motions(1...1000) { run.handler.handle(event) }
        try subscriber.waitForNumber(1000)
        #expect(run.end() == 0)
        #expect(subscriber.numbers == Array(1...1000))
        #expect(run.statistics.publishedCount == 1000)
        let payloads = subscriber.messages.filter { $0.topic.hasPrefix("events/") }.map(\.payload)
        let first = motions(1...2).map { $0.json.dropLast() }
        #expect(payloads[0] == first[0] + #","key":"1/motion.began"}"#)
        #expect(payloads[1] == first[1] + #","key":"2/motion.ended","previous":1}"#)
        #expect(run.reports.all.isEmpty, "\(run.reports.all)")
    }

    @Test func deliveriesAreAcknowledgedOnce() throws {
        let broker = try Broker()
        let subscriber = try Subscriber(broker.port)
        defer { subscriber.stop() }
        let run = try MQTTRun(broker.port)
        run.handler.deliver(deliveries(1...200))
        try waitUntil("200 acknowledgements") { run.acknowledged.all.count >= 200 }
        run.handler.deliver(deliveries(201...256))
        #expect(run.end() == 0)
        #expect(run.acknowledged.all == Array(1...256))
        try subscriber.waitForNumber(256)
        #expect(subscriber.numbers == Array(1...256))
    }

    @Test func whatNobodyHasSubscribedToIsKeptUntilSomebodyHas() throws {
        let broker = try Broker()
        let run = try MQTTRun(broker.port) { settings, _ in settings.waitsForSubscriber = true }
        run.handler.deliver(deliveries(1...150))
        _ = try run.waitForFailure("has no subscriber: events are kept")
        #expect(run.acknowledged.all.isEmpty)
        let subscriber = try Subscriber(broker.port)
        defer { subscriber.stop() }
        try waitUntil("all acknowledgements") { run.acknowledged.all.count >= 150 }
        try waitUntil("the recovery") { run.reports.of(.handlerRecovered).count == 1 }
        #expect(run.reasons.count == 1, "\(run.reasons)")
        run.handler.deliver(deliveries(151...160))
        try subscriber.waitForNumber(160)
        #expect(run.end() == 0)
        #expect(subscriber.numbers.sorted() == Array(1...160))
        #expect(run.acknowledged.all.sorted() == Array(1...160))
    }

    @Test func aStopDoesNotWaitForASubscriber() throws {
        let broker = try Broker()
        let run = try MQTTRun(broker.port) { settings, _ in settings.waitsForSubscriber = true }
        for event in motions(1...10) { run.handler.handle(event) }
        _ = try run.waitForFailure("has no subscriber")
        #expect(run.end(within: .seconds(3600)) == 10)
    }

    @Test func aBrokerWithoutVersion5IsServedAndReportedOnce() throws {
        let broker = try FakeBroker { wire, _, broker in
            // Connects with a version behind the protocol's name; 1 is "unacceptable protocol version" (3.1.1, 3.2.2.3).
            guard let packet = wire.next(), packet.type == PacketType.connect else { return }
            guard packet.body[6] == 4 else { return wire.send(PacketType.connectAnswer, [0, 1]) }
            wire.send(PacketType.connectAnswer, [0, 0])
            broker.speak(wire)
        }
        defer { broker.stop() }
        let run = try MQTTRun(broker.port) { settings, _ in settings.waitsForSubscriber = true }
        run.handler.deliver(deliveries(1...20))
        try waitUntil("all acknowledgements; \(run.reasons)") { run.acknowledged.all.count >= 20 }
        #expect(run.end() == 0)
        #expect(run.reasons.count == 1 && run.reasons[0].contains("does not speak MQTT 5"), "\(run.reasons)")
    }

    @Test func itSaysWhetherItIsThere() throws {
        let broker = try Broker()
        let subscriber = try Subscriber(broker.port)
        defer { subscriber.stop() }
        let run = try MQTTRun(broker.port)
        try subscriber.wait("online") { $0.contains { $0.topic == "status" } }
        #expect(run.end() == 0)
        try subscriber.wait("offline") { $0.count { $0.topic == "status" } == 2 }
        #expect(subscriber.payloads(of: "status") == ["online", "offline"])
        // Who comes later learns of it as well.
        let late = try Subscriber(broker.port, name: "late")
        defer { late.stop() }
        try late.wait("what was retained") { $0.contains { $0.topic == "status" } }
        #expect(late.messages.first { $0.topic == "status" }?.isRetained == true)
        #expect(late.payloads(of: "status") == ["offline"])
    }

    @Test func theStateOfASensorIsKept() throws {
        let broker = try Broker()
        let subscriber = try Subscriber(broker.port)
        defer { subscriber.stop() }
        let run = try MQTTRun(broker.port)
        run.handler.handle(event(1, kind: .motionBegan))
        try subscriber.wait("the state") { $0.contains { $0.topic == "states/chassis" } }
        run.handler.handle(event(2, kind: .motionMoving))
        run.handler.handle(event(3, kind: .heading, [Figure(.heading, .number(12.3, decimals: 1))]))
        try subscriber.wait("the heading") { $0.count { $0.topic == "states/chassis" } == 2 }
        #expect(run.end() == 0)
        let start = #"{"sensor":"chassis","active":true,"detectors":{"moved":"moving"},"#
        #expect(
            subscriber.payloads(of: "states/chassis") == [
                start + #""seq":1,"time_ns":1000000007}"#,
                start + #""heading_deg":12.3,"seq":3,"time_ns":1000000007}"#,
            ], "what changes nothing is not sent")
        let late = try Subscriber(broker.port, name: "late")
        defer { late.stop() }
        try late.wait("what was retained") { $0.contains { $0.topic == "states/chassis" } }
        #expect(late.payloads(of: "states/chassis") == [start + #""heading_deg":12.3,"seq":3,"time_ns":1000000007}"#])
    }

    @Test func aReplayDropsNothing() throws {
        let broker = try Broker()
        let subscriber = try Subscriber(broker.port)
        defer { subscriber.stop() }
        let messages = try TemporaryFolder(["log": ""])
        let descriptor = try Descriptor(path: messages.path + "/log", flags: O_RDWR)
        let log = LineWriter(descriptor: descriptor.raw)
        var settings = MQTTSettings(host: "localhost", port: broker.port, usesTLS: false, clientID: "live")
        settings.replayClientID = "replay"
        settings.statusTopic = "live/status"
        let topics = MQTTPublisher.Topics(event: { _ in "events/all" }, state: { "states/\($0)" })
        let plan = MQTTPublisher.plan(settings, topics)
        let handler = try AwaitedHandler(plan, HandlerContext(name: "fleet", log: log))
        for event in motions(1...6000) { handler.handle(event) }
        handler.finish()
        try subscriber.waitForNumber(6000)
        #expect(subscriber.numbers == Array(1...6000))
        // What is retained belongs to the daemon.
        #expect(subscriber.messages.allSatisfy { $0.topic == "events/all" })
        log.flush()
        #expect(lseek(descriptor.raw, 0, SEEK_END) == 0, "nothing was said")
    }

    /// `BINNACLE_BROKER_SECONDS` is how long the broker is away.
    @Test func aBrokerThatIsAwayMissesNothing() throws {
        let seconds = ProcessInfo.processInfo.environment["BINNACLE_BROKER_SECONDS"].flatMap(Double.init) ?? 2
        // It keeps its subscribers' messages while it is away, as a broker with a disk does.
        let broker = try Broker("allow_anonymous true\npersistence true\npersistence_location FOLDER/")
        let subscriber = try Subscriber(broker.port, isPersistent: true)
        defer { subscriber.stop() }
        let run = try MQTTRun(broker.port) { settings, times in times.pauses.longest = 500_000_000 }
        let limit = try #require(run.handler.plan.deliveryLimit)
        var given = 0
        var most = 0
        /// Gives what the handler may have, as the store does.
        func feed(until last: Int) throws {
            while given < last {
                let open = given - run.acknowledged.all.count
                most = max(most, open)
                let room = min(limit - open, last - given)
                guard room > 0 else { return }
                run.handler.deliver(deliveries(UInt64(given + 1)...UInt64(given + room)))
                given += room
            }
        }
        try feed(until: 100)
        try subscriber.waitForNumber(50)
        broker.stop()
        let end = ContinuousClock.now + .seconds(seconds)
        try waitUntil("the end of its absence") {
            try feed(until: 2000)
            return ContinuousClock.now >= end
        }
        #expect(given < 2000, "no more is handed over than may be under way")
        #expect(run.handler.unfinishedCount <= limit)
        try waitUntil("the failure") { run.statistics.failure != nil }
        try broker.start()
        try waitUntil("all acknowledgements; told: \(run.reasons)") {
            try feed(until: 2000)
            return run.acknowledged.all.count == 2000
        }
        try run.reports.wait("the recovery") { $0.contains { $0.kind == .handlerRecovered } }
        #expect(run.end() == 0)
        try subscriber.waitForNumber(2000)
        #expect(subscriber.numbers.firstTimes == Array(1...2000), "nothing is missing, nothing out of order")
        #expect(run.acknowledged.all.sorted() == Array(1...2000), "each is acknowledged once")
        #expect(most <= limit)
        #expect(Set(run.reasons).count == run.reasons.count, "each reason is reported once: \(run.reasons)")
        #expect(run.reasons.count <= 3)
        #expect(run.reports.of(.handlerRecovered).count == 1)
        #expect(run.statistics.reconnectCount >= 1)
    }

    @Test func withoutAStoreTheNewestIsDroppedAndTold() throws {
        let port = try freePort()
        let run = try MQTTRun(port, capacity: 10)
        _ = try run.waitForFailure("refused")
        for event in motions(1...25) { run.handler.handle(event) }
        #expect(run.handler.unfinishedCount == 10)
        #expect(run.handler.droppedCount == 15)
        #expect(run.reports.droppedCount == 1, "at once of the first")
        #expect(run.end(within: .zero) == 10)
        #expect(run.reports.droppedCount == 15, "in the end of all")
    }

    @Test(arguments: [0, 1, 2])
    func aPayloadOfOnesOwnIsKept(quality: Int) throws {
        let broker = try Broker()
        let run = try MQTTRun(broker.port) { settings, _ in
            settings.quality = quality
            settings.isRetained = true
            settings.payload = try? CommandTemplate.Argument(parsing: "{kind} {seq}")
        }
        run.handler.deliver(deliveries(1...20))
        try waitUntil("20 acknowledgements") { run.acknowledged.all.count >= 20 }
        #expect(run.end() == 0)
        #expect(run.acknowledged.all == Array(1...20))
        let late = try Subscriber(broker.port, name: "late")
        defer { late.stop() }
        try late.wait("what was retained") { $0.count { $0.topic.hasPrefix("events/") } == 2 }
        let kept = late.messages.filter { $0.topic.hasPrefix("events/") }.map(\.payload)
        #expect(kept.sorted() == ["motion.began 19", "motion.ended 20"])
    }

    @Test func theWillIsSentWhenTheConnectionIsCut() throws {
        let broker = try Broker()
        let subscriber = try Subscriber(broker.port)
        defer { subscriber.stop() }
        let run = try MQTTRun(broker.port)
        try subscriber.wait("online") { $0.contains { $0.topic == "status" } }
        // A client of the same name has the broker cut the connection.
        let other = try Subscriber(broker.port, name: "binnacle-fleet")
        try subscriber.wait("the will") { $0.contains { $0.payload == "offline" } }
        other.stop()
        try subscriber.wait("online again") { $0.last { $0.topic == "status" }?.payload == "online" }
        #expect(try run.waitForFailure("closed").contains("127.0.0.1:\(broker.port): the broker closed the connection"))
    }

    @Test func aNewHandlerWaitsForTheGoodbyeOfTheOldOne() throws {
        let broker = try Broker()
        let subscriber = try Subscriber(broker.port)
        defer { subscriber.stop() }
        let old = try MQTTRun(broker.port)
        try old.waitUntilConnected()
        for event in motions(1...500) { old.handler.handle(event) }
        // As in a reload: the new one is made before the old one is told to end.
        let new = try MQTTRun(broker.port)
        new.handler.handle(event(501))
        old.handler.end(within: .seconds(60))
        try subscriber.waitForNumber(501)
        #expect(old.end() == 0)
        #expect(new.end() == 0)
        #expect(subscriber.numbers == Array(1...501))
        try subscriber.wait("four words") { $0.count { $0.topic == "status" } == 4 }
        #expect(subscriber.payloads(of: "status") == ["online", "offline", "online", "offline"])
        #expect(old.reasons == [] && new.reasons == [])
    }

    @Test func aMessageThatTheBrokerDoesNotTakeHoldsUpNothing() throws {
        // It closes the connection of who sends more than this.
        let broker = try Broker("allow_anonymous true\nmessage_size_limit 0\nmax_packet_size 2000")
        let subscriber = try Subscriber(broker.port)
        defer { subscriber.stop() }
        let run = try MQTTRun(broker.port)
        let tooLarge = event(2, kind: .shock, [Figure(.reason, .text(String(repeating: "x", count: 4000)))])
        run.handler.deliver([
            Delivery(event: event(1), ticket: 1), Delivery(event: tooLarge, ticket: 2),
            Delivery(event: event(3), ticket: 3),
        ])
        try subscriber.waitForNumber(3)
        #expect(run.end() == 0)
        #expect(subscriber.numbers.firstTimes == [1, 3])
        #expect(run.acknowledged.all.sorted() == [1, 2, 3])
        #expect(try run.waitForFailure("is skipped").contains("event 2 (shock)"))
        #expect(run.statistics.refusedCount == 1 && run.reports.droppedCount == 1)
    }
}

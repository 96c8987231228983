import Binnacle
import Foundation
import Handlers
import MQTT
import Synchronization
import TestSupport
import Testing

/// Brokers, and clients of a broker, that send as much as they can: each memory that they could fill has its bound, what is
/// dropped is reported once, and only what was subscribed to is answered.
@Suite struct HostileBrokerTests {
    private static let folder = "homeassistant/device/binnacle_0af3"

    private static var discovery: MQTTDiscovery {
        MQTTDiscovery(
            [HandledDetector(name: "d", sensor: "own", kinds: [.motionBegan])],
            HomeAssistantTopics(
                prefix: "homeassistant", machine: MachineNames(host: "boat", identity: "0af3"), status: "status",
                state: { "states/\($0)" }, event: { "events/\($0.rawValue)/\($1)" }))
    }

    /// What a broker saw of one handler, over all connections.
    private final class Seen: Sendable {
        struct State {
            /// The topics of which the retained message was removed.
            var removed: [String] = []
            var events: [UInt64] = []
            var sentCount = 0
        }
        private let state = Mutex(State())
        var now: State { state.withLock { $0 } }
        func note(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }
    }

    /// A broker that sends `count` messages after each subscription, as fast as they are taken, and acknowledges meanwhile.
    private func flood(
        _ seen: Seen, count: Int, message: @escaping @Sendable (_ number: Int) -> [UInt8]
    ) throws -> FakeBroker {
        try FakeBroker { wire, _, broker in
            var (next, isSubscribed) = (0, false)
            while !broker.isStopped {
                if isSubscribed, next < count, wire.isWritable {
                    // No packet is sent in parts, because sends block.
                    let last = min(count, next + 100)
                    wire.send((next..<last).flatMap(message))
                    next = last
                    seen.note { $0.sentCount += 100 }
                }
                guard wire.isReadable(milliseconds: isSubscribed && next < count ? 0 : 20) else { continue }
                guard let packet = wire.next() else { return }
                switch packet.type {
                case PacketType.connect: wire.send(PacketType.connectAnswer, [0, 0])
                case PacketType.subscribe:
                    wire.send(PacketType.subscribeAnswer, Array(packet.body.prefix(2)) + [0])
                    isSubscribed = true
                case PacketType.unsubscribe:
                    wire.send(PacketType.unsubscribeAnswer, Array(packet.body.prefix(2)))
                case PacketType.publish:
                    let (topic, payload, number) = packet.publication
                    seen.note { seen in
                        if payload.isEmpty { seen.removed.append(topic) }
                        if let event = try? Event(json: payload) { seen.events.append(event.sequence) }
                    }
                    wire.send(PacketType.publishAnswer, number)
                case PacketType.disconnect: return
                default: break
                }
            }
        }
    }

    @Test func retainedDescriptionsAreRemovedUpToALimit() throws {
        let seen = Seen()
        let broker = try flood(seen, count: 100_000) { number in
            Wire.packet(PacketType.publish, flags: 1, Wire.text("\(Self.folder)/g\(number)/config") + [0x78])
        }
        defer { broker.stop() }
        let run = try MQTTRun(broker.port) { settings, times in
            settings.discovery = Self.discovery
            // A recovery in between would have it reported again.
            times.lasting = 600_000_000_000
        }
        _ = try run.waitForFailure("the rest is left")
        run.handler.deliver(deliveries(1...50))
        try waitUntil("the events; \(run.reasons)") { run.acknowledged.all.count == 50 }
        #expect(run.end() == 0)
        let end = seen.now
        // The rest of the flood may cost one connection, and the next has no subscription.
        let descriptions = end.removed.filter { $0.hasPrefix(Self.folder + "/g") && $0.hasSuffix("/config") }
        #expect(descriptions.count <= MQTTLimits.descriptions + 2 && broker.connectionCount <= 2)
        #expect(descriptions.count > MQTTLimits.descriptions / 2)
        // With each goes the state of its sensor.
        #expect(end.removed.count { $0.hasPrefix("states/g") } == end.removed.count - descriptions.count)
        #expect(run.reasons.count { $0.contains("the rest is left") } == 1, "\(run.reasons)")
    }

    /// Those of other machines, of this machine's other topics, of no topic that fits, and those that are not retained.
    @Test(arguments: [
        ("homeassistant/device/binnacle_ffff/own/config", true), ("\(folder)/a/b/config", true),
        ("\(folder)/config", true), ("\(folder)/a/config/x", true), ("\(folder)X/a/config", true), ("status", true),
        ("\(folder)/" + String(repeating: "x", count: 2000) + "/config", true), ("\(folder)/live/config", false),
        ("homeassistant/device/binnacle_0af3/own/config", true),
    ])
    func whatWasNotSubscribedToIsNotAnswered(topic: String, isRetained: Bool) throws {
        let seen = Seen()
        let broker = try flood(seen, count: 10) { _ in
            Wire.packet(PacketType.publish, flags: isRetained ? 1 : 0, Wire.text(topic) + [0x78])
        }
        defer { broker.stop() }
        let run = try MQTTRun(broker.port) { settings, _ in settings.discovery = Self.discovery }
        try waitUntil("the messages") { seen.now.sentCount > 0 }
        run.handler.deliver(deliveries(1...10))
        try waitUntil("the events; \(run.reasons)") { run.acknowledged.all.count == 10 }
        #expect(run.end() == 0)
        #expect(seen.now.removed == [])
        let isExpected = ["own", "live"].contains { topic == "\(Self.folder)/\($0)/config" }
        #expect(run.reasons.count { $0.contains("not subscribed to are dropped") } == (isExpected ? 0 : 1))
        #expect(run.reasons.count <= 1 && broker.connectionCount == 1, "\(run.reasons)")
    }

    /// As brokers do whose access rules do not allow it: no event is to blame.
    @Test func aBrokerThatClosesTheConnectionOnASubscription() throws {
        let isAllowed = Mutex(false)
        let broker = try FakeBroker { wire, _, broker in
            broker.speak(wire) { topic, _ in
                guard topic.hasSuffix("/+/config"), !isAllowed.withLock({ $0 }) else { return .goOn }
                // In this time an event would follow the answer to "online".
                usleep(20_000)
                return .close
            }
        }
        defer { broker.stop() }
        let run = try MQTTRun(broker.port) { settings, _ in settings.discovery = Self.discovery }
        run.handler.deliver(deliveries(1...3))
        let words = "before it answered the subscription to \(Self.folder)/+/config: its access rules may forbid that"
        _ = try run.waitForFailure(words)
        // After so many connections an event that is to blame is skipped.
        try waitUntil("further attempts; \(run.reasons)") { broker.connectionCount >= 12 }
        isAllowed.withLock { $0 = true }
        try waitUntil("the events; \(run.reasons)") { run.acknowledged.all.count == 3 }
        #expect(run.end() == 0)
        #expect(run.statistics.refusedCount == 0 && run.statistics.publishedCount == 3, "\(run.reasons)")
    }

    /// 3.1.1 can refuse subscriptions alone.
    @Test(arguments: [false, true])
    func whatABrokerRefusesIsAFailureAndEventsGoOn(speaksVersion5: Bool) throws {
        let broker = try FakeBroker { wire, connection, broker in
            broker.speak(wire) { topic, payload in
                guard connection == 0 else { return .goOn }
                guard topic.hasPrefix("events/") else { return .refuse }
                return payload.contains(#""seq":4,"#) ? .close : .goOn
            }
        }
        defer { broker.stop() }
        let run = try MQTTRun(broker.port) { settings, _ in
            settings.discovery = Self.discovery
            settings.requestTopic = "requests"
            settings.waitsForSubscriber = speaksVersion5
        }
        run.handler.deliver(deliveries(1...3))
        try waitUntil("the events; \(run.reasons)") { run.acknowledged.all.count == 3 }
        let published = [
            #""online" at status"#, "the description at \(Self.folder)/own/config", "the state at states/own",
            "the state at states/chassis",
        ]
        let refused =
            ["the subscription to requests", "the subscription to \(Self.folder)/+/config"]
            + (speaksVersion5 ? published : [])
        for what in refused { _ = try run.waitForFailure("the broker refuses \(what): ") }
        // Twice the time after which a recovery is reported; that there is none cannot be waited for.
        usleep(400_000)
        #expect(run.reports.of(.handlerRecovered).isEmpty && run.statistics.failure != nil)
        // The next connection accepts everything.
        run.handler.deliver(deliveries(4...4))
        try waitUntil("the recovery; \(run.reasons)") { run.reports.of(.handlerRecovered).count == 1 }
        #expect(run.statistics.failure == nil && run.acknowledged.all == [1, 2, 3, 4])
        #expect(run.reasons.count { $0.contains("the broker refuses") } == refused.count, "\(run.reasons)")
        #expect(run.end() == 0)
    }

    /// A broker that answers the first subscriptions to requests in one way, and the events of the first connections in another.
    private func broker(
        requests next: FakeBroker.Next, times: Int, events: FakeBroker.Next = .goOn, connections: Int = 0
    ) throws -> FakeBroker {
        let tries = Mutex(0)
        return try FakeBroker { wire, connection, broker in
            broker.speak(wire) { topic, _ in
                if topic.hasPrefix("events/") { return connection < connections ? events : .goOn }
                guard topic == "requests" else { return .goOn }
                let count = tries.withLock {
                    $0 += 1
                    return $0
                }
                return count <= times ? next : .goOn
            }
        }
    }

    /// The rules of a broker are changed while it runs, and other failures are reported meanwhile.
    @Test func whatABrokerRefusedIsSentAgain() throws {
        let broker = try broker(requests: .refuse, times: 5, events: .close, connections: 2)
        defer { broker.stop() }
        let run = try MQTTRun(broker.port) { settings, times in
            settings.requestTopic = "requests"
            times.requestPause = 300_000_000
        }
        run.handler.deliver(deliveries(1...1))
        try waitUntil("the recovery; \(run.reasons)") { run.reports.of(.handlerRecovered).count == 1 }
        #expect(run.statistics.failure == nil && run.statistics.reconnectCount == 2)
        #expect(run.reasons.contains { $0.contains("closed the connection") }, "\(run.reasons)")
        #expect(run.end() == 0)
    }

    /// The answers to later messages are no answer to the subscription.
    @Test func aSubscriptionThatIsNeverAnsweredIsAFailureAndEventsGoOn() throws {
        let broker = try broker(requests: .ignore, times: 2)
        defer { broker.stop() }
        let run = try MQTTRun(broker.port) { settings, times in
            settings.requestTopic = "requests"
            (times.answer, times.requestPause) = (500_000_000, 100_000_000)
        }
        let count = try deliver(to: run) { run.reports.of(.handlerRecovered).count == 1 }
        let refusals = run.reasons.filter { $0.contains("the broker refuses") }
        #expect(
            refusals == [
                "127.0.0.1:\(broker.port): the broker refuses the subscription to requests: it answers later messages alone"
            ])
        #expect(run.statistics.failure == nil && run.statistics.reconnectCount == 0 && broker.connectionCount == 1)
        try waitUntil("the events") { run.acknowledged.all.count == Int(count) }
        #expect(run.end() == 0)
    }

    /// Else an event would wait for as long as later ones are answered.
    @Test func anEventThatIsNeverAnsweredIsSentOverAnotherConnection() throws {
        let broker = try FakeBroker { wire, connection, broker in
            broker.speak(wire) { _, payload in connection == 0 && payload.contains(#""seq":2,"#) ? .ignore : .goOn }
        }
        defer { broker.stop() }
        let run = try MQTTRun(broker.port) { settings, times in times.answer = 500_000_000 }
        let count = try deliver(to: run) { broker.connectionCount == 2 }
        #expect(
            try run.waitForFailure("PUBLISH")
                == "127.0.0.1:\(broker.port): no answer to PUBLISH within 0 s, but to later ones")
        try waitUntil("the events; \(run.reasons)") { Set(run.acknowledged.all).count == Int(count) }
        #expect(run.end() == 0)
    }

    /// Delivers one event after another until something has happened; returns the number of the last.
    private func deliver(to run: MQTTRun, until hasHappened: () -> Bool) throws -> UInt64 {
        var count: UInt64 = 0
        try waitUntil("the end of deliveries; \(run.reasons)") {
            count += 1
            run.handler.deliver(deliveries(count...count))
            usleep(50_000)
            return hasHappened()
        }
        return count
    }

    private static let kinds: [(String, [UInt8])] = [
        ("more than answers", Wire.packet(PacketType.publish, flags: 0, Wire.text("a") + [0x78])),
        // QoS 1 is acknowledged by the library, with 2 it keeps the message, and 6 is its release.
        ("more than answers", Wire.packet(PacketType.publish, flags: 2, Wire.text("a") + [0, 1])),
        ("QoS 2", Wire.packet(PacketType.publish, flags: 4, Wire.text("a") + [0, 1])),
        ("more than answers", Wire.packet(6, flags: 2, [0, 1])),
        ("127.0.0.1", Wire.packet(PacketType.publishAnswer, [0x7F, 0xFF])),
        ("127.0.0.1", Wire.packet(5, [0x7F, 0xFF])),
        ("more than answers", Wire.packet(PacketType.subscribeAnswer, [0, 1, 0])),
        ("more than answers", Wire.packet(PacketType.pingAnswer, [])),
        // A property that MQTT 5 does not have, at which the library asserts.
        ("more than answers", [0x30, 6, 0, 1, 0x61, 2, 0x7F, 0]),
        // A packet that is never complete, in pieces.
        ("more than answers", [0x30, 0xFF, 0xFF, 0xFF, 0x7F, 0, 1, 0x61]),
    ]

    @Test("A broker that sends one packet without end is left", arguments: kinds.indices, [false, true])
    func everyPacketWithoutEnd(kind: Int, speaksVersion5: Bool) throws {
        let (reason, packet) = Self.kinds[kind]
        let sent = Mutex(0)
        let broker = try FakeBroker { wire, _, broker in
            guard let connect = wire.next() else { return }
            let isVersion5 = connect.body[6] == 5
            wire.send(PacketType.connectAnswer, [0, 0] + (isVersion5 ? [0] : []))
            // A PUBLISH of MQTT 5 has properties, of which these packets have none.
            let isPublish = packet[0] >> 4 == PacketType.publish
            let own =
                isVersion5 && isPublish && packet.count < 8 ? [packet[0], packet[1] + 1] + packet[2...] + [0] : packet
            let piece = Array(repeatElement(own, count: 1000).joined())
            var count = 0
            while !broker.isStopped, count < 64_000_000 {
                let taken = Foundation.send(wire.descriptor, piece, piece.count, Int32(MSG_NOSIGNAL))
                guard taken > 0 else { break }
                count += taken
                sent.withLock { $0 = max($0, count) }
            }
        }
        defer { broker.stop() }
        let run = try MQTTRun(broker.port) { settings, _ in
            settings.discovery = Self.discovery
            settings.waitsForSubscriber = speaksVersion5
        }
        _ = try run.waitForFailure(speaksVersion5 ? "127.0.0.1" : reason)
        try waitUntil("it to be tried again") { broker.connectionCount >= 2 }
        // What is in the kernel's buffers comes on top of what was read.
        #expect((1..<32_000_000).contains(sent.withLock { $0 }), "\(sent.withLock { $0 })")
        run.end(within: .zero)
    }

    /// Acknowledgements have numbers that a broker can guess: the library would keep every message that it does not read.
    @Test func aBrokerThatAcknowledgesAndReadsNothing() throws {
        let broker = try FakeBroker { wire, _, broker in
            _ = wire.next()
            wire.send(PacketType.connectAnswer, [0, 0])
            while !broker.isStopped {
                for number in UInt16(1)...3000 {
                    wire.send(PacketType.publishAnswer, [UInt8(number >> 8), UInt8(number & 0xFF)])
                }
                // It sends no more than the handler takes, and ends when that one leaves.
                usleep(10_000)
                guard Foundation.send(wire.descriptor, [0xD0, 0], 2, Int32(MSG_NOSIGNAL)) == 2 else { return }
            }
        }
        defer { broker.stop() }
        let text = String(repeating: "x", count: 60_000)
        let run = try MQTTRun(broker.port) { settings, times in
            settings.payload = try? CommandTemplate.Argument(parsing: text)
            settings.statusTopic = nil
            times.answer = 1_000_000_000
        }
        run.handler.deliver(deliveries(1...4000))
        _ = try run.waitForFailure("127.0.0.1")
        // 240 MB would be kept; the kernel's buffers have some megabytes.
        #expect(run.acknowledged.all.count < 1000, "\(run.acknowledged.all.count)")
        run.end(within: .zero)
    }

    @Test func theTableOfSecurityHasTheseLimits() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../SECURITY.md")
        let table = try String(contentsOf: root, encoding: .utf8)
        for words in [
            "\(MQTTLimits.unexplainedBytes / 1024) kB", "\(MQTTPublisher.windowLimit) events",
            "\(MQTTLimits.descriptions) messages", "\(MQTTLimits.topicBytes) bytes",
            "\(MQTTLimits.requests.atOnce) at once, then \(MQTTLimits.requests.perSecond) a second",
            "\(MQTTLimits.repeats.atOnce) events at once, then \(MQTTLimits.repeats.perSecond) a second",
            "\(MQTTTimes().requestPause / 1_000_000_000) s",
        ] {
            #expect(table.contains(words), "SECURITY.md does not have \(words)")
        }
    }
}

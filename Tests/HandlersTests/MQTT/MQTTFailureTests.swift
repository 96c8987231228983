import Binnacle
import Foundation
import Handlers
import MQTT
import LinuxSystem
import Synchronization
import TestSupport
import Testing

/// What a handler makes of brokers that are not there, refuse, or behave badly; each reason is reported once.
@Suite struct MQTTFailureTests {
    @Test func nobodyListens() throws {
        let port = try freePort()
        let run = try MQTTRun(port)
        #expect(try run.waitForFailure("refused") == "127.0.0.1:\(port): Connection refused")
        // Several further attempts report nothing new; without a listener no test can count them.
        usleep(500_000)
        #expect(run.reasons.count == 1)
        #expect(run.statistics.failure == "127.0.0.1:\(port): Connection refused")
        run.handler.deliver(deliveries(1...3))
        #expect(run.end(within: .seconds(20)) == 3, "with a store nothing is waited for")
        #expect(run.acknowledged.all == [])
    }

    /// The library would take memory for all of it, and read as long as anything comes.
    @Test func aBrokerThatSendsWhatNobodyAskedFor() throws {
        let most = 268_435_455
        let sent = Mutex(0)
        let broker = try FakeBroker { wire, _, broker in
            _ = wire.next()
            wire.send(PacketType.connectAnswer, [0, 0])
            // A PUBLISH of the greatest length there is.
            wire.send([0x30, 0xFF, 0xFF, 0xFF, 0x7F, 0, 1, UInt8(ascii: "t")])
            let piece = [UInt8](repeating: 0x78, count: 1 << 20)
            var count = 0
            while count < most, !broker.isStopped {
                let taken = Foundation.send(wire.descriptor, piece, piece.count, Int32(MSG_NOSIGNAL))
                guard taken > 0 else { break }
                count += taken
            }
            sent.withLock { $0 = max($0, count) }
        }
        defer { broker.stop() }
        let run = try MQTTRun(broker.port)
        run.handler.deliver(deliveries(1...3))
        #expect(try run.waitForFailure("more than answers").contains("nothing is subscribed to"))
        try waitUntil("it to be tried again") { broker.connectionCount >= 2 }
        // What is in the kernel's buffers comes on top of what was read.
        #expect((1..<32_000_000).contains(sent.withLock { $0 }), "\(sent.withLock { $0 })")
    }

    private static var hasTwoAddresses: Bool {
        let found = try? NetworkAddress.resolve(host: "localhost", port: 1, type: SOCK_STREAM, isOwn: false)
        return found?.contains { $0.family == AF_INET6 } ?? false
    }

    /// ::1, which the system puts first, refuses.
    @Test(.enabled(if: hasTwoAddresses, "localhost has no IPv6 address; `::1 localhost` in /etc/hosts adds it"))
    func everyAddressOfANameIsTried() throws {
        let broker = try FakeBroker { wire, _, broker in broker.speak(wire) }
        defer { broker.stop() }
        let run = try MQTTRun(broker.port, host: "localhost")
        run.handler.deliver(deliveries(1...3))
        try waitUntil("the acknowledgements; \(run.reasons)") { run.acknowledged.all.count == 3 }
        #expect(run.end() == 0 && run.reasons == [], "\(run.reasons)")
    }

    @Test func aFightOverOneClientID() throws {
        let broker = try FakeBroker { wire, _, _ in
            _ = wire.next()
            wire.send(PacketType.connectAnswer, [0, 0])
            // After "online" it closes the connection, as when another client connects with the ID.
            guard let packet = wire.next(), packet.type == PacketType.publish else { return }
            wire.send(PacketType.publishAnswer, packet.publication.number)
        }
        defer { broker.stop() }
        let run = try MQTTRun(broker.port)
        let reason = try run.waitForFailure("another client")
        #expect(reason.contains("the client_id 'binnacle-fleet': set another `client_id`"))
        #expect(run.reasons.first == "127.0.0.1:\(broker.port): the broker closed the connection")
        #expect(broker.connectionCount >= 3)
    }

    @Test func aNameThatDoesNotResolve() throws {
        let run = try MQTTRun(1883, host: "broker.invalid")
        let reason = try run.waitForFailure("looked up")
        #expect(reason.hasPrefix("broker.invalid:1883: the name cannot be looked up: "))
    }

    @Test func aBrokerThatNeverAnswers() throws {
        let broker = try FakeBroker { wire, _, broker in
            while !broker.isStopped, wire.isReadable(milliseconds: 20) ? wire.next() != nil : true {}
        }
        defer { broker.stop() }
        let run = try MQTTRun(broker.port) { settings, times in times.connect = 1_000_000_000 }
        run.handler.deliver(deliveries(1...10))
        #expect(
            try run.waitForFailure("CONNECT") == "127.0.0.1:\(broker.port): no answer to CONNECT within 1 s")
        // Of its own thread and no other's: a second that is waited through costs next to nothing.
        #expect((1..<500_000_000).contains(run.processorNanoseconds))
        try waitUntil("a further attempt") { broker.connectionCount >= 3 }
        #expect(run.reasons.count == 1)
        #expect(run.end(within: .milliseconds(100)) == 10)
    }

    @Test func aBrokerThatTakesEventsAndSaysNothingToThem() throws {
        let broker = try FakeBroker { wire, _, broker in
            var isFirst = true
            broker.speak(wire) { topic, _ in
                guard isFirst || topic == "status" else {
                    while !broker.isStopped, wire.isReadable(milliseconds: 20) ? wire.next() != nil : true {}
                    return .close
                }
                isFirst = false
                return .goOn
            }
        }
        defer { broker.stop() }
        let run = try MQTTRun(broker.port) { settings, times in times.answer = 1_000_000_000 }
        run.handler.deliver(deliveries(1...10))
        #expect(
            try run.waitForFailure("PUBLISH") == "127.0.0.1:\(broker.port): no answer to PUBLISH within 1 s")
        #expect(run.end(within: .milliseconds(100)) == 10)
        #expect(run.acknowledged.all == [])
    }

    @Test func aBrokerThatFallsSilent() throws {
        let broker = try FakeBroker { wire, _, broker in
            broker.speak(wire) { topic, _ in
                // From here on it reads and says nothing.
                while !broker.isStopped, wire.isReadable(milliseconds: 20) ? wire.next() != nil : true {}
                return .close
            }
        }
        defer { broker.stop() }
        let run = try MQTTRun(broker.port) { settings, _ in
            (settings.keepaliveSeconds, settings.statusTopic) = (5, nil)
        }
        run.handler.handle(event(1))
        #expect(try run.waitForFailure("life") == "127.0.0.1:\(broker.port): no sign of life for 5 s")
        #expect(run.end(within: .milliseconds(100)) == 1)
    }

    @Test func theLastStateIsSentBeforeTheGoodbye() throws {
        let isReleased = Mutex(false)
        let seen = Mutex<[String]>([])
        let broker = try FakeBroker { wire, _, broker in
            var held: [UInt8] = []
            while !broker.isStopped {
                if isReleased.withLock({ $0 }), !held.isEmpty {
                    wire.send(PacketType.publishAnswer, held)
                    held = []
                }
                guard wire.isReadable(milliseconds: 20) else { continue }
                guard let packet = wire.next() else { return }
                if packet.type == PacketType.connect { wire.send(PacketType.connectAnswer, [0, 0]) }
                guard packet.type == PacketType.publish else { continue }
                let (topic, payload, number) = packet.publication
                seen.withLock { $0.append(topic.hasPrefix("events") ? topic : payload) }
                // It takes its time about the first state.
                if topic.hasPrefix("states"), !isReleased.withLock({ $0 }) {
                    held = number
                } else {
                    wire.send(PacketType.publishAnswer, number)
                }
            }
        }
        defer { broker.stop() }
        let run = try MQTTRun(broker.port)
        run.handler.handle(event(1, kind: .motionBegan))
        try waitUntil("the first state") { seen.withLock { $0.count == 3 } }
        run.handler.handle(event(2, kind: .motionEnded))
        try waitUntil("both events") { run.statistics.publishedCount == 2 }
        run.handler.end(within: .seconds(60))
        // It could say goodbye too early; that it does not cannot be waited for.
        usleep(100_000)
        isReleased.withLock { $0 = true }
        #expect(run.end() == 0)
        let last = seen.withLock { $0.suffix(2) }
        #expect(last.first?.contains(#""moved":"still""#) == true && last.last == "offline", "\(last)")
    }

    @Test func whenTheReplaysBrokerIsAwayTheRestIsGivenUp() throws {
        let folder = try TemporaryFolder(["log": ""])
        let descriptor = try Descriptor(path: folder.path + "/log", flags: O_RDWR)
        let log = LineWriter(descriptor: descriptor.raw)
        let port = try freePort()
        let asked = Mutex(0)
        let settings = MQTTSettings(host: "127.0.0.1", port: port, usesTLS: false, clientID: "replay")
        let plan = MQTTPublisher.plan(settings, MQTTPublisher.Topics(event: { _ in "events/all" }))
        let context = HandlerContext(
            name: "fleet", log: log,
            isCancelled: {
                asked.withLock { count in
                    count += 1
                    return count > 50
                }
            })
        let handler = try AwaitedHandler(plan, context)
        for event in motions(1...10) { handler.handle(event) }
        handler.finish()
        log.flush()
        var bytes = [UInt8](repeating: 0, count: 1000)
        let count = pread(descriptor.raw, &bytes, bytes.count, 0)
        #expect(
            String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
                == "fleet: 127.0.0.1:\(port): Connection refused\nfleet: 10 events were not published\n")
    }

    @Test func aBrokerThatSpeaksSomethingElse() throws {
        for (answer, part) in [
            (Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), "closed the connection before it answered"),
            ([0x20, 0x02, 0x00, 0x77], "code 119, which MQTT 3.1.1 does not have"),
            ([0x20, 0xFF, 0xFF, 0xFF, 0xFF, 0x01], "does not speak MQTT 3.1.1"),
            ([0x30, 0x00], "does not speak MQTT 3.1.1"),
            ([], "closed the connection before it answered"),
        ] as [([UInt8], String)] {
            let broker = try FakeBroker { wire, _, _ in
                _ = wire.next()
                wire.send(answer)
            }
            let run = try MQTTRun(broker.port)
            let reason = try run.waitForFailure("127.0.0.1")
            #expect(reason.hasSuffix(part), "\(answer)")
            run.end(within: .zero)
            broker.stop()
        }
    }

    @Test func rubbishAfterTheAnswer() throws {
        let broker = try FakeBroker { wire, index, broker in
            _ = wire.next()
            wire.send(PacketType.connectAnswer, [0, 0])
            guard index < 5 else { return broker.speak(wire) }
            var generator = SeededGenerator(seed: UInt64(index))
            wire.send((0..<200).map { _ in UInt8.random(in: 0...255, using: &generator) })
        }
        defer { broker.stop() }
        let run = try MQTTRun(broker.port)
        run.handler.deliver(deliveries(1...10))
        try waitUntil("the acknowledgements; told: \(run.reasons)") { run.acknowledged.all.count == 10 }
        #expect(run.end() == 0)
        #expect(run.acknowledged.all.sorted() == Array(1...10))
    }

    @Test(arguments: [false, true])
    func aBrokerThatClosesTheConnectionAfterEachPublish(acknowledges: Bool) throws {
        let seen = Mutex<[UInt64]>([])
        let broker = try FakeBroker { wire, _, broker in
            broker.speak(wire) { topic, payload in
                guard topic.hasPrefix("events/"), let number = try? Event(json: payload).sequence else { return .goOn }
                let isNew = seen.withLock { seen in
                    defer { seen.append(number) }
                    return !seen.contains(number)
                }
                // Without the acknowledgement the first time; then it takes it.
                if !acknowledges { return isNew ? .close : .goOn }
                return .goOn
            }
        }
        defer { broker.stop() }
        let run = try MQTTRun(broker.port)
        run.handler.deliver(deliveries(1...20))
        try waitUntil("the acknowledgements; told: \(run.reasons)") { run.acknowledged.all.count == 20 }
        #expect(run.end() == 0)
        #expect(run.acknowledged.all == Array(1...20))
        #expect(seen.withLock { $0 }.firstTimes == Array(1...20))
        #expect(run.reasons.allSatisfy { !$0.contains("is skipped") && !$0.contains("is ignored") })
        #expect(Set(run.reasons).count == run.reasons.count, "each reason is reported once: \(run.reasons)")
    }

    @Test func itsAnswersAreForPeople() throws {
        let answers = Mutex<UInt8>(1)
        let broker = try FakeBroker { wire, _, _ in
            _ = wire.next()
            wire.send(PacketType.connectAnswer, [0, answers.withLock { $0 }])
        }
        defer { broker.stop() }
        for (answer, part) in [
            (1, "the broker does not speak MQTT 3.1.1"), (2, "refused the client_id 'binnacle-fleet'"),
            (3, "says that it is not available"), (4, "refused a client without a user"),
            (5, "refused a client without a user"),
        ] as [(UInt8, String)] {
            answers.withLock { $0 = answer }
            let run = try MQTTRun(broker.port)
            #expect(try run.waitForFailure("127.0.0.1").contains(part))
        }
    }

    @Test(.enabled(if: Broker.program != nil, Broker.absence))
    func aWrongPassword() throws {
        let broker = try Broker("allow_anonymous false\npassword_file FOLDER/users", user: ("boat", "secret"))
        let folder = try TemporaryFolder(["right": "secret\n", "wrong": "guess\n"])
        for name in ["right", "wrong"] { chmod(folder.path + "/" + name, 0o600) }
        let wrong = try MQTTRun(broker.port) { settings, _ in
            (settings.user, settings.password) = ("boat", .file(folder.path + "/wrong"))
        }
        #expect(
            try wrong.waitForFailure("user")
                == "127.0.0.1:\(broker.port): the broker refused the password of user 'boat', or the user")
        try waitUntil("further attempts") { broker.log.components(separatedBy: "not authorised").count > 4 }
        #expect(wrong.reasons.count == 1)
        // The file is read again for each attempt.
        try folder.write("wrong", "secret\n")
        chmod(folder.path + "/wrong", 0o600)
        try wrong.waitUntilConnected()
        wrong.end()
        let right = try MQTTRun(broker.port) { settings, _ in
            (settings.user, settings.password) = ("boat", .file(folder.path + "/right"))
        }
        try right.waitUntilConnected()
        let nobody = try MQTTRun(broker.port, name: "nobody")
        #expect(try nobody.waitForFailure("user").hasSuffix("the broker refused a client without a user"))
    }

    @Test func aPasswordThatCannotBeRead() throws {
        let folder = try TemporaryFolder(["open": "secret\n", "empty": "\n", "binary": "a\0b"])
        try #require(mkfifo(folder.path + "/pipe", 0o600) == 0)
        for (name, part) in [
            ("open", "other users can read"), ("none", "No such file"), ("empty", "holds no password"),
            ("binary", "is no password"), ("pipe", "it is a pipe or a device"), (".", "it is a directory"),
        ] {
            chmod(folder.path + "/" + name, name == "open" ? 0o644 : 0o700)
            let run = try MQTTRun(1) { settings, _ in
                (settings.user, settings.password) = ("boat", .file(folder.path + "/" + name))
            }
            #expect(try run.waitForFailure(folder.path).contains(part))
        }
        let run = try MQTTRun(1) { settings, _ in
            (settings.user, settings.password) = ("boat", .credential("mqtt"))
        }
        #expect(try run.waitForFailure("credential").contains("CREDENTIALS_DIRECTORY"))
    }
}

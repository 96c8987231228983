import Binnacle
import EventSocket
import Foundation
import PlainText
import Synchronization
import TestSupport
import Testing

/// Samples at the socket: as they come, for each client from the same rings, with a count of what was not read in time.
@Suite struct SamplesSubscriptionTests {
    private static let lid = SampleOrigin(sensor: "lid", kind: .accelerometer)
    private static let turn = SampleOrigin(sensor: "lid", kind: .gyroscope)
    private static let base = SampleOrigin(sensor: "base", kind: .accelerometer)

    /// A server with three streams, and what was published of each.
    private final class Station {
        let test: TestServer
        private var ends: [SampleOrigin: Int] = [:]

        init() throws {
            test = try TestServer()
            test.server.offer([lid, turn, base])
        }

        func client(_ body: String = "") throws -> RawClient {
            let client = try test.client()
            try client.subscribe("\"kinds\":[],\"samples\":{\(body)}")
            return client
        }

        /// Publishes the next samples of a stream in one delivery; sample n has the stamp n ms and x = n.
        func publish(_ count: Int, of origin: SampleOrigin = lid) {
            let first = ends[origin] ?? 0
            ends[origin] = first + count
            let batch = SampleBatch(capacity: count)
            for number in first..<first + count {
                batch.append(timeNanoseconds: Int64(number) * 1_000_000, x: Float(number), y: -1.5, z: .nan)
            }
            test.server.publish(batch.columns, of: origin)
        }
    }

    private func next(_ client: RawClient) throws -> StreamedSamples {
        guard case .samples(let samples) = try client.message() else { throw CancellationError() }
        return samples
    }

    /// Reads until a sample's number, and counts; samples follow each other but for what is counted as lost.
    private func read(
        _ client: RawClient, through last: Int, of origin: SampleOrigin = lid
    ) throws -> (read: Int, lost: Int) {
        var (expected, count, lost) = (0, 0, 0)
        while expected <= last {
            let batch = try next(client)
            guard batch.origin == origin else { continue }
            expected += batch.lostCount
            lost += batch.lostCount
            for sample in batch.samples {
                try #require(Int(sample.x) == expected && sample.timeNanoseconds == Int64(expected) * 1_000_000)
                expected += 1
            }
            count += batch.samples.count
        }
        return (count, lost)
    }

    @Test func aLineHasColumnsAndWhatTheyAre() throws {
        let station = try Station()
        let client = try station.client(#""sensors":["lid"],"kinds":["accelerometer"]"#)
        station.publish(2)
        #expect(
            client.line()
                == #"{"samples":{"sensor":"lid","kind":"accelerometer","unit":"m/s²","frame":"device","raw":false,"lost":0,"#
                + #""time_ns":[0,1000000],"x":[0.0,1.0],"y":[-1.5,-1.5],"z":[null,null]}}"#)
    }

    @Test func onlyWhatIsChosenComesAndEventsBesides() throws {
        let station = try Station()
        let client = try station.test.client()
        try client.subscribe(#""samples":{"kinds":["gyroscope"],"raw":true}"#)
        station.publish(1)
        station.publish(1, of: Self.turn)
        station.publish(3, of: Self.turn.raw(true))
        let batch = try next(client)
        #expect(batch.origin == Self.turn.raw(true) && batch.samples.map(\.x) == [0, 1, 2])
        station.test.publish()
        #expect(try client.sequences(1) == [1])
    }

    /// Ten clients get every sample of a second at 1 kHz, in deliveries of 5, while one is stopped and one reads a byte at a time.
    @Test func tenClientsLoseNothingBesideTwoThatAreSlow() throws {
        let station = try Station()
        let clients = try (0..<10).map { _ in try station.client(#""sensors":["lid"]"#) }
        let stopped = try station.client()
        let slow = try station.client()
        let total = 20_000
        for first in stride(from: 0, to: total, by: 500) {
            for _ in 0..<100 { station.publish(5) }
            // The slow one takes a byte.
            slow.readByte()
            for client in clients {
                var count = 0
                while count < 500 {
                    let batch = try next(client)
                    try #require(batch.lostCount == 0)
                    for sample in batch.samples {
                        try #require(Int(sample.x) == first + count)
                        count += 1
                    }
                }
            }
        }
        // What they missed is counted, and what they read is the newest. One more delivery has what came after the others were read.
        station.publish(1)
        for client in [stopped, slow] {
            let (count, lost) = try read(client, through: total)
            #expect(lost > 0 && count + lost == total + 1)
        }
        let lost = station.test.server.statistics.subscribers.map(\.lostSamples)
        #expect(lost.count(where: { $0 > 0 }) == 2)
        station.publish(1)
        for client in clients + [stopped, slow] {
            var batch = try next(client)
            while batch.samples.last.map({ Int($0.x) }) != total + 1 { batch = try next(client) }
            #expect(batch.lostCount == 0)
        }
    }

    /// Deliveries that the server's thread cannot take in time are dropped where they wait, and counted like the others.
    @Test func aDeliveryLargerThanTheMemoryIsCounted() throws {
        let station = try Station()
        let client = try station.client()
        station.publish(30_000)
        let (count, lost) = try read(client, through: 29_999)
        #expect(count + lost == 30_000 && count <= 8192)
    }

    /// Samples are collected until the interval is over: a line has them together.
    @Test func anIntervalCollects() throws {
        let station = try Station()
        let client = try station.client(#""interval_s":1"#)
        for _ in 0..<50 { station.publish(1) }
        var (lines, count) = (0, 0)
        while count < 50 {
            count += try next(client).samples.count
            lines += 1
        }
        // The first may have left before the others came, and a busy machine may be late.
        #expect(lines < 50)
    }

    @Test func eventsAreNotHeldUpByAFloodOfSamples() throws {
        let station = try Station()
        let client = try station.test.client()
        try client.subscribe(#""samples":{}"#)
        for _ in 0..<20 { station.publish(2000) }
        station.test.publish()
        var isFound = false
        while !isFound { if case .event = try client.message() { isFound = true } }
    }

    @Test func whatIsMissingIsNamedWithWhatThereIs() throws {
        let station = try Station()
        let there = "there are lid (accelerometer, gyroscope), base (accelerometer)"
        let remedy = "a section such as [motion.NAME] names its sensor, or its own has `samples`"
        let faults = [
            (
                #""samples":{"sensors":["lit"]}"#,
                "no detector uses a sensor `lit`, and others are not read: \(there); \(remedy)"
            ),
            (
                #""samples":{"sensors":["base"],"kinds":["gyroscope"]}"#,
                "no sensor has the samples that were asked for: \(there)"
            ),
        ]
        for (body, message) in faults {
            let client = try station.test.client()
            client.send(line: "{\"subscribe\":{\(body)}}")
            #expect(try client.message() == .error(message: message, column: nil))
            #expect(client.line() == nil)
        }
        #expect(try station.test.client().subscribe(#""samples":{}"#).json.hasPrefix(#"{"subscribed""#))
    }

    @Test func aReloadAddsStreamsAndRefusesThoseThatAreGone() throws {
        let station = try Station()
        let all = try station.client()
        let named = try station.client(#""sensors":["base"]"#)
        let wrist = SampleOrigin(sensor: "wrist", kind: .accelerometer)
        station.publish(1)
        #expect(try next(all).samples.count == 1)
        station.test.server.offer([Self.lid, wrist])
        #expect(
            try named.message()
                == .error(
                    message: "the configuration has changed: "
                        + "no detector uses a sensor `base`, and others are not read: "
                        + "there are lid (accelerometer), wrist (accelerometer); "
                        + "a section such as [motion.NAME] names its sensor, or its own has `samples`",
                    column: nil))
        station.publish(2)
        station.publish(3, of: wrist)
        let batches = try (0..<2).map { _ in try next(all) }
        #expect(Set(batches.map(\.sensor)) == ["lid", "wrist"] && batches.allSatisfy { $0.lostCount == 0 })
    }

    /// The daemon takes samples only of streams that a client wants.
    @Test func streamsAreWantedWhileAClientSubscribes() throws {
        let station = try Station()
        let notes = station.test.notes
        do {
            let first = try station.client(#""sensors":["lid"]"#)
            let second = try station.client(#""sensors":["base"],"raw":true"#)
            try station.test.wait("both are wanted") { notes.samples.withLock { $0.last?.count } == 3 }
            withExtendedLifetime((first, second)) {}
        }
        try station.test.wait("none is wanted") { notes.samples.withLock { $0.last } == [] }
        #expect(
            notes.samples.withLock { $0 }.dropLast().contains([Self.lid, Self.turn, Self.base.raw(true)]))
    }

    /// Clients that are killed in the middle of a line, and others that send what they should not.
    @Test func clientsThatVanishAreForgotten() throws {
        let station = try Station()
        let good = try station.client()
        for number in 0..<40 {
            let client = try station.client()
            station.publish(1000)
            // A killed process closes its end with input that was not read, which resets the connection.
            if number.isMultiple(of: 2) { _ = client.line() }
        }
        for bytes in [#"{"subscribe":{"samples":{"sensors":["lid"]"#, String(repeating: "[", count: 1 << 20)] {
            let client = try station.test.client()
            client.send(Array(bytes.utf8))
        }
        try station.test.wait("they are gone") { station.test.server.statistics.connectionCount == 1 }
        station.publish(1)
        #expect(try read(good, through: 40_000).read > 0)
    }

    @Test func requestsAreReadAndRefused() throws {
        var request = SubscriptionRequest()
        request.filter.kinds = []
        var samples = SamplesRequest()
        samples.sensors = ["a", "\"b\""]
        samples.kinds = [.gyroscope, .magnetometer]
        samples.isRaw = true
        samples.intervalNanoseconds = 333_333_333
        request.samples = samples
        #expect(try SocketRequest(parsing: request.json.utf8) == .subscribe(request))
        let faults: [(String, Int, String)] = [
            (#"{"subscribe":{"samples":[]}}"#, 25, "an object"),
            (#"{"subscribe":{"samples":{"raw":1}}}"#, 32, "`raw` has to be true or false"),
            (#"{"subscribe":{"samples":{"interval_s":1.5}}}"#, 39, "from 0 to 1"),
            (#"{"subscribe":{"samples":{"interval_s":-1}}}"#, 39, "from 0 to 1"),
            (#"{"subscribe":{"samples":{"kinds":["gyro"]}}}"#, 35, "unknown kind of samples `gyro`"),
            (#"{"subscribe":{"samples":{"kind":[]}}}"#, 26, "did you mean `kinds`?"),
            (#"{"subscribe":{"samples":{"sensors":[]}}}"#, 36, "an array of names"),
            (#"{"subscribe":{"samples":{},"follow":false}}"#, 14, "`follow` has to be true"),
        ]
        for (text, column, message) in faults {
            let error = #expect(throws: SocketRequest.SyntaxError.self) { try SocketRequest(parsing: text.utf8) }
            #expect(error?.column == column && error?.message.contains(message) == true, "\(text): \(error as Any)")
        }
    }

    @Test(.timeLimit(.minutes(30))) func aSwiftClientGetsThem() async throws {
        let station = try Station()
        var subscription = SampleSubscription(path: station.test.path, sensors: ["base"])
        subscription.interval = .milliseconds(1)
        var iterator = subscription.makeAsyncIterator()
        let notes = station.test.notes
        let batch = SampleBatch(capacity: 4)
        for number in 1...3 { batch.append(timeNanoseconds: Int64(number), x: 0.1, y: 0, z: 9.81) }
        let (server, published) = (station.test.server, Transferred(batch))
        // A task would wait for the threads that other tests keep.
        Thread.detachNewThread {
            try? waitUntil("the subscription") { notes.samples.withLock { !$0.isEmpty } }
            server.publish(published.batch.columns, of: Self.base)
        }
        let samples = (1...3).map { Sample(timeNanoseconds: $0, x: 0.1, y: 0, z: 9.81) }
        #expect(try await iterator.next() == StreamedSamples(Self.base, samples: samples))
        var wrong = SampleSubscription(path: station.test.path, sensors: ["nose"]).makeAsyncIterator()
        await #expect(throws: EventSubscriptionError.self) { try await wrong.next() }
        withExtendedLifetime(station) {}
    }
}

/// A batch that one other thread reads.
private struct Transferred: @unchecked Sendable {
    let batch: SampleBatch

    init(_ batch: SampleBatch) {
        self.batch = batch
    }
}

import Binnacle
import EventSocket
import Foundation
import PlainText
import Synchronization
import TestSupport
import Testing

/// Live readings at the socket: at the interval that a client wants, and never more than one line behind.
@Suite struct ReadingsSubscriptionTests {
    private static let tenth: Int64 = 100_000_000

    /// Readings of one stream whose axis x was between two values.
    private func readings(
        _ number: Int64, x: ClosedRange<Float> = 0...1, sensors: [String] = ["lid"], interval: Int64 = tenth
    ) -> LiveValues {
        var readings = LiveValues(timeNanoseconds: number * interval, intervalNanoseconds: interval)
        readings.streams = sensors.map { sensor in
            var stream = LiveValues.Stream(sensor: sensor, kind: .accelerometer, isActive: true)
            stream.sampleCount = 10
            stream.x = LiveValues.Span(least: x.lowerBound, greatest: x.upperBound, last: x.lowerBound)
            return stream
        }
        return readings
    }

    private func next(_ client: RawClient) throws -> LiveValues {
        guard case .readings(let readings) = try client.message() else { throw CancellationError() }
        return readings
    }

    @Test func theyComeAtTheirIntervalAndAlone() throws {
        let server = try TestServer()
        let client = try server.client()
        try client.subscribe(#""kinds":[],"readings":{"interval_s":0.1}"#)
        server.publish()
        let sent = (1...5).map { readings($0) }
        for readings in sent {
            server.server.publish(readings)
            #expect(try next(client) == readings)
        }
    }

    @Test func eventsComeBetweenThem() throws {
        let server = try TestServer()
        let client = try server.client()
        try client.subscribe(#""readings":{}"#)
        server.publish()
        #expect(try client.sequences(1) == [1])
        server.server.publish(readings(1))
        _ = try next(client)
        server.publish()
        #expect(try client.sequences(1) == [2])
    }

    @Test func aLongerIntervalHasTheExtremesOfThoseInIt() throws {
        let server = try TestServer()
        let (slow, quick) = (try server.client(), try server.client())
        try slow.subscribe(#""kinds":[],"readings":{"interval_s":0.5}"#)
        try quick.subscribe(#""kinds":[],"readings":{"interval_s":0.1}"#)
        for number in Int64(1)...10 {
            server.server.publish(readings(number, x: number == 3 ? -7...9 : 0...1))
            _ = try next(quick)
        }
        let first = try next(slow)
        #expect(first.streams[0].x == LiveValues.Span(least: -7, greatest: 9, last: 0))
        #expect(first.streams[0].sampleCount == 50 && first.intervalNanoseconds == 5 * Self.tenth)
        #expect(first.skippedCount == 0)
        #expect(try next(slow).streams[0].x == LiveValues.Span(least: 0, greatest: 1, last: 0))
    }

    /// The interval that runs when a client joins is that of others, who want longer ones.
    @Test func anIntervalThatBeganBeforeTheSubscriptionIsLeftOut() throws {
        let server = try TestServer()
        let (slow, quick) = (try server.client(), try server.client())
        try slow.subscribe(#""kinds":[],"readings":{"interval_s":5}"#)
        try quick.subscribe(#""kinds":[],"readings":{"interval_s":0.1}"#)
        server.server.publish(readings(1, x: -7...9, interval: 50 * Self.tenth))
        #expect(try next(slow).streams[0].x?.greatest == 9)
        server.server.publish(readings(51))
        let first = try next(quick)
        #expect(first.streams[0].x?.greatest == 1 && first.skippedCount == 0)
    }

    /// A client that does not read gets no queue: what it reads later is what was on its way, and then one line that says
    /// how much it covers.
    @Test func oneThatReadsSlowlyIsToldHowManyItSkipped() throws {
        let server = try TestServer()
        let slow = try server.client()
        try slow.subscribe(#""kinds":[],"readings":{}"#)
        let quick = try server.client()
        try quick.subscribe(#""kinds":[],"readings":{}"#)
        let sensors = (0..<20).map { "sensor number \($0)" }
        let count: Int64 = 600
        for number in 1...count {
            server.server.publish(readings(number, x: number == 500 ? -7...9 : 0...1, sensors: sensors))
            #expect(try next(quick).skippedCount == 0)
        }
        var covered: Int64 = 0
        var skipped = 0
        var hasSpike = false
        var lines = 0
        // One more, so that the last line comes whenever the others were taken.
        server.server.publish(readings(count + 1, sensors: sensors))
        while covered < (count + 1) * Self.tenth {
            let readings = try next(slow)
            covered += readings.intervalNanoseconds
            skipped += readings.skippedCount
            lines += 1
            hasSpike = hasSpike || readings.streams[0].x?.greatest == 9
        }
        #expect(skipped > 0 && lines + skipped == Int(count) + 1)
        #expect(hasSpike)
    }

    /// Readings with detectors, each with a lane of a title.
    private func readings(_ number: Int64, lanes: KeyValuePairs<String, String>) -> LiveValues {
        var readings = readings(number)
        readings.detectors = lanes.map { name, title in
            var detector = LiveValues.Detector(name: name, kind: "motion", isRunning: true)
            detector.lanes = [Lane(title: title, unit: "g")]
            return detector
        }
        return readings
    }

    /// What is drawn of a detector is as long as half the rest of a line: a subscriber gets it first, and when it has changed.
    @Test func lanesComeFirstAndWhenTheyHaveChanged() throws {
        let server = try TestServer()
        var clients: [RawClient] = []
        func subscribe() throws {
            let client = try server.client()
            try client.subscribe(#""kinds":[],"readings":{}"#)
            clients.append(client)
        }
        var number: Int64 = 0
        /// Publishes, and gives the titles that come to each client.
        func titles(_ lanes: KeyValuePairs<String, String>) throws -> [[String?]] {
            number += 1
            server.server.publish(readings(number, lanes: lanes))
            return try clients.map { try next($0).detectors.map { $0.lanes?.first?.title } }
        }
        try subscribe()
        #expect(try titles(["a": "one", "b": "one"]) == [["one", "one"]])
        #expect(try titles(["a": "one", "b": "one"]) == [[nil, nil]])
        try subscribe()
        #expect(try titles(["a": "one", "b": "one"]) == [[nil, nil], ["one", "one"]])
        // As after a reload: another order, a change, and one more.
        #expect(try titles(["b": "two", "a": "one", "c": "one"]) == Array(repeating: ["two", nil, "one"], count: 2))
        #expect(try titles(["a": "one"]) == Array(repeating: [nil], count: 2))
        // One that was away comes with its lanes.
        #expect(try titles(["a": "one", "b": "two"]) == Array(repeating: [nil, "two"], count: 2))
    }

    /// Who asks gets each spectrum once, and the others none; the daemon makes them while one asks.
    @Test func spectraAreForThoseWhoAskForThem() throws {
        let server = try TestServer()
        let (plain, asking) = (try server.client(), try server.client())
        try plain.subscribe(#""kinds":[],"readings":{}"#)
        try asking.subscribe(#""kinds":[],"readings":{"spectrum":true}"#)
        #expect(server.notes.spectra.withLock { $0 } == [false, true])
        let band = #"{"name":"all","of":"all_g","unit":"g","from_hz":10,"to_hz":100,"scale":[1,1],"floor":null}"#
        for number in 1...3 {
            var sent = readings(Int64(number), lanes: ["a": "one"])
            let spectrum =
                #"{"time_ns":\#(number < 3 ? 1 : 2),"from_hz":0.5,"step_hz":1,"values":[0.25,0],"bands":[\#(band)]}"#
            sent.detectors[0].spectrum = LiveValues.Spectrum(try JSONReader.value(of: spectrum.utf8))
            #expect(sent.detectors[0].spectrum != nil)
            server.server.publish(sent)
            #expect(try next(plain).detectors[0].spectrum == nil)
            #expect(try next(asking).detectors[0].spectrum == (number == 2 ? nil : sent.detectors[0].spectrum))
        }
    }

    @Test func whatChangesIsNamed() throws {
        let server = try TestServer()
        #expect(try SocketConnection.change(DaemonChange(.reset, "walked"), path: server.path) == nil)
        #expect(try SocketConnection.change(DaemonChange(.disarm, "siren"), path: server.path) == "a full disk")
        let error = #expect(throws: EventSubscriptionError.self) {
            try SocketConnection.change(DaemonChange(.disarm, "other"), path: server.path)
        }
        #expect(error?.description.contains("no such name") == true)
    }

    @Test func onlyNamedSensorsAreSent() throws {
        let server = try TestServer()
        let client = try server.client()
        try client.subscribe(#""kinds":[],"readings":{"sensors":["base"]}"#)
        server.server.publish(readings(1, sensors: ["lid", "base"]))
        #expect(try next(client).streams.map(\.sensor) == ["base"])
    }

    @Test func theShortestIntervalIsAskedForAndNoneWithoutSubscribers() throws {
        let server = try TestServer()
        let notes = server.notes
        let client = try server.client()
        try client.subscribe()
        #expect(notes.intervals.withLock { $0 } == [])
        do {
            let slow = try server.client()
            try slow.subscribe(#""readings":{"interval_s":2}"#)
            do {
                let quick = try server.client()
                try quick.subscribe(#""readings":{"interval_s":0.25}"#)
            }
            try server.wait("the slow one is the quickest again") { notes.intervals.withLock { $0.count } == 3 }
        }
        try server.wait("nobody wants readings") { notes.intervals.withLock { $0.count } == 4 }
        #expect(notes.intervals.withLock { $0 } == [2_000_000_000, 250_000_000, 2_000_000_000, nil])
    }

    @Test func requestsAreReadAndRefused() throws {
        var request = SubscriptionRequest()
        request.readings = LiveValuesRequest()
        request.readings?.intervalNanoseconds = 333_333_333
        request.readings?.sensors = ["a", "\"b\""]
        request.readings?.hasSpectrum = true
        request.filter.kinds = []
        #expect(try SocketRequest(parsing: request.json.utf8) == .subscribe(request))
        for action in DaemonChange.Action.allCases {
            let change = SocketRequest.change(DaemonChange(action, "a \"b\""))
            #expect(try SocketRequest(parsing: change.json.utf8) == change)
        }
        let faults: [(String, Int, String)] = [
            (#"{"subscribe":{"readings":[]}}"#, 26, "an object"),
            (#"{"subscribe":{"readings":{"interval_s":0.029}}}"#, 40, "from 0.03 to 60"),
            (#"{"subscribe":{"readings":{"interval_s":1e400}}}"#, 40, "from 0.03 to 60"),
            (#"{"subscribe":{"readings":{"interval_s":"1"}}}"#, 40, "from 0.03 to 60"),
            (#"{"subscribe":{"readings":{"interval":1}}}"#, 27, "did you mean `interval_s`?"),
            (#"{"subscribe":{"readings":{"sensors":[]}}}"#, 37, "an array of names"),
            (#"{"subscribe":{"readings":{"spectrum":1}}}"#, 38, "true or false"),
            (#"{"reset":{}}"#, 10, "needs a `detector`"),
            (#"{"reset":{"detector":7}}"#, 22, "a string"),
            (#"{"reset":{"name":"a"}}"#, 11, "unknown key"),
            (#"{"arm":{"detector":"a"}}"#, 9, "unknown key"),
            (#"{"disarm":{}}"#, 11, "needs a `handler`"),
            (#"{"disarms":{}}"#, 2, "did you mean `disarm`?"),
        ]
        for (text, column, message) in faults {
            let error = #expect(throws: SocketRequest.SyntaxError.self) { try SocketRequest(parsing: text.utf8) }
            #expect(error?.column == column && error?.message.contains(message) == true, "\(text): \(error as Any)")
        }
    }

    @Test(.timeLimit(.minutes(30))) func aSwiftClientGetsThem() async throws {
        let test = try TestServer()
        // The second comes without lanes, which the client adds.
        let (sent, second) = (readings(1, lanes: ["a": "one"]), readings(2, lanes: ["a": "one"]))
        var subscription = EventSubscription(path: test.path, kinds: [])
        subscription.readingsInterval = .milliseconds(100)
        var iterator = subscription.makeAsyncIterator()
        let (notes, server) = (test.notes, test.server)
        // A task would wait for the threads that other tests keep.
        Thread.detachNewThread {
            try? waitUntil("the subscription") { notes.intervals.withLock { !$0.isEmpty } }
            server.publish(sent)
        }
        #expect(try await iterator.next() == .readings(sent))
        server.publish(second)
        #expect(try await iterator.next() == .readings(second))
        withExtendedLifetime(test) {}
    }
}

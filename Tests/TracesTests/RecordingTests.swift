import Binnacle
import BinnacleTesting
import Glibc
import TestSupport
import Testing
import Traces

@Suite struct RecordingTests {
    private func rows(_ arrivals: [Arrival], _ streams: [SampleStream]) throws -> [Substring] {
        let file = UnusedPath()
        try record(arrivals, streams, to: file)
        return try file.text().split(separator: "\n").dropFirst().map { $0 }
    }

    @Test(arguments: [1, 7, 4096], 1...6)
    func whatWasRecordedIsReadBackInTheSameOrder(capacity: Int, seed: Int) throws {
        let streams = makeStreams(Array(fourStreams.prefix(seed % 4 + 1)))
        let arrivals = randomArrivals(streams.count, seed: UInt64(seed))
        let file = UnusedPath()
        try record(arrivals, streams, capacity: capacity, to: file)
        for capacity in [1, 7, 4096] {
            let source = try TraceSource(paths: [file.path])
            #expect(source.streams.map(\.kind) == streams.map(\.kind))
            let collected = Collected(source, capacity: capacity)
            #expect(collected.arrivals == arrivals)
            #expect(collected.failures.isEmpty)
            #expect(source.repairs.counts.keys.allSatisfy { $0 == .repeated })
        }
    }

    @Test func theFileDoesNotDependOnTheDeliveries() throws {
        // Stamps that differ, because a row is not held open from one delivery to the next.
        let arrivals = (0..<300).map { Arrival($0 % 3, Int64($0 / 7 * 100 + $0)) }
        let texts = try [1, 7, 4096].map { capacity in
            let file = UnusedPath()
            try record(arrivals, makeStreams(Array(fourStreams.prefix(3))), capacity: capacity, to: file)
            return try file.text()
        }
        #expect(texts[0] == texts[1] && texts[1] == texts[2])
    }

    @Test func samplesOfOneStampShareARowWhereTheOrderAllowsIt() throws {
        let streams = makeStreams([("c", .magnetometer), ("a", .accelerometer)])
        #expect(try rows([Arrival(0, 5), Arrival(1, 5)], streams) == ["5,1,2,3,1,2,3"])
        // The compass came last.
        #expect(try rows([Arrival(1, 5), Arrival(0, 5)], streams) == ["5,,,,1,2,3", "5,1,2,3,,,"])
        // One stream twice.
        #expect(
            try rows([Arrival(0, 5), Arrival(0, 5), Arrival(1, 5), Arrival(1, 5)], streams)
                == ["5,1,2,3,,,", "5,1,2,3,1,2,3", "5,,,,1,2,3"])
    }

    @Test func streamsInAnotherOrderThanTheReadersKeepTheirOrderOfArrival() throws {
        let streams = makeStreams([("a", .accelerometer), ("c", .magnetometer)])
        let arrivals = [Arrival(0, 5), Arrival(1, 5), Arrival(0, 6), Arrival(1, 7), Arrival(0, 7)]
        let file = UnusedPath()
        try record(arrivals, streams, to: file)
        let source = try TraceSource(paths: [file.path])
        #expect(source.streams.map(\.sensor.name) == ["c", "a"])
        #expect(Collected(source).order.map { 1 - $0 } == arrivals.map(\.stream))
    }

    @Test func valuesAreShort() throws {
        let streams = makeStreams([("a", .accelerometer)])
        let values: [(Float, String)] = [
            (0, "0"), (-0.0, "-0"), (1, "1"), (0.1, "0.1"), (-9.80665, "-9.80665"), (1e-7, "1e-07"),
            (10_000_000, "10000000"), (16_777_216, "16777216"), (3.4e38, "3.4e+38"), (.nan, "nan"),
            (.signalingNaN, "nan"), (.infinity, "inf"), (-.infinity, "-inf"),
            (-.leastNormalMagnitude, "-1.1754944e-38"),
        ]
        for (value, text) in values {
            #expect(
                try rows([Arrival(0, .min, value, value, value)], streams).first
                    == "\(Int64.min),\(text),\(text),\(text)")
        }
    }

    @Test func valuesThatAreNoNumbersArePassedOverByTheReader() throws {
        let streams = makeStreams([("c", .magnetometer), ("a", .accelerometer)])
        let arrivals = [
            Arrival(0, 1), Arrival(1, 1, .nan, 2, 3), Arrival(0, 2, .infinity, 2, -.infinity), Arrival(1, 3),
        ]
        let file = UnusedPath()
        try record(arrivals, streams, to: file)
        let source = try TraceSource(paths: [file.path])
        #expect(Collected(source).arrivals == [arrivals[0], arrivals[3]])
        #expect(source.repairs.counts == [.notFinite: 2])
    }

    @Test func aPauseOfHoursTakesNoSampleWithIt() throws {
        // After a suspend one stream starts a little before the other one, and is heard of a little later.
        let hour: Int64 = 3_600_000_000_000
        let arrivals = [
            Arrival(1, 0), Arrival(0, 10), Arrival(1, hour), Arrival(0, hour - 10_000_000), Arrival(1, hour + 9),
        ]
        let file = UnusedPath()
        try record(arrivals, makeStreams([("c", .magnetometer), ("a", .accelerometer)]), to: file)
        let source = try TraceSource(paths: [file.path])
        #expect(Collected(source).arrivals == arrivals)
        #expect(source.repairs.isEmpty)
    }

    @Test func aRecordingThatWasKilledIsReadUpToItsLastWholeLine() throws {
        let streams = makeStreams([("c", .magnetometer), ("a", .accelerometer)])
        let arrivals = (0..<8).map { Arrival($0 % 2, Int64($0 * 1000), Float($0) * 0.1, -1.5e-5, 300) }
        let whole = UnusedPath()
        try record(arrivals, streams, to: whole)
        let bytes = try whole.bytes()
        let ends = bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
        for cut in ends[1]...bytes.count {
            let file = try TemporaryFile(Array(bytes[..<cut]))
            let source = try TraceSource(paths: [file.path])
            let collected = Collected(source)
            #expect(collected.arrivals == Array(arrivals.prefix(ends.filter { $0 <= cut }.count - 1)))
            #expect(collected.failures.isEmpty)
            #expect(source.repairs.counts == (ends.contains(cut) ? [:] : [.torn: 1]))
        }
    }

    @Test func whatWasFlushedIsThereAndWholeLinesOnly() throws {
        let file = UnusedPath()
        let streams = makeStreams([("a", .accelerometer)])
        let writer = try TraceWriter(path: file.path, streams: streams)
        #expect(try file.text() == "time_ns,a.ax_m_s2,a.ay_m_s2,a.az_m_s2\n")
        let delivery = SampleDelivery(streams: streams, capacity: 10_000)
        for index in 0..<10_000 { delivery.batches[0].append(timeNanoseconds: Int64(index), x: 0.125, y: -3, z: 9.8) }
        try writer.write(delivery)
        // Pieces of 64 KiB went out by themselves; the rest waits.
        let before = try file.bytes()
        #expect(before.count > 65_536 && before.last == UInt8(ascii: "\n"))
        try writer.flush()
        #expect(try file.bytes().filter { $0 == UInt8(ascii: "\n") }.count == 10_001)
    }
}

@Suite struct RecordingNameTests {
    @Test(
        arguments: [
            ("chassis", "chassis"), ("accel_3d", "accel_3d"), ("Gehäuse 2", "Gehäuse 2"), ("a.b.ax_g", "a.b.ax_g"),
            ("", "accelerometer"), ("   ", "accelerometer"), (" a ", "a"), ("a,b", "a_b"), ("a;b\tc", "a_b_c"),
            ("\"q\"", "_q_"), ("a\nb\r\n", "a_b__"), ("\u{1B}[2J", "__2J"), ("a=b|c", "a_b_c"), ("a.", "a."),
            ("\u{202E}evil", "_evil"), ("µ°²", "µ_²"), ("传感器", "传感器"), ("x\u{0600}", "x_"), ("x\u{0D4E}", "x_"),
            ("e\u{301}", "e\u{301}"), ("\u{301}e", "\u{301}e"), ("😀", "_"), ("#1", "_1"),
        ] as [(String, String)])
    func aNameIsReadBackAsItWasWritten(name: String, expected: String) throws {
        let file = UnusedPath()
        let streams = makeStreams([(name, .accelerometer)])
        let writer = try TraceWriter(path: file.path, streams: streams)
        let delivery = SampleDelivery(streams: streams, capacity: 1)
        delivery.batches[0].append(timeNanoseconds: 1, x: 1, y: 2, z: 3)
        try writer.write(delivery)
        try writer.flush()
        let source = try TraceSource(paths: [file.path])
        #expect(source.streams.map(\.sensor.name) == [expected])
        #expect(Collected(source).samples[0].count == 1)
        #expect(source.repairs.isEmpty)
        #expect(try TraceFile(path: file.path).notices.isEmpty)
    }

    @Test func sensorsOfOneNameStayDifferentAndOneSensorStaysOne() throws {
        let box = Sensor(name: "box")
        let streams = [
            SampleStream(sensor: box, kind: .magnetometer),
            SampleStream(sensor: Sensor(name: "b,x"), kind: .magnetometer),
            SampleStream(sensor: Sensor(name: "b;x"), kind: .accelerometer),
            SampleStream(sensor: box, kind: .accelerometer),
            SampleStream(sensor: Sensor(name: "box"), kind: .accelerometer),
        ]
        let file = UnusedPath()
        let writer = try TraceWriter(path: file.path, streams: streams)
        let delivery = SampleDelivery(streams: streams, capacity: 1)
        for batch in delivery.batches { batch.append(timeNanoseconds: 1, x: 1, y: 2, z: 3) }
        try writer.write(delivery)
        try writer.flush()
        let read = try TraceSource(paths: [file.path]).streams
        #expect(read.map(\.sensor.name) == ["box", "b_x", "b_x2", "box", "box2"])
        #expect(read.map(\.kind) == streams.map(\.kind))
        #expect(read[0].sensor === read[3].sensor)
    }

    @Test func longNamesAreCut() throws {
        let streams = makeStreams((0..<40).map { ("\(String(repeating: "长", count: 5000))\($0)", .accelerometer) })
        let file = UnusedPath()
        _ = try TraceWriter(path: file.path, streams: streams)
        #expect(try file.bytes().count < 40_000)
        let many = makeStreams((0..<2000).map { ("\($0)", .accelerometer) })
        let other = UnusedPath()
        let error = #expect(throws: TraceError.self) { try TraceWriter(path: other.path, streams: many) }
        #expect(error?.message.contains("record fewer") == true)
    }
}

@Suite struct RecordingFailureTests {
    private let streams = makeStreams([("a", .accelerometer)])

    @Test func aFileThatIsThereIsRefusedUnlessItMayBeReplaced() throws {
        let file = try TemporaryFile("precious\n")
        let error = #expect(throws: TraceError.self) { try TraceWriter(path: file.path, streams: streams) }
        #expect(error?.category == .cannotCreate)
        #expect(error?.description.hasPrefix("\(file.path): is there already") == true)
        #expect(error?.message.contains("choose another name") == true)
        #expect(try Table(file.path).names == ["precious"])
        _ = try TraceWriter(path: file.path, streams: streams, replacing: true)
        #expect(try Table(file.path).names.first == "time_ns")
    }

    @Test(arguments: [
        ("/nonexistent/x.csv", TraceError.Category.cannotCreate), ("/tmp", .cannotCreate), ("", .cannotCreate),
    ])
    func aFileThatCannotBeMadeIsNamed(path: String, category: TraceError.Category) {
        for replacing in [false, true] {
            let error = #expect(throws: TraceError.self) {
                try TraceWriter(path: path, streams: streams, replacing: replacing)
            }
            #expect(error?.category == category)
        }
    }

    @Test func aFullDeviceIsSaidAtOnce() throws {
        let error = #expect(throws: TraceError.self) {
            try TraceWriter(path: "/dev/full", streams: streams, replacing: true)
        }
        #expect(error?.category == .inputOutput)
        #expect(error?.description == "/dev/full: writing failed: No space left on device")
    }

    @Test func aFailureIsToldOnceAndTheSamplesGoOn() throws {
        let pipe = UnusedPath()
        try #require(mkfifo(pipe.path, 0o600) == 0)
        signal(SIGPIPE, SIG_IGN)
        let reader = open(pipe.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        try #require(reader >= 0)
        let writer = try TraceWriter(path: pipe.path, streams: streams, replacing: true)
        let arrivals = (0..<30_000).map { Arrival(0, Int64($0)) }
        let source = RecordingSource(ScriptedSource(arrivals, streams: streams), writer: writer)
        #expect(source.streams.map(\.id) == streams.map(\.id))
        close(reader)
        let delivery = SampleDelivery(streams: streams, capacity: 1000)
        var count = 0
        while !source.fill(delivery).isEnd {
            count += delivery.batches[0].count
            delivery.removeAll()
        }
        #expect(count == 30_000)
        let failure = try #require(source.failure)
        #expect(failure.category == .inputOutput && failure.path == pipe.path)
        #expect(failure.message == "writing failed: Broken pipe")
        #expect(writer.isReaderGone)
        // It was told when it happened.
        try writer.flush()
        try writer.write(delivery)
        #expect(writer.failure == failure)
    }

    /// The kernel says nothing where another program deletes the file, or empties it.
    @Test(arguments: [true, false]) func whatAnotherProgramTookIsAFailure(isDeleted: Bool) throws {
        let file = UnusedPath()
        let writer = try TraceWriter(path: file.path, streams: streams)
        let delivery = SampleDelivery(streams: streams, capacity: 1)
        delivery.batches[0].append(timeNanoseconds: 1, x: 1, y: 2, z: 3)
        try writer.write(delivery)
        try writer.flush()
        #expect((isDeleted ? unlink(file.path) : truncate(file.path, 10)) == 0)
        try writer.write(delivery)
        let error = #expect(throws: TraceError.self) { try writer.flush() }
        #expect(error?.message.hasPrefix(isDeleted ? "was deleted while" : "was made shorter while") == true)
        try writer.finish()
    }

    @Test func whoWritesIsToldOfTheFailureOnce() throws {
        let pipe = UnusedPath()
        try #require(mkfifo(pipe.path, 0o600) == 0)
        signal(SIGPIPE, SIG_IGN)
        let reader = open(pipe.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        let writer = try TraceWriter(path: pipe.path, streams: streams, replacing: true)
        close(reader)
        let delivery = SampleDelivery(streams: streams, capacity: 1)
        delivery.batches[0].append(timeNanoseconds: 1, x: 1, y: 2, z: 3)
        try writer.write(delivery)
        #expect(throws: TraceError.self) { try writer.flush() }
        try writer.write(delivery)
        try writer.flush()
    }
}

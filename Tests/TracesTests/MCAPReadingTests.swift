import Binnacle
import Glibc
import TestSupport
import Testing
import Traces

/// MCAP files as robots' recorders write them, and as none does.
///
/// `scripts/check rosbag` has files of mcap and rosbags.
@Suite struct MCAPReadingTests {
    private typealias Record = MCAPWriter.Record

    /// What a reading gives: each stream's name, kind and samples, and what was said.
    private struct Outcome {
        var streams: [String: [Sample]] = [:]
        var failures: [String] = []
        var repairs: [String: Int] = [:]
        var notices: [String] = []
    }

    private func read(_ bytes: [UInt8], map: String? = nil) throws -> Outcome {
        let file = try TemporaryFile(bytes)
        return try withExtendedLifetime(file) { try read(file.path, map: map) }
    }

    private func read(_ path: String, map: String? = nil) throws -> Outcome {
        let file = try TraceFile(path: path, hints: TraceHints(map: map.map { try ColumnMap([$0]) }))
        let source = TraceSource(file)
        let collected = Collected(source, capacity: 64)
        var outcome = Outcome(
            failures: collected.failures.map { "\($0)" }, repairs: source.repairs.skippedCounts,
            notices: file.notices.map(\.message))
        for (stream, samples) in zip(source.streams, collected.samples) {
            outcome.streams["\(stream.sensor.name) \(stream.kind)"] = samples
        }
        return outcome
    }

    private func refusal(_ bytes: [UInt8]) throws -> String {
        try #require(throws: TraceError.self) { try read(bytes) }.description
    }

    private func imu(_ count: Int, topic: UInt16 = 1, form: MCAPWriter.Form = .little) -> [[UInt8]] {
        (0..<count).map { index in
            let time = Int64(index) * 10_000_000 + 1_000_000_000
            return Record.message(
                topic, log: time + 3,
                MCAPWriter.imu(time, frame: "imu", turn: [0.1, 0.2, Double(index) / 8], form: form))
        }
    }

    // MARK: - Recordings of ours

    @Test(arguments: 1...4) func aRecordingOfOursComesBackBitForBit(streamCount: Int) throws {
        let streams = makeStreams(Array(fourStreams.prefix(streamCount)))
        let file = UnusedPath("recording.mcap")
        let values: [Float] = [0, -0.0, .leastNonzeroMagnitude, 1e7, -9_999_999, 0.1, 48.3, 1 / 3, -1e-30]
        let arrivals = (0..<9000).map { index in
            Arrival(
                index % streamCount, Int64(index / streamCount) * 1_000_000 + Int64(index % 3), values[index % 9],
                values[(index + 4) % 9],
                values[(index + 7) % 9])
        }
        try record(arrivals, streams, capacity: 50, flushed: 7, to: file)
        let whole = try TraceReading(file.path)
        #expect(whole.failures.isEmpty && whole.repairs.isEmpty)
        let csv = UnusedPath("recording.csv")
        try record(arrivals, streams, capacity: 50, flushed: 7, to: csv)
        // The same samples as the other formats have.
        #expect(whole.deliveries.joined().joined().count == arrivals.count)
        let readBack = try #require(try? TraceReading(csv.path))
        for stream in 0..<streamCount {
            let (ours, other) = (whole.deliveries.flatMap { $0[stream] }, readBack.deliveries.flatMap { $0[stream] })
            #expect(ours == other)
        }
        func contents(_ path: String) throws -> Set<String> {
            Set(try TraceFile(path: path).contents.map { "\($0.sensor ?? "") \($0.kind)" })
        }
        #expect(try contents(file.path) == contents(csv.path))
    }

    /// A gyroscope that begins long after its accelerometer, and one that never does.
    @Test func aRecordingOfOursHasAllItsStreams() throws {
        let box = Sensor(name: "box")
        let streams = [
            SampleStream(sensor: box, kind: .accelerometer), SampleStream(sensor: box, kind: .gyroscope),
            SampleStream(sensor: Sensor(name: "idle"), kind: .gyroscope),
        ]
        let arrivals = (0..<1000).map { Arrival(0, Int64($0) * 1000) } + [Arrival(1, 2_000_000)]
        let file = UnusedPath("recording.mcap")
        try record(arrivals, streams, to: file)
        let outcome = try read(file.path)
        #expect(
            outcome.streams.mapValues(\.count) == ["box accelerometer": 1000, "box gyroscope": 1])
        #expect(outcome.failures.isEmpty && outcome.repairs.isEmpty && outcome.notices.isEmpty)
    }

    // MARK: - Recordings of robots

    @Test(arguments: MCAPWriter.Form.allCases) func messagesAreReadInEachEncoding(form: MCAPWriter.Form) throws {
        for frame in ["", "a", "imu_l", "imu_link"] {
            let message = MCAPWriter.imu(
                -1_500_000_000, frame: frame, turn: [0.5, -0.25, 1e-3], acceleration: [9.5, 0.125, -2], form: form)
            let field = MCAPWriter.field(7, frame: frame, [2e-5, -3e-5, 4e-5], form: form)
            let outcome = try read(
                MCAPWriter.file(
                    [
                        Record.imuChannel(1, form), Record.fieldChannel(2, form), Record.message(1, log: 5, message),
                        Record.message(2, log: 5, field),
                    ]))
            let name = frame.isEmpty ? "imu" : frame
            #expect(
                outcome.streams == [
                    "\(name) accelerometer": [Sample(timeNanoseconds: -1_500_000_000, x: 9.5, y: 0.125, z: -2)],
                    "\(name) gyroscope": [Sample(timeNanoseconds: -1_500_000_000, x: 0.5, y: -0.25, z: 1e-3)],
                    "\(frame.isEmpty ? "mag" : frame) magnetometer": [Sample(timeNanoseconds: 7, x: 20, y: -30, z: 40)],
                ])
            #expect(outcome.failures.isEmpty && outcome.repairs.isEmpty && outcome.notices.isEmpty)
        }
    }

    /// REP 145's −1, and what drivers write instead.
    @Test func whatIsNotMeasuredIsNoSample() throws {
        let unknown = try read(
            MCAPWriter.file(
                [Record.imuChannel(1)]
                    + (0..<20).map {
                        Record.message(
                            1, log: $0, MCAPWriter.imu($0 + 1, frame: "a", turn: nil, acceleration: [0, 0, 9.8]))
                    }))
        #expect(unknown.streams.mapValues(\.count) == ["a accelerometer": 20])
        #expect(unknown.notices.isEmpty && unknown.repairs.isEmpty)
        let silent = try read(
            MCAPWriter.file(
                [Record.imuChannel(1)]
                    + (0..<20).map {
                        Record.message(1, log: $0, MCAPWriter.imu($0 + 1, frame: "a", turn: [.nan, .nan, .nan]))
                    }))
        #expect(silent.streams.mapValues(\.count) == ["a accelerometer": 20])
        #expect(silent.notices.count == 1 && silent.notices[0].contains("gyroscope has no number"))
        let broken = try read(
            MCAPWriter.file(
                [Record.imuChannel(1)]
                    + (0..<20).map {
                        Record.message(
                            1, log: $0,
                            MCAPWriter.imu($0 + 1, frame: "a", turn: [$0 == 7 ? .nan : 0, 1, $0 == 9 ? 1e30 : 0]))
                    }))
        #expect(broken.streams.mapValues(\.count) == ["a accelerometer": 20, "a gyroscope": 18])
        #expect(broken.repairs == ["not_finite": 1, "beyond_sensors": 1])
    }

    @Test func topicsOfOneFrameAreOneSensorAndOthersAreNamed() throws {
        let channels = [
            Record.channel(1, 1, "/imu/data"), Record.channel(2, 1, "/imu/data_raw"), Record.channel(3, 2, "/imu/mag"),
            Record.channel(4, 1, "/chassis/imu"),
        ]
        let messages = [(1, "imu_link"), (2, "imu_link"), (4, "")].map { topic, frame in
            Record.message(UInt16(topic), log: 1, MCAPWriter.imu(1, frame: frame))
        }
        let outcome = try read(
            MCAPWriter.file(
                channels + messages + [Record.message(3, log: 1, MCAPWriter.field(1, frame: "imu_link", [2e-5, 0, 0]))])
        )
        #expect(
            Set(outcome.streams.keys) == [
                "imu/data accelerometer", "imu/data gyroscope", "imu/data_raw accelerometer", "imu/data_raw gyroscope",
                "imu_link magnetometer", "chassis accelerometer", "chassis gyroscope",
            ])
    }

    @Test func severalFramesOfATopicAreSaid() throws {
        let messages = (1...20).map {
            Record.message(1, log: $0, MCAPWriter.imu($0, frame: $0 % 2 == 0 ? "left" : "right"))
        }
        let outcome = try read(MCAPWriter.file([Record.imuChannel(1)] + messages))
        #expect(outcome.notices.count == 1 && outcome.notices[0].contains("several frames, 'right', 'left'"))
    }

    /// Topics are logged at different distances behind their stamps, and one message, as latched ones do, much later.
    @Test func topicsAreMergedByTheirStamps() throws {
        var messages: [[UInt8]] = []
        for index in 0..<50 {
            let time = 20_000_000_000 + Int64(index) * 10_000_000
            messages.append(Record.message(1, log: time, MCAPWriter.imu(time, frame: "a")))
            if index > 3 {
                messages.append(
                    Record.message(2, log: time, MCAPWriter.field(time - 40_000_000, frame: "a", [2e-5, 0, 0])))
            }
        }
        messages.insert(Record.message(2, log: 20_000_000_000, MCAPWriter.field(5, frame: "a", [2e-5, 0, 0])), at: 0)
        let file = try TemporaryFile(MCAPWriter.file([Record.imuChannel(1), Record.fieldChannel(2)] + messages))
        let reading = try TraceReading(file.path)
        #expect(reading.failures.isEmpty && reading.repairs.isEmpty && reading.sampleCount == 147)
        let times = reading.deliveries.flatMap { $0.joined().map(\.sample.timeNanoseconds).sorted() }
        #expect(times == times.sorted())
    }

    @Test func messagesWithoutAStampHaveTheTimeOfTheLog() throws {
        let messages = (1...20).map { Record.message(1, log: $0 * 1000, MCAPWriter.imu(0, frame: "a")) }
        let outcome = try read(MCAPWriter.file([Record.imuChannel(1)] + messages))
        #expect(outcome.streams["a accelerometer"]?.map(\.timeNanoseconds) == (1...20).map { $0 * 1000 })
        #expect(outcome.notices.count == 1 && outcome.notices[0].contains("no stamp"))
        let late = (1...20).map { Record.message(1, log: $0 == 3 ? -1 : $0, MCAPWriter.imu(0, frame: "a")) }
        #expect(try read(MCAPWriter.file([Record.imuChannel(1)] + late)).repairs == ["beyond_time": 1])
    }

    @Test func otherUnitsAreSaidAndOtherSignsAsked() throws {
        func file(_ acceleration: [Double], _ field: [Double]) -> [UInt8] {
            MCAPWriter.file(
                [Record.imuChannel(1), Record.fieldChannel(2)]
                    + (1...30).flatMap { time in
                        [
                            Record.message(1, log: time, MCAPWriter.imu(time, frame: "a", acceleration: acceleration)),
                            Record.message(2, log: time, MCAPWriter.field(time, frame: "a", field)),
                        ]
                    })
        }
        let outcome = try read(file([0, 0, 1], [0.2, 0, 0.4]))
        #expect(outcome.streams["a accelerometer"]?.first?.z == Float(Units.standardGravity))
        #expect(outcome.streams["a magnetometer"]?.first?.x == 20)
        #expect(outcome.notices.map { $0.contains("taken as") } == [true, true])
        let free = try read(file([0.01, 0, 0.02], [2e-5, 0, 4e-5]))
        #expect(free.notices.count == 1 && free.notices[0].contains("gravity alone is 9.81"))
        let down = try read(file([0, 0, -9.81], [2e-5, 0, 4e-5]), map: "acceleration=gravity")
        #expect(down.streams["a accelerometer"]?.first?.z == 9.81)
    }

    /// What a message of a topic is that nothing describes cannot be said: it may be a sample.
    @Test func aMessageOfAnUnknownTopicIsDamage() throws {
        let records = [Record.imuChannel(1)] + imu(5) + [Record.message(7, log: 2_000_000_000, [0, 1, 0, 0])]
        let outcome = try read(MCAPWriter.file(records))
        #expect(outcome.streams["imu gyroscope"]?.count == 5)
        #expect(outcome.failures.contains { $0.contains("a message of topic 7, which is not described") }, "\(outcome)")
    }

    @Test func aFileWithoutSensorsNamesItsTopics() throws {
        let words = try refusal(
            MCAPWriter.file([
                Record.schema(5, "sensor_msgs/msg/Image"), Record.channel(1, 5, "/camera"),
                Record.channel(2, 1, "/imu", "json"),
            ]))
        #expect(
            words.contains("/camera (sensor_msgs/msg/Image)") && words.contains("/imu (sensor_msgs/msg/Imu as json)"))
        #expect(try refusal(MCAPWriter.file([])).contains("no topic"))
        #expect(try refusal(MCAPWriter.file([]).dropLast(1)).contains("its end, which is missing"))
        #expect(try refusal(MCAPWriter.file([Record.imuChannel(1)])).contains("no message of its topics (/imu)"))
    }

    // MARK: - Records

    @Test(arguments: ["", "zstd"]) func chunksAndRecordsThatAreNotKnown(compression: String) throws {
        let messages = imu(100)
        let unknown = MCAPWriter.record(0x7F, [1, 2, 3]) + MCAPWriter.record(0xF3, [])
        let lies =
            MCAPWriter.record(7, Array(repeating: 0xFF, count: 40))
            + MCAPWriter.record(8, Array(repeating: 0xFF, count: 90))
        var body = [Record.chunk([Record.imuChannel(1), unknown] + messages[..<40], compression), unknown, lies]
        body += messages[40..<50] + [Record.chunk(messages[50...], compression, checks: false)]
        let outcome = try read(MCAPWriter.file(body))
        let rates: [Float] = (0..<100).map { Float($0) / 8 }
        #expect(outcome.streams["imu gyroscope"]?.map(\.z) == rates)
        #expect(outcome.failures.isEmpty && outcome.repairs.isEmpty)
    }

    @Test func aListThatLiesIsNotBelieved() throws {
        let list = [Record.schema(1, "sensor_msgs/msg/Imu"), Record.channel(1, 1, "/imu")]
        let body =
            imu(300) + [
                Record.channel(9, 2, "/mag"), Record.message(9, log: 1, MCAPWriter.field(1, frame: "m", [2e-5, 0, 0])),
            ]
        let missing = try read(MCAPWriter.file([Record.imuChannel(1)] + body, summary: list))
        #expect(missing.streams["imu gyroscope"]?.count == 300)
        #expect(missing.failures.count == 1 && missing.failures[0].contains("topic /mag is not in the list"))
        let renamed = [list[0], Record.channel(1, 1, "/gyro")]
        #expect(
            try refusal(MCAPWriter.file([Record.imuChannel(1)] + imu(300), summary: renamed))
                .contains("topic /imu changes within the file"))
        // A writer may repeat the topics at the end without their schemas.
        #expect(
            try read(MCAPWriter.file([Record.imuChannel(1)] + imu(30), summary: [list[1]])).streams["imu gyroscope"]?
                .count == 30)
        // One that contradicts itself, and a footer that leads elsewhere.
        let torn = list + [Record.channel(1, 2, "/imu")]
        #expect(
            try read(MCAPWriter.file([Record.imuChannel(1)] + imu(30), summary: torn)).streams["imu gyroscope"]?.count
                == 30)
        for start in [1, 8, 1 << 40, UInt64.max] {
            let bytes = MCAPWriter.file([Record.imuChannel(1)] + imu(30), summary: list, summaryStart: start)
            #expect(try read(bytes).streams["imu gyroscope"]?.count == 30)
        }
    }

    @Test func hostileChunksAreRefused() throws {
        let messages = [Record.imuChannel(1)] + imu(20)
        func words(_ chunk: [UInt8]) throws -> String { try refusal(MCAPWriter.file([chunk])) }
        #expect(
            try words(Record.chunk(messages, "lz4")).contains(
                "lz4, and only zstd is read: unpack them first (mcap decompress)"))
        #expect(try words(Record.chunk(messages, "zstd", states: 1 << 60)).contains("no more than 32 MiB"))
        #expect(try words(Record.chunk(messages, "zstd", states: 100)).contains("longer than it states"))
        #expect(try words(Record.chunk(messages, "zstd", states: 100_000)).contains("shorter than it states"))
        #expect(try words(Record.chunk(messages, "", states: 100)).contains("another size"))
        #expect(try words(Record.chunk([Record.chunk(messages, "")], "")).contains("a chunk within a chunk"))
        let cut = try read(MCAPWriter.file([Record.chunk(messages + [[5, 255, 255]], "")]))
        #expect(cut.streams["imu gyroscope"]?.count == 20 && cut.failures.count == 1)
        #expect(cut.failures[0].contains("ends within a record"))
        // Each block of four bytes is 128 KiB: a chunk stays within its bound, and so do all of them together.
        let bombs = Array(repeating: MCAPWriter.bomb(blockCount: 240), count: 48)
        let outcome = try read(MCAPWriter.file([Record.chunk(messages, "")] + bombs))
        #expect(
            outcome.failures.count == 1 && outcome.failures[0].contains("unpacks to more than"), "\(outcome.failures)")
    }

    /// The reader of each topic unpacks what lies before its messages, and holds its own chunk.
    @Test func topicsInChunksOfTheirOwnAreBoundedTogether() throws {
        let topics = (1...20).map { (number: UInt16) in Record.channel(number, 1, "/imu\(number)") }
        let chunks = (1...20).map { (number: UInt16) in
            let message = MCAPWriter.imu(Int64(number), frame: "imu")
            return MCAPWriter.bomb(Record.message(number, log: Int64(number), message), blockCount: 240)
        }
        // A larger file may unpack more.
        let rest = MCAPWriter.record(0x7F, Array(repeating: 0, count: TestForm.count(0, long: 6 << 20)))
        let outcome = try read(MCAPWriter.file(topics + chunks + [rest]))
        let words = TestForm.isLong ? "of more than 512 MiB in all: 'mcap sort'" : "unpacks to more than"
        #expect(outcome.failures.contains { $0.contains(words) }, "\(outcome.failures)")
    }

    /// With the checksum of each chunk no value changes unseen.
    @Test func aDamagedByteIsToldOrChangesNothing() throws {
        let bytes = MCAPWriter.file([Record.chunk([Record.imuChannel(1)] + imu(2), "")])
        let whole = try read(bytes).streams
        var (told, unchanged) = (0, 0)
        for place in bytes.indices {
            for value in [bytes[place] ^ 1, 0, 0xFF] where value != bytes[place] {
                var damaged = bytes
                damaged[place] = value
                guard let outcome = try? read(damaged), outcome.failures.isEmpty, outcome.repairs.isEmpty else {
                    told += 1
                    continue
                }
                unchanged += 1
                #expect(outcome.streams == whole, "byte \(place)")
            }
        }
        #expect(told > 1000 && unchanged > 100, "\(told) \(unchanged)")
    }

    @Test func everyBeginningIsReadUpToItsLastWholeRecord() throws {
        let chunks = stride(from: 0, to: 30, by: 10).map { Record.chunk(Array(imu(30)[$0..<$0 + 10]), "") }
        let bytes = MCAPWriter.file([Record.imuChannel(1)] + chunks)
        let start = MCAPWriter.file([Record.imuChannel(1)]).count - MCAPWriter.tailCount
        for cut in 8..<bytes.count {
            let whole = max(0, min(3, (cut - start) / chunks[0].count))
            guard whole > 0 else {
                #expect(throws: TraceError.self, "\(cut)") { try read(Array(bytes[..<cut])) }
                continue
            }
            let outcome = try read(Array(bytes[..<cut]))
            #expect(outcome.failures.isEmpty && outcome.streams["imu gyroscope"]?.count == whole * 10, "\(cut)")
            #expect(outcome.repairs == ["torn": 1], "\(cut)")
        }
        let zeros = try read(bytes.dropLast(MCAPWriter.tailCount) + Array(repeating: 0, count: 5000))
        #expect(zeros.repairs == ["torn": 1] && zeros.streams["imu gyroscope"]?.count == 30)
        let twice = try read(bytes + bytes)
        #expect(twice.failures.count == 1 && twice.failures[0].contains("were files put together?"))
    }

    @Test func aFileThatShrinksEndsWithAnError() throws {
        let file = try TemporaryFile(MCAPWriter.file([Record.imuChannel(1)] + imu(5000)))
        let source = TraceSource(try TraceFile(path: file.path))
        let delivery = SampleDelivery(streams: source.streams, capacity: 64)
        #expect(!source.fill(delivery).isEnd)
        #expect(truncateFile(file.path))
        var reason = ""
        while true {
            delivery.removeAll()
            let answer = source.fill(delivery)
            if case .failed(_, let error) = answer { reason = "\(error)" }
            if answer.isEnd { break }
        }
        #expect(reason.contains("the file shrank"))
    }

    /// A file of a robot may have gigabytes, and no list of its topics.
    @Test func aStopEndsTheWalkOverTheFile() throws {
        let others = Array(repeating: MCAPWriter.record(0x7F, []), count: 1000)
        func open(_ records: [[UInt8]]) throws -> (looks: Int, file: Result<TraceFile, any Error>) {
            let file = try TemporaryFile(MCAPWriter.file(records))
            var looks = 0
            let isCancelled = {
                looks += 1
                return looks > 10
            }
            let opened = Result { try TraceFile(path: file.path, isCancelled: isCancelled) }
            return (looks, opened)
        }
        // While topics are looked for, and while messages of one that has none are.
        for records in [others + [Record.imuChannel(1)] + imu(5), [Record.imuChannel(1)] + others + imu(5)] {
            let (looks, file) = try open(records)
            #expect(looks < 20)
            #expect(throws: TraceError.self) { try file.get() }
        }
    }

    @Test func aMessageIsNeverReadBeyondItsEnd() throws {
        let message = MCAPWriter.imu(1_000_000_000, frame: "imu")
        for count in 0..<message.count {
            let short = Record.message(1, log: 1, Array(message[..<count]))
            let outcome = try read(MCAPWriter.file([Record.imuChannel(1)] + imu(5) + [short]))
            #expect(outcome.streams["imu gyroscope"]?.count == 5 && outcome.repairs == ["damaged": 1], "\(count)")
        }
        for encapsulation: UInt8 in [2, 3, 6, 7, 255] {
            let other = [0, encapsulation] + message[2...]
            let outcome = try read(
                MCAPWriter.file([Record.imuChannel(1)] + imu(5) + [Record.message(1, log: 1, other)]))
            #expect(outcome.repairs == ["damaged": 1])
        }
    }
}

import Binnacle
import Glibc
import TestSupport
import Testing
import Traces

/// Samples with the scans behind them, in deliveries as they are given.
private final class ScanSource: SampleSource {
    let streams: [SampleStream]
    private var deliveries: [Delivery]

    struct Delivery {
        var arrivals: [Arrival]
        /// The bytes of each sample's scan; none at all without a layout.
        var scans: [[UInt8]] = []
        var layout = ""
    }

    init(_ deliveries: [Delivery], streams: [SampleStream]) {
        self.deliveries = deliveries
        self.streams = streams
    }

    func fill(_ delivery: SampleDelivery) -> SampleAnswer {
        guard !deliveries.isEmpty else { return .ended }
        let next = deliveries.removeFirst()
        for arrival in next.arrivals { delivery.batches[arrival.stream].append(arrival.sample) }
        for scan in next.scans {
            scan.withUnsafeBytes { delivery.scans?.append($0, of: scan.count, layout: next.layout) }
        }
        return .samples
    }
}

/// Every byte of a scan is an axis; the layout says how many there are, and what is added to them.
private struct ByteDecoder: RecordedScanDecoder {
    let scanByteCount: Int
    let kinds: [SampleKind]
    let added: Float

    init?(_ layout: String) {
        let words = layout.split(separator: " ")
        guard words.count == 3, let count = Int(words[0]), count > 1, let added = Float(words[1]) else { return nil }
        scanByteCount = count
        self.added = added
        kinds = words[2] == "all" ? [.accelerometer, .magnetometer] : [.accelerometer]
    }

    func decode(
        _ kind: SampleKind, of scans: UnsafeRawPointer, count: Int, x: UnsafeMutablePointer<Float>,
        y: UnsafeMutablePointer<Float>, z: UnsafeMutablePointer<Float>
    ) {
        for index in 0..<count {
            let scan = scans + index * scanByteCount
            (x[index], y[index], z[index]) = (
                Float(scan.load(as: UInt8.self)) + added, Float(scan.load(fromByteOffset: 1, as: UInt8.self)),
                kind == .accelerometer ? 1 : 2
            )
        }
    }
}

@Suite struct ArrowScanTests {
    private let streams = makeStreams([("compass", .magnetometer), ("chassis", .accelerometer)])

    private func write(
        _ deliveries: [ScanSource.Delivery], to file: UnusedPath, streams: [SampleStream]? = nil,
        keepsScans: Bool = true
    ) throws {
        let streams = streams ?? self.streams
        var details = RecordingDetails()
        details.clock = "monotonic"
        details.devices = [nil, "the-bus/chip"]
        details.keepsScans = keepsScans
        let writer = try TraceWriter(path: file.path, streams: streams, details: details)
        let source = RecordingSource(ScanSource(deliveries, streams: streams), writer: writer)
        let delivery = SampleDelivery(streams: streams, capacity: 100)
        while !source.fill(delivery).isEnd { delivery.removeAll() }
        try writer.finish()
    }

    private func decoded(_ path: String, capacity: Int = 4096) throws -> Collected {
        let file = try TraceFile(path: path, makeDecoder: { ByteDecoder($0) })
        return Collected(
            TraceSource([(file, TraceSource.nameSensors(of: [file], given: [file.contents.map { _ in nil }])[0])]),
            capacity: capacity)
    }

    /// Two layouts, samples without a scan between them, and a device whose scans feed both streams.
    private var mixture: [ScanSource.Delivery] {
        [
            .init(
                arrivals: [Arrival(1, 10, 1), Arrival(1, 20, 2)], scans: [[7, 8, 9], [10, 11, 12]],
                layout: "3 100 accelerometer"),
            .init(arrivals: [Arrival(1, 30, 3)], scans: [[13, 14, 15]], layout: "3 100 accelerometer"),
            .init(arrivals: [Arrival(1, 40, 4)]),
            .init(arrivals: [Arrival(0, 45, 5)]),
            .init(arrivals: [Arrival(1, 50, 6)], scans: [[20, 21]], layout: "2 200 all"),
            .init(arrivals: [Arrival(0, 60, 7), Arrival(1, 60, 8)], scans: [[30, 31]], layout: "2 200 all"),
        ]
    }

    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test(arguments: [1, 2, 4096])
    func whatIsDecodedAgainTakesThePlaceOfWhatWasRecorded(capacity: Int) throws {
        let file = UnusedPath("recording.arrows")
        try write(mixture, to: file)
        // Readers that do not ask for scans do not see them.
        let recorded = Collected(try TraceSource(paths: [file.path]), capacity: capacity)
        #expect(recorded.samples[0].map(\.x) == [5, 7])
        #expect(recorded.samples[1].map(\.x) == [1, 2, 3, 4, 6, 8])
        let again = try decoded(file.path, capacity: capacity)
        #expect(again.failures.isEmpty)
        #expect(again.order == recorded.order)
        #expect(again.samples[0].map(\.x) == [5, 230] && again.samples[0].last?.z == 2)
        #expect(again.samples[1].map(\.x) == [107, 110, 113, 4, 220, 230] && again.samples[1].last?.z == 1)
        #expect(again.samples.map { $0.map(\.timeNanoseconds) } == recorded.samples.map { $0.map(\.timeNanoseconds) })
    }

    @Test func aBatchHasScansOfOneLayout() throws {
        let file = UnusedPath("recording.arrows")
        try write(mixture, to: file)
        let bytes = try file.bytes()
        // The scans lie one behind the other, as they came.
        #expect(bytes.contains([7, 8, 9, 10, 11, 12, 13, 14, 15]))
        #expect(bytes.contains([20, 21, 30, 31]) && bytes.contains(Self.bytes("2 200 all")))
        #expect(bytes.contains(Self.bytes("3 100 accelerometer")))
        #expect(bytes.contains(Self.bytes("binnacle.clock")) && bytes.contains(Self.bytes("binnacle.sensor.1.device")))
        #expect(bytes.contains(Self.bytes("the-bus/chip")) && !bytes.contains(Self.bytes("binnacle.sensor.0.device")))
        // Schema, three groups, of which the second and the third have batches of two streams, and the end.
        #expect(bytes.messages.count == 1 + 1 + 2 + 2 + 1)
    }

    @Test func scansThatNobodyAskedForAreNotKept() throws {
        let file = UnusedPath("recording.arrows")
        try write(mixture, to: file, keepsScans: false)
        #expect(!(try file.bytes()).contains(Self.bytes("binnacle.scan")))
        let error = try #require(throws: TraceError.self) { try decoded(file.path) }
        #expect(error.category == .data && error.message.contains("recorded without --scans"))
    }

    /// One delivery whose streams stand in another order than in the file goes sample by sample.
    @Test func streamsInAnotherOrderKeepTheirScans() throws {
        let streams = makeStreams([("a", .accelerometer), ("c", .magnetometer)])
        let file = UnusedPath("recording.arrows")
        let rows = (0..<10).flatMap { row in [Arrival(0, Int64(row), 0), Arrival(1, Int64(row), 0)] }
        try write(
            [
                .init(arrivals: rows, scans: (0..<10).map { [UInt8($0), 1] }, layout: "2 0 all"),
                .init(arrivals: [Arrival(0, 20, 77)]),
            ], to: file, streams: streams)
        let again = try decoded(file.path)
        let sent: [Float] = (0..<10).map { Float($0) }
        #expect(again.samples[0].map(\.x) == sent)
        #expect(again.samples[1].map(\.x) == sent + [77])
    }

    @Test func manyScansAreSeveralGroups() throws {
        let file = UnusedPath("recording.arrows")
        let scan = [UInt8](repeating: 3, count: 1 << 20)
        try write(
            (0..<40).map { .init(arrivals: [Arrival(1, $0)], scans: [scan], layout: "1048576 0 all") }, to: file)
        let again = try decoded(file.path)
        #expect(again.samples[1].count == 40 && again.samples[1].allSatisfy { $0.x == 3 })
        #expect(try file.bytes().messages.count > 4)
    }

    // MARK: - Damage

    private func error(_ bytes: [UInt8]) throws -> String {
        let file = try TemporaryFile(bytes)
        // Without the scans the recording is as good as ever.
        #expect(Collected(try TraceSource(paths: [file.path])).failures.isEmpty)
        do {
            return try #require(try decoded(file.path).failures.first as? TraceError).description
        } catch let error as TraceError {
            #expect(error.category == .data)
            return error.description
        }
    }

    private func recorded(_ layout: String = "3 100 accelerometer") throws -> [UInt8] {
        let file = UnusedPath("recording.arrows")
        try write(
            [.init(arrivals: [Arrival(1, 10), Arrival(1, 20)], scans: [[7, 8, 9], [10, 11, 12]], layout: layout)],
            to: file)
        return try file.bytes()
    }

    @Test func aLayoutThatCannotBeReadIsAnError() throws {
        let text = try error(recorded().replacing("3 100 acc", with: "3 x00 acc"))
        #expect(text.contains("message at byte ") && text.contains("'3 x00 accelerometer'"))
        #expect(try error(recorded().replacing("binnacle.scan", with: "somebody.scan")).contains("binnacle.scan"))
        #expect(try error(recorded().replacing("3 100 acc", with: "4 100 acc")).contains("row 1 of its batch"))
    }

    @Test func aLayoutThatSaysNothingOfTheSensorsKindIsAnError() throws {
        let file = UnusedPath("recording.arrows")
        try write([.init(arrivals: [Arrival(0, 1)], scans: [[1, 2]], layout: "2 0 accelerometer")], to: file)
        #expect(try error(file.bytes()).contains("sensor 0 is of kind magnetometer"))
    }

    @Test func offsetsThatMakeNoSenseAreAnError() throws {
        let bytes = try recorded()
        let offsets = try #require(
            stride(from: 0, to: bytes.count - 12, by: 4).first {
                bytes.word($0) == 0 && bytes.word($0 + 4) == 3 && bytes.word($0 + 8) == 6
            })
        for (index, offset, message) in [
            (0, 0x8000_0000, "row 1 of its batch has a scan that lies nowhere"), (0, 4, "row 1 of its batch"),
            (1, 7, "row 1 of its batch"), (1, 2, "row 1 of its batch has a scan of 2 bytes"),
            (2, 7, "row 2 of its batch has a scan that lies nowhere"),
            (2, 5, "row 2 of its batch has a scan of 2 bytes"),
            (2, 0x7FFF_FFFF, "row 2 of its batch has a scan that lies nowhere"),
        ] as [(Int, UInt32, String)] {
            var damaged = bytes
            damaged.setWord(offsets + 4 * index, offset)
            #expect(try error(damaged).contains(message))
        }
    }

    @Test func aFileWithoutScansIsAnError() throws {
        let csv = try TemporaryFile("t_ns,ax_m_s2,ay_m_s2,az_m_s2\n1,1,0,9\n")
        #expect(try #require(throws: TraceError.self) { try decoded(csv.path) }.message.contains("record --scans"))
    }

    /// Whatever stands in the file: nothing outside is touched, and a run ends.
    @Test func randomDamageDoesNotKill() throws {
        let file = UnusedPath("recording.arrows")
        try write(mixture, to: file)
        let bytes = try file.bytes()
        var generator = SeededGenerator(seed: 31)
        var refusedCount = 0
        for _ in 0..<2000 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                damaged[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(
                    in: 0...255, using: &generator)
            }
            let copy = try TemporaryFile(damaged)
            do {
                let again = try decoded(copy.path)
                // A batch that claims more rows than it has bytes for is refused.
                #expect(again.samples.map(\.count).reduce(0, +) <= bytes.count)
                #expect(again.failures.allSatisfy { ($0 as? TraceError)?.category == .data }, "\(again.failures)")
                if !again.failures.isEmpty { refusedCount += 1 }
            } catch {
                #expect((error as? TraceError)?.category == .data, "\(error)")
                refusedCount += 1
            }
        }
        // Most of the file is values, of which each is as good as any other, and padding.
        #expect((1..<2000).contains(refusedCount))
    }
}

import Binnacle
import Glibc
import TestSupport
import Testing
import Traces

@Suite struct ArrowRecordingTests {
    @Test(arguments: [1, 7, 4096], 1...8)
    func whatWasRecordedIsReadBackInTheSameOrder(capacity: Int, seed: Int) throws {
        let streams = makeStreams(Array(fourStreams.prefix(seed % 4 + 1)))
        let arrivals = randomArrivals(streams.count, seed: UInt64(seed))
        let file = UnusedPath("recording.arrows")
        try record(arrivals, streams, capacity: capacity, flushed: seed > 4 ? 3 : nil, to: file)
        for capacity in [1, 7, 4096, 65_536] {
            let source = try TraceSource(paths: [file.path])
            #expect(source.streams.map(\.kind) == streams.map(\.kind))
            let collected = Collected(source, capacity: capacity)
            let isSame = collected.arrivals == arrivals
            #expect(isSame)
            #expect(collected.failures.isEmpty)
            #expect(source.repairs.counts.keys.allSatisfy { $0 == .repeated })
            #expect(source.isMapped)
        }
    }

    @Test(arguments: [(1, 200_000), (3, 300_000)])
    func longRecordingsHaveSeveralBatches(streamCount: Int, count: Int) throws {
        let streams = makeStreams(Array(fourStreams.suffix(streamCount)))
        let arrivals = steadyArrivals(streamCount, count: count)
        let file = UnusedPath("recording.arrows")
        try record(arrivals, streams, to: file)
        #expect(try file.bytes().messages.count > 4)
        for capacity in [1000, 65_536] {
            let source = try TraceSource(paths: [file.path])
            let collected = Collected(source, capacity: capacity)
            let isSame = collected.arrivals == arrivals
            #expect(isSame)
            #expect(source.repairs.isEmpty)
        }
    }

    @Test func streamsInAnotherOrderThanTheReadersKeepTheirOrderOfArrival() throws {
        let streams = makeStreams([("a", .accelerometer), ("c", .magnetometer)])
        let arrivals = [Arrival(0, 5), Arrival(1, 5), Arrival(0, 6), Arrival(1, 7), Arrival(0, 7)]
        let file = UnusedPath("recording.arrows")
        try record(arrivals, streams, to: file)
        let source = try TraceSource(paths: [file.path])
        #expect(source.streams.map(\.sensor.name) == ["c", "a"])
        #expect(Collected(source).order.map { 1 - $0 } == arrivals.map(\.stream))
    }

    @Test func samplesThatComeLateKeepTheirPlace() throws {
        // A buffer with a watermark of sixteen, and a magnetometer that is polled: what comes late is older.
        let streams = makeStreams([("c", .magnetometer), ("a", .accelerometer)])
        var arrivals: [Arrival] = []
        for block in 0..<50 {
            for row in 0..<16 { arrivals.append(Arrival(0, Int64(block * 16 + row) * 10_000_000, Float(row))) }
            for row in 0..<16 { arrivals.append(Arrival(1, Int64(block * 16 + row) * 10_000_000 + 1, Float(row))) }
        }
        let file = UnusedPath("recording.arrows")
        try record(arrivals, streams, to: file)
        for capacity in [1, 5, 4096] {
            #expect(Collected(try TraceSource(paths: [file.path]), capacity: capacity).arrivals == arrivals)
        }
    }

    @Test func theFileDoesNotDependOnTheDeliveries() throws {
        let arrivals = (0..<300).map { Arrival($0 % 3, Int64($0 / 7 * 100 + $0)) }
        let streams = makeStreams(Array(fourStreams.prefix(3)))
        let files = try [1, 7, 4096].map { try arrowBytes(arrivals, streams, capacity: $0) }
        #expect(files[0] == files[1] && files[1] == files[2])
    }

    @Test func whatWasFlushedIsThere() throws {
        let file = UnusedPath("recording.arrows")
        let streams = makeStreams([("a", .accelerometer)])
        let writer = try TraceWriter(path: file.path, streams: streams)
        let delivery = SampleDelivery(streams: streams, capacity: 10)
        for round in 1...5 {
            delivery.removeAll()
            for row in 0..<10 {
                delivery.batches[0].append(timeNanoseconds: Int64(round * 10 + row), x: 0, y: 1, z: 2)
            }
            try writer.write(delivery)
            try writer.flush()
            let source = try TraceSource(paths: [file.path])
            #expect(Collected(source).samples[0].count == 10 * round)
            // Its end is not written yet, which is no damage.
            #expect(source.repairs.isEmpty)
        }
        try writer.finish()
        #expect(try file.bytes().suffix(8) == [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0])
        #expect(Collected(try TraceSource(paths: [file.path])).samples[0].count == 50)
    }

    @Test func aRecordingThatGrowsIsReadAsItWasWhenItWasOpened() throws {
        let file = UnusedPath("recording.arrows")
        let streams = makeStreams([("a", .accelerometer)])
        let writer = try TraceWriter(path: file.path, streams: streams)
        let delivery = SampleDelivery(streams: streams, capacity: 10)
        delivery.batches[0].append(timeNanoseconds: 1, x: 0, y: 1, z: 2)
        try writer.write(delivery)
        try writer.flush()
        let source = try TraceSource(paths: [file.path])
        delivery.removeAll()
        delivery.batches[0].append(timeNanoseconds: 2, x: 0, y: 1, z: 2)
        try writer.write(delivery)
        try writer.finish()
        let collected = Collected(source)
        #expect(collected.samples[0].map(\.timeNanoseconds) == [1])
        #expect(collected.failures.isEmpty && source.repairs.isEmpty)
    }

    @Test func theColumnsOfTheFileAreHandedOutThemselves() throws {
        let file = UnusedPath("recording.arrows")
        try record(steadyArrivals(1, count: 100_000), makeStreams([("a", .accelerometer)]), to: file)
        let mapped: () throws -> [Range<UInt>] = {
            try Maps.ranges(of: file.path)
        }
        let source = try TraceSource(paths: [file.path])
        let delivery = SampleDelivery(streams: source.streams, capacity: 65_536)
        var count = 0
        while !source.fill(delivery).isEnd {
            let columns = delivery.batches[0].columns
            count += columns.count
            for axis in [columns.x, columns.y, columns.z] where columns.count > 0 {
                let ranges = try mapped()
                #expect(ranges.contains { $0.contains(UInt(bitPattern: axis)) })
                // Whole cache lines: what a kernel loads at once lies in one.
                #expect(UInt(bitPattern: axis) % 64 == 0)
            }
            delivery.removeAll()
        }
        #expect(count == 100_000)
    }

    @Test func whatIsBorrowedStaysWhenTheSourceIsGone() throws {
        let file = UnusedPath("recording.arrows")
        try record(steadyArrivals(1, count: 100), makeStreams([("a", .accelerometer)]), to: file)
        func fill() throws -> SampleDelivery {
            let source = try TraceSource(paths: [file.path])
            let delivery = SampleDelivery(streams: source.streams, capacity: 100)
            _ = source.fill(delivery)
            return delivery
        }
        let delivery = try fill()
        #expect(delivery.batches[0].count == 100)
        #expect(delivery.batches[0][99].x == 99)
        #expect(try !Maps.ranges(of: file.path).isEmpty)
        delivery.removeAll()
        #expect(try Maps.ranges(of: file.path).isEmpty)
    }

    @Test(arguments: ["x.arrow", "x.feather", "x.parquet", "x.ipc", "x.arrows.zst", "x.csv.gz", "x.zip"])
    func aNameThatPromisesAnotherFormatIsRefused(name: String) {
        let file = UnusedPath(name)
        let error = #expect(throws: TraceError.self) {
            try TraceWriter(path: file.path, streams: makeStreams([("a", .accelerometer)]))
        }
        #expect(error?.message.contains(".arrows") == true)
        #expect(access(file.path, F_OK) != 0)
    }

    @Test func moreThanAByteCanCountIsRefused() {
        let file = UnusedPath("x.arrows")
        let streams = makeStreams((0..<257).map { ("\($0)", .accelerometer) })
        let error = #expect(throws: TraceError.self) { try TraceWriter(path: file.path, streams: streams) }
        #expect(error?.message.contains("record fewer") == true)
        #expect(access(file.path, F_OK) != 0)
    }

    @Test func asManyAsAByteCanCountAreRecorded() throws {
        let streams = makeStreams((0..<256).map { ("s\($0)", .accelerometer) })
        let arrivals = steadyArrivals(256, count: 2560)
        let file = UnusedPath("recording.arrows")
        try record(arrivals, streams, to: file)
        let source = try TraceSource(paths: [file.path])
        #expect(source.streams.map(\.sensor.name) == streams.map(\.sensor.name))
        #expect(Collected(source).arrivals == arrivals)
    }
}

/// The memory of this process.
enum Maps {
    /// Where a file is mapped.
    static func ranges(of path: String) throws -> [Range<UInt>] {
        let file = try #require(fopen("/proc/self/maps", "r"))
        defer { fclose(file) }
        var ranges: [Range<UInt>] = []
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        while getline(&line, &capacity, file) > 0, let line {
            let text = String(cString: line)
            guard text.contains(path), let end = text.firstIndex(of: " ") else { continue }
            let parts = text[..<end].split(separator: "-").compactMap { UInt($0, radix: 16) }
            ranges.append(parts[0]..<parts[1])
        }
        return ranges
    }
}

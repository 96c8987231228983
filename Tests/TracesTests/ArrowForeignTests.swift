import Binnacle
import Foundation
import Glibc
import TestSupport
import Testing
import Traces

/// Arrow streams that other programs have written or rewritten.
@Suite struct ArrowForeignTests {
    @Test(arguments: 1...4)
    func withoutGroupsStreamsAreMergedByTheirStamps(streamCount: Int) throws {
        let streams = makeStreams(Array(fourStreams.prefix(streamCount)))
        // Each stream rises by itself; batches of one come long before those of another.
        var random = SeededGenerator(seed: UInt64(streamCount))
        var arrivals: [Arrival] = []
        for stream in (0..<streamCount).reversed() {
            var time: Int64 = 0
            for index in 0..<5000 {
                time += Int64.random(in: 1...4, using: &random)
                arrivals.append(Arrival(stream, time, Float(index)))
            }
        }
        let file = try TemporaryFile(try arrowBytes(arrivals, streams, flushed: 1, capacity: 1000).withoutGroups)
        let sorted = arrivals.sorted { ($0.sample.timeNanoseconds, $0.stream) < ($1.sample.timeNanoseconds, $1.stream) }
        for capacity in [1, 100, 65_536] {
            let source = try TraceSource(paths: [file.path])
            let collected = Collected(source, capacity: capacity)
            #expect(source.streams.map(\.kind) == streams.map(\.kind))
            let isSame = collected.arrivals == sorted
            #expect(isSame)
            #expect(collected.failures.isEmpty && source.repairs.isEmpty)
        }
    }

    @Test func sensorsOfWhichNothingIsSaidAreAccelerometersAndANoticeSaysSo() throws {
        let streams = makeStreams(Array(fourStreams.prefix(2)))
        let arrivals = steadyArrivals(2, count: 100)
        let file = try TemporaryFile(try arrowBytes(arrivals, streams).withoutMetadata)
        let trace = try TraceFile(path: file.path)
        #expect(trace.contents.map(\.sensor) == ["sensor0", "sensor1"])
        #expect(trace.contents.map(\.kind) == [.accelerometer, .accelerometer])
        #expect(
            trace.notices.map(\.message).first
                == "sensor 0 is not described: taken as an accelerometer in m/s² (override with --bind SENSOR=FILE:KIND)"
        )
        #expect(trace.notices.count { $0.message.contains("is not described") } == 2)
        let said = try TraceFile(path: file.path, hints: TraceHints(assumedKind: .magnetometer))
        #expect(said.contents.map(\.kind) == [.magnetometer, .magnetometer])
        #expect(Collected(try TraceSource(paths: [file.path])).arrivals == arrivals)
    }

    @Test(arguments: [(24_000, true), (10_000_000, false)] as [(Int64, Bool)])
    func stampsThatNoSensorMakesAreReported(step: Int64, isReported: Bool) throws {
        let arrivals = (0..<100).map { Arrival(0, Int64($0) * step, 9.8) }
        let file = try TemporaryFile(try arrowBytes(arrivals, makeStreams([("a", .accelerometer)])).withoutMetadata)
        let notices = try TraceFile(path: file.path).notices.map(\.message)
        #expect(notices.contains { $0.contains("24.0 µs between samples (41667") } == isReported, "\(notices)")
    }

    /// The bytes of a stream whose rows belong to the sensors that a function says, all in one batch.
    private func mixed(_ count: Int, _ sensor: (Int) -> UInt8) throws -> [UInt8] {
        var bytes = try arrowBytes(steadyArrivals(1, count: count), makeStreams([("a", .accelerometer)]))
            .withoutMetadata
        let body = bytes.messages[1].bodyStart
        #expect(bytes[body..<body + count].allSatisfy { $0 == 0 })
        for row in 0..<count { bytes[body + row] = sensor(row) }
        return bytes
    }

    @Test(arguments: [100, 3000, 65_000])
    func batchesOfSeveralSensorsAreTakenApart(count: Int) throws {
        let sensors: [UInt8] = [7, 255, 63, 64]
        let file = try TemporaryFile(try mixed(count) { sensors[$0 * $0 % 4] })
        for capacity in [7, 65_536] {
            let source = try TraceSource(paths: [file.path])
            #expect(source.streams.map(\.sensor.name) == ["sensor7", "sensor255"])
            let collected = Collected(source, capacity: capacity)
            let times: [Int64] = stride(from: 0, to: count, by: 2).map { (row: Int) in Int64(row) * 1_000_000 }
            #expect(collected.samples[0].map(\.timeNanoseconds) == times)
            let values: [Float] = stride(from: 1, to: count, by: 2).map { (row: Int) in Float(row) }
            #expect(collected.samples[1].map(\.x) == values)
            #expect(collected.failures.isEmpty && source.repairs.isEmpty)
        }
    }

    @Test func placesInAMixedBatchAreRowsOfTheFile() throws {
        var bytes = try mixed(100) { UInt8($0 % 2) }
        // Row 51, the last axis.
        let times = bytes.messages[1].bodyStart + 128
        let z = times + 832 + 2 * 448
        bytes.setWord(z + 4 * 50, Float.nan.bitPattern)
        let file = try TemporaryFile(bytes)
        let source = try TraceSource(paths: [file.path])
        #expect(Collected(source).samples.map(\.count) == [49, 50])
        #expect(source.repairs.counts == [.notFinite: 1])
        #expect(source.repairs.notices.map(\.description) == ["\(file.path):51: not a finite number"])
    }

    @Test func longNamesAreCutInMessages() throws {
        let name = String(repeating: "long", count: 4000)
        let bytes = try arrowBytes(steadyArrivals(1, count: 100), makeStreams([(name, .accelerometer)]))
        for key in ["kind", "unit"] {
            let file = try TemporaryFile(
                bytes.replacing(".0.\(key)", with: ".0.else").replacing(".0.name", with: ".0.\(key)"))
            let error = #expect(throws: TraceError.self) { _ = try TraceFile(path: file.path) }
            #expect(error.map { $0.message.contains("'longlong") && $0.message.utf8.count < 300 } == true, "\(key)")
        }
    }

    @Test func unitsAndScalesAreApplied() throws {
        let streams = makeStreams([("c", .magnetometer), ("a", .accelerometer)])
        let arrivals = [Arrival(0, 1, 1.5, -2, 0), Arrival(1, 2, 1, 0.1, -3), Arrival(0, 3), Arrival(1, 4)]
        // Texts of the same length: µT as nT, m/s² as g, written with blanks.
        let bytes = try arrowBytes(arrivals, streams).replacing("uT", with: "nT").replacing("m/s2", with: "g   ")
        let file = try TemporaryFile(bytes)
        let collected = Collected(try TraceSource(paths: [file.path]))
        #expect(collected.arrivals[0].sample.x == Float(1.5 * 1e-3))
        #expect(collected.arrivals[1].sample.y == Float(Double(Float(0.1)) * 9.80665))
        #expect(collected.arrivals.count == 4)
        for (text, other) in [("m/s2", "uT  "), ("m/s2", "furl"), ("accelerometer", "accelerometre")] {
            let wrong = try TemporaryFile(try arrowBytes(arrivals, streams).replacing(text, with: other))
            let error = try #require(throws: TraceError.self) { try TraceSource(paths: [wrong.path]) }
            #expect(error.message.hasPrefix("sensor 1: '"))
        }
    }

    @Test func aSensorThatTheRecordingDoesNotNameIsFound() throws {
        // Its number is described nowhere, and the version is another program's.
        let bytes = try arrowBytes(steadyArrivals(2, count: 10), makeStreams(Array(fourStreams.suffix(2))))
        let file = try TemporaryFile(
            bytes.replacing("binnacle.version", with: "somebody.version").replacing(
                "binnacle.sensor.1", with: "somebody.sensor.1"))
        #expect(try TraceFile(path: file.path).contents.map(\.sensor) == ["box", "sensor1"])
    }

    @Test func otherFormatsAreRefusedWithWhatToDo() throws {
        let marks: [(String, [UInt8])] = [
            ("open_file", Array("ARROW1\0\0".utf8)), ("parquet", Array("PAR1....".utf8)),
            ("old Feather", Array("FEA1....".utf8)),
            ("gunzip", [0x1F, 0x8B, 8, 0, 0, 0, 0, 0]),
            // An archive without an entry begins with the record at its end.
            ("is a zip archive, where one file is expected", Array("PK\u{5}\u{6}".utf8)),
            ("compressed with zstd, and damaged", [0x28, 0xB5, 0x2F, 0xFD, 0xFF, 0xFF, 0xFF, 0xFF]),
        ]
        for (text, mark) in marks {
            let file = try TemporaryFile(mark + Array(repeating: 65, count: 100))
            let error = try #require(throws: TraceError.self) { try TraceFile(path: file.path) }
            #expect(error.message.contains(text) && error.category == .data, "\(error)")
        }
    }

    @Test func anArchiveIsNotReadFromAPipe() throws {
        let pipe = UnusedPath("pipe")
        try #require(mkfifo(pipe.path, 0o600) == 0)
        let path = pipe.path
        Thread.detachNewThread {
            FileHandle(forWritingAtPath: path)?.write(Data("PK\u{3}\u{4}".utf8 + [UInt8](repeating: 0, count: 100)))
        }
        let error = try #require(throws: TraceError.self) { try TraceFile(path: path) }
        #expect(error.message.contains("not read from a pipe: write it to a file") && error.remedy == nil, "\(error)")
    }

    @Test func aStreamFromAPipeIsReadToItsEnd() throws {
        let arrivals = steadyArrivals(2, count: 20_000)
        let bytes = Data(try arrowBytes(arrivals, makeStreams(Array(fourStreams.prefix(2)))))
        let pipe = UnusedPath("pipe")
        try #require(mkfifo(pipe.path, 0o600) == 0)
        let path = pipe.path
        let writer = Thread {
            let file = FileHandle(forWritingAtPath: path)
            try? file?.write(contentsOf: bytes)
            try? file?.close()
        }
        writer.start()
        let collected = Collected(try TraceSource(paths: [path]))
        let isSame = collected.arrivals == arrivals
        #expect(isSame)
        #expect(collected.failures.isEmpty)
    }
}

/// Recordings that are compressed with zstd; Tests/Program/arrow.py has the others, which pyarrow makes.
@Suite struct ZstdTests {
    /// 500 rows of `t_s,ax,ay,az` at 100 Hz, from `0.00,0,0,9.8` on.
    private let packed =
        "KLUv/QRofAUAdhEiEqC5MAZz1l4A8JCMlmypXxVPjSgAKAAJAOcYY4wxxhizbdu2/b8UkdAxOwgDoIQVDMEQDIMwAIsRKEaQGMFRIAH/B9Za"
        + "a6211lJKKaWUUoogCIIgCIIgUkoppZRSQgghhBBC6Jxzzjkn//////////9/27Zt27Zt27Zt27Zt27Zt27Zt2///A4D5qBHws/8d4KVlDRBW"
        + "BMQHIAgEgSCVuogyAEEoBXUqCHFXARUCAKIPDgTwObKCVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVf///////////////w8AAAAAAAAAAAAA"
        + "AAABgPpUAQAJAel3j/g="

    private func bytes() throws -> [UInt8] { Array(try #require(Data(base64Encoded: packed))) }

    @Test func aCompressedFileIsReadAsIfItWereNot() throws {
        let file = try TemporaryFile(try bytes())
        let trace = try TraceFile(path: file.path)
        #expect(trace.contents.map(\.kind) == [.accelerometer])
        #expect(!trace.notices.contains { $0.message.contains("zstd") })
        let arrivals = Collected(try TraceSource(paths: [file.path])).arrivals
        #expect(arrivals.count == 500)
        #expect(arrivals.last?.sample.timeNanoseconds == 4_990_000_000)
        #expect(arrivals.allSatisfy { $0.sample.z == 9.8 })
    }

    /// `serve` opens a recording for each client.
    @Test func aFileThatWasUnpackedIsNotUnpackedAgain() throws {
        let file = try TemporaryFile(try bytes() + bytes().dropLast(8))
        var entries = UnpackedEntries()
        let notice = try entries.unpack(file.path, isCancelled: { false })
        #expect(notice?.message.contains("was not written to its end") == true)
        try FileManager.default.removeItem(atPath: file.path)
        for _ in 1...2 {
            let trace = try TraceFile(path: file.path, entries: entries)
            #expect(trace.contents.map(\.kind) == [.accelerometer])
            #expect(trace.path == file.path)
        }
    }

    @Test func whatIsMissingAtTheEndIsTold() throws {
        // The first frame is whole, so there is something to be played.
        let torn = try TemporaryFile(try bytes() + bytes().dropLast(8))
        let trace = try TraceFile(path: torn.path)
        #expect(trace.notices.contains { $0.message.contains("was not written to its end") })
        let short = try TemporaryFile(Array(try bytes().prefix(60)))
        let cut = try #require(throws: TraceError.self) { try TraceFile(path: short.path) }
        #expect(cut.message.contains("ends before anything can be unpacked"), "\(cut)")
        var damaged = try bytes()
        damaged[40] ^= 0xFF
        let file = try TemporaryFile(damaged)
        let error = try #require(throws: TraceError.self) { try TraceFile(path: file.path) }
        #expect(error.category == .data && error.message.contains("damaged between byte 0 and"), "\(error)")
    }
}

/// CSV and Arrow of the same samples are read alike, whatever is wrong with them.
@Suite struct ArrowRepairTests {
    /// What a device that fails now and then gives.
    private func faultyArrivals(_ streamCount: Int, seed: UInt64) -> [Arrival] {
        var random = SeededGenerator(seed: seed)
        var time: Int64 = 1_000_000_000_000
        var arrivals: [Arrival] = []
        while arrivals.count < 6000 {
            time += Int64.random(in: 1...20_000_000, using: &random)
            let stream = Int.random(in: 0..<streamCount, using: &random)
            var arrival = Arrival(stream, time, 1, 2, 9.8)
            switch Int.random(in: 0..<400, using: &random) {
            case 0: arrival = Arrival(stream, time, .nan, 2, 9.8)
            case 1: arrival = Arrival(stream, time, 1, .infinity, 9.8)
            case 2: arrival = Arrival(stream, time, 1, 2, -2e7)
            case 3: arrival = Arrival(stream, time - 500_000_000)
            case 4: arrival = Arrival(stream, time + 1_000_000_000_000_000)
            case 5: arrival = Arrival(stream, .min + 1)
            case 6: arrival = Arrival(stream, .max)
            case 7: time += 3_600_000_000_000
            case 8: arrival = Arrival(stream, (arrivals.last { $0.stream == stream } ?? arrival).sample.timeNanoseconds)
            case 9:
                // A device with two kinds stamps both alike, and wrong.
                for stream in 0..<streamCount { arrivals.append(Arrival(stream, time + 77_000_000_000_000)) }
            default: break
            }
            arrivals.append(arrival)
        }
        return arrivals
    }

    @Test(arguments: 1...3, 1...12)
    func faultsAreRepairedAsInCSV(streamCount: Int, seed: Int) throws {
        let streams = makeStreams(Array(fourStreams.suffix(streamCount)))
        let arrivals = faultyArrivals(streamCount, seed: UInt64(seed))
        let (csv, arrow) = (UnusedPath(), UnusedPath("recording.arrows"))
        try record(arrivals, streams, to: csv)
        try record(arrivals, streams, flushed: seed % 3 == 0 ? 1 : nil, to: arrow)
        let source = try TraceSource(paths: [csv.path])
        let expected = Collected(source)
        #expect(expected.arrivals.count > 200)
        #expect(source.repairs.counts.count >= 3)
        for capacity in [1, 100, 65_536] {
            let other = try TraceSource(paths: [arrow.path])
            let collected = Collected(other, capacity: capacity)
            let isSame = collected.arrivals == expected.arrivals
            #expect(isSame)
            for kind in TraceRepairs.Kind.allCases {
                #expect(other.repairs.counts[kind] == source.repairs.counts[kind], "\(kind)")
            }
            #expect(
                collected.failures.map { "\($0)".contains("set back") }
                    == expected.failures.map { "\($0)".contains("set back") })
        }
    }

    @Test(arguments: [true, false])
    func aClockThatWasSetBackIsAnError(groups: Bool) throws {
        let arrivals = (0..<5000).map { Arrival(0, Int64($0 < 3000 ? $0 + 100_000 : $0) * 1000) }
        let bytes = try arrowBytes(arrivals, makeStreams([("a", .accelerometer)]))
        let file = try TemporaryFile(groups ? bytes : bytes.withoutGroups)
        let collected = Collected(try TraceSource(paths: [file.path]))
        #expect(collected.samples[0].count == 3000)
        let failure = try #require(collected.failures.first as? TraceError)
        #expect(failure.message == "the clock was set back and stayed there: split the file at row 3001")
        #expect(failure.line == 4001)
    }

    @Test func stampsAtTheEndsOfTheClockAreNoSteps() throws {
        // Their distances wrap around.
        let times: [Int64] = [.min + 1, .max, .min + 2, .max - 1, 0, .max, .min + 1]
        let arrivals = (0..<70).map { Arrival(0, times[$0 % 7]) }
        let streams = makeStreams([("a", .accelerometer)])
        let (csv, arrow) = (UnusedPath(), UnusedPath("recording.arrows"))
        try record(arrivals, streams, to: csv)
        try record(arrivals, streams, to: arrow)
        let (one, other) = (try TraceSource(paths: [csv.path]), try TraceSource(paths: [arrow.path]))
        #expect(Collected(one).arrivals == Collected(other).arrivals)
        #expect(one.repairs.counts == other.repairs.counts)
    }
}

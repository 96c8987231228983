import Binnacle
import BinnacleTesting
import TestSupport
import Testing
import Traces

/// `scripts/check rosbag` has the files read by mcap and rosbags.
@Suite struct MCAPRecordingTests {
    private static let magic: [UInt8] = [0x89] + Array("MCAP0\r\n".utf8)

    /// The opcodes of the records that are whole, and what is behind them.
    private func records(_ bytes: [UInt8]) -> (opcodes: [UInt8], rest: [UInt8]) {
        var opcodes: [UInt8] = []
        var offset = 8
        while offset + 9 <= bytes.count, bytes[offset] != Self.magic[0] {
            let count = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset + 1, as: UInt64.self) }
            guard count <= bytes.count - offset - 9 else { break }
            opcodes.append(bytes[offset])
            offset += 9 + Int(count)
        }
        return (opcodes, Array(bytes[offset...]))
    }

    @Test(arguments: 1...4) func theFileDoesNotDependOnTheDeliveries(streamCount: Int) throws {
        let streams = makeStreams(Array(fourStreams.prefix(streamCount)))
        let arrivals = steadyArrivals(streamCount, count: 20_000)
        let files = try [7, 4096, 65_536].map { capacity in
            let file = UnusedPath("recording.mcap")
            try record(arrivals, streams, capacity: capacity, to: file)
            return try file.bytes()
        }
        let areSame = files[0] == files[1] && files[1] == files[2]
        #expect(areSame)
        #expect(files[0].starts(with: Self.magic))
        let (opcodes, rest) = records(files[0])
        #expect(rest == Self.magic)
        // The header comes first, the end of the data once, and the footer last.
        #expect(opcodes.first == 1 && opcodes.last == 2 && opcodes.count { $0 == 0x0F } == 1)
        // A chunk has an index of its own and one in the summary; a chunk of a mebibyte has some 3000 messages.
        #expect(opcodes.count { $0 == 6 } == opcodes.count { $0 == 8 })
        #expect(opcodes.count { $0 == 6 } > 2)
    }

    @Test func everyFlushLeavesWholeRecords() throws {
        let streams = makeStreams(Array(fourStreams.prefix(2)))
        let file = UnusedPath("recording.mcap")
        let writer = try TraceWriter(path: file.path, streams: streams)
        let source = RecordingSource(ScriptedSource(steadyArrivals(2, count: 200), streams: streams), writer: writer)
        let delivery = SampleDelivery(streams: streams, capacity: 10)
        var chunkCount = 0
        while !source.fill(delivery).isEnd {
            let isEmpty = delivery.batches.allSatisfy(\.isEmpty)
            delivery.removeAll()
            try writer.flush()
            chunkCount += isEmpty ? 0 : 1
            let (opcodes, rest) = records(try file.bytes())
            #expect(rest.isEmpty)
            #expect(opcodes.count { $0 == 6 } == chunkCount)
            #expect(!opcodes.contains(0x0F))
        }
        #expect(chunkCount > 5)
        try writer.finish()
        #expect(records(try file.bytes()).rest == Self.magic)
    }

    @Test(arguments: [-1, 2_147_483_648_000_000_000, .min, .max] as [Int64])
    func aStampThatROSCannotHoldEndsTheRecording(time: Int64) throws {
        let streams = makeStreams([("a", .accelerometer)])
        let file = UnusedPath("recording.mcap")
        let writer = try TraceWriter(path: file.path, streams: streams)
        let source = RecordingSource(
            ScriptedSource([Arrival(0, 5), Arrival(0, time)], streams: streams), writer: writer)
        let delivery = SampleDelivery(streams: streams, capacity: 1)
        while !source.fill(delivery).isEnd { delivery.removeAll() }
        try writer.finish()
        let failure = try #require(source.failure)
        #expect(failure.category == .data)
        #expect(failure.message.contains("the stamp \(time) ns") && failure.message.contains(".arrows"))
        #expect(!records(try file.bytes()).opcodes.contains(0x0F))
    }

    @Test func aRecordingWithoutASampleIsComplete() throws {
        let file = UnusedPath("recording.mcap")
        try record([], makeStreams([("a", .accelerometer), ("c", .magnetometer)]), to: file)
        let (opcodes, rest) = records(try file.bytes())
        #expect(rest == Self.magic)
        // Two schemas, two channels and statistics in the summary, and where they are.
        #expect(opcodes == [1, 3, 3, 4, 4, 0x0F, 3, 3, 4, 4, 0x0B, 0x0E, 0x0E, 0x0E, 2])
    }
}

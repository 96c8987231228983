import Binnacle
import BinnacleTesting
import Glibc
import TestSupport
import Testing
import Traces

/// Records samples through a ``RecordingSource``; after every so many deliveries everything is written, else at the end.
func record(
    _ arrivals: [Arrival], _ streams: [SampleStream], capacity: Int = 4096, flushed: Int? = nil, to file: UnusedPath
) throws {
    let writer = try TraceWriter(path: file.path, streams: streams)
    let source = RecordingSource(ScriptedSource(arrivals, streams: streams), writer: writer)
    let delivery = SampleDelivery(streams: streams, capacity: capacity)
    var count = 0
    while !source.fill(delivery).isEnd {
        delivery.removeAll()
        count += 1
        if let flushed, count % flushed == 0 { try writer.flush() }
    }
    try writer.finish()
    try #require(source.failure == nil)
    try #require(writer.sampleCounts.reduce(0, +) == arrivals.count)
}

/// The bytes of an Arrow stream with these samples.
func arrowBytes(_ arrivals: [Arrival], _ streams: [SampleStream], flushed: Int? = nil, capacity: Int = 4096) throws
    -> [UInt8]
{
    let file = UnusedPath("recording.arrows")
    try record(arrivals, streams, capacity: capacity, flushed: flushed, to: file)
    return try file.bytes()
}

extension [UInt8] {
    /// The bytes with one text in the place of another one that is as long, wherever it occurs.
    func replacing(_ text: String, with other: String) -> [UInt8] {
        precondition(text.utf8.count == other.utf8.count)
        var bytes = self
        let (old, new) = (Array(text.utf8), Array(other.utf8))
        var index = 0
        while index <= bytes.count - old.count {
            if bytes[index] == old[0], bytes[index..<index + old.count].elementsEqual(old) {
                bytes.replaceSubrange(index..<index + old.count, with: new)
                index += old.count
            } else {
                index += 1
            }
        }
        return bytes
    }

    /// What a tool leaves of a recording that knows nothing of groups.
    var withoutGroups: [UInt8] { replacing("binnacle.group", with: "somebodys.else") }

    /// What a tool leaves that keeps no metadata at all.
    var withoutMetadata: [UInt8] { withoutGroups.replacing("binnacle.", with: "somebody.") }

    func word(_ offset: Int) -> UInt32 { withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) } }

    mutating func setWord(_ offset: Int, _ word: UInt32) {
        withUnsafeMutableBytes { $0.storeBytes(of: word, toByteOffset: offset, as: UInt32.self) }
    }

    /// Where the messages of an Arrow stream begin, the end among them, and where their metadata ends.
    ///
    /// The bodies are found by the rule that every message begins with a mark at a multiple of 64 bytes, followed by a
    /// length that is no NaN.
    var messages: [(start: Int, bodyStart: Int)] {
        stride(from: 0, to: count - 7, by: 64).filter {
            word($0) == .max && word($0 + 4) < 65_536 && (word($0 + 4) == 0 || word($0 + 8) < 64)
        }.map { ($0, $0 + 8 + Int(word($0 + 4))) }
    }
}

/// Samples of several streams whose stamps repeat, coincide, lag and step back a little.
func randomArrivals(_ streamCount: Int, count: Int = 1500, seed: UInt64) -> [Arrival] {
    var random = SeededGenerator(seed: seed)
    var last = Array(repeating: Int64(1_700_000_000_000_000_000) * Int64(seed % 2), count: streamCount)
    func axis() -> Float {
        while true {
            let value = Float(bitPattern: UInt32.random(in: 0...UInt32.max, using: &random))
            if value.magnitude <= 1e7 { return value }
        }
    }
    return (0..<count).map { _ in
        let stream = Int.random(in: 0..<streamCount, using: &random)
        let latest = last.max() ?? 0
        // At the newest stamp, at its own last one, a little later than that, or late.
        switch Int.random(in: 0..<6, using: &random) {
        case 0: last[stream] = latest
        case 1: break
        case 2: last[stream] += 1
        case 3: last[stream] = max(last[stream], latest - 2)
        default: last[stream] = latest + Int64.random(in: 0...3, using: &random)
        }
        return Arrival(stream, last[stream], axis(), axis(), axis())
    }
}

/// Samples of several streams whose stamps rise together.
func steadyArrivals(_ streamCount: Int, count: Int, step: Int64 = 1_000_000) -> [Arrival] {
    (0..<count).map { Arrival($0 % streamCount, Int64($0) * step, Float($0), -1, 9.8) }
}

let fourStreams: [(name: String, kind: SampleKind)] = [
    ("compass", .magnetometer), ("box", .magnetometer), ("box", .accelerometer), ("chassis", .accelerometer),
]

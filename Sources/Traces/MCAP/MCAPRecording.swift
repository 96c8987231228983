import Binnacle

/// Writes an MCAP file with the messages of ROS 2 that hold samples: `sensor_msgs/msg/Imu` and `sensor_msgs/msg/MagneticField`.
///
/// A message has the stamp of its samples, as its log time, too. An accelerometer and a gyroscope of one sensor share a message
/// where they have the same stamp; what was not measured at a stamp is marked as unknown, and nothing is interpolated. Chunks
/// are not compressed, and are written as a whole with their index. Nothing is allocated per sample.
final class MCAPRecording: RecordingFormat {
    private(set) var sampleCounts: [Int]

    private let file: RecordingFile
    private let path: String
    private var channels: [MCAPChannel]
    private let streams: [(channel: Int, kind: SampleKind)]
    private var next: [Int]
    /// The chunk that is not written yet: room for its head, and message records.
    private var chunk: [UInt8]
    private var chunkTimes: ClosedRange<Int64>?
    /// The chunks' indices in the summary, of some 100 bytes each.
    private var chunkIndexes: [UInt8] = []
    private var chunkCount: UInt32 = 0
    private var allTimes: ClosedRange<Int64>?
    /// The number of bytes in the file.
    private var offset = 0

    /// The size from which a chunk is written, in bytes.
    private static let chunkSize = 1 << 20
    private static let emptyChunk = [UInt8](repeating: 0, count: MCAPRecord.chunkPrefixCount)
    /// ROS counts the seconds of a stamp in 32 bits with a sign: up to January 2038.
    private static let stamps: ClosedRange<Int64> = 0...(Int64(Int32.max) * 1_000_000_000 + 999_999_999)

    init(_ file: RecordingFile, _ columns: TraceColumns, path: String) throws(TraceError) {
        self.file = file
        self.path = path
        let (channels, places) = MCAPChannel.all(of: columns.contents)
        self.channels = channels
        streams = columns.places.map { (places[$0], columns.contents[$0].kind) }
        sampleCounts = streams.map { _ in 0 }
        next = sampleCounts
        chunk = Self.emptyChunk
        chunk.reserveCapacity(Self.chunkSize + 65_536)
        var header = MCAPRecord(.header)
        header.add("ros2")
        header.add("binnacle")
        try write(([MCAPRecord.magic, header.finished] + schemas + descriptions).flatMap { $0 })
    }

    func write(_ delivery: SampleDelivery) throws(TraceError) {
        for stream in next.indices { next[stream] = 0 }
        while let stream = delivery.earliestStream(from: next) {
            try put(delivery.batches[stream][next[stream]], of: stream)
            next[stream] += 1
            sampleCounts[stream] += 1
        }
    }

    func flush() throws(TraceError) {
        guard let times = chunkTimes else { return }
        let start = offset
        let recordCount = chunk.count - MCAPRecord.chunkPrefixCount
        var head = MCAPRecord(.chunk, contentCount: chunk.count - MCAPRecord.prefixCount)
        let checksum = chunk.withUnsafeBytes { bytes in
            MCAPChecksum.of(UnsafeRawBufferPointer(rebasing: bytes[MCAPRecord.chunkPrefixCount...]))
        }
        head.add(times.lowerBound, times.upperBound, Int64(recordCount), checksum)
        head.add("")
        head.add(UInt64(recordCount))
        chunk.replaceSubrange(..<MCAPRecord.chunkPrefixCount, with: head.bytes)
        let chunkLength = chunk.count
        var places: [(channel: UInt16, offset: Int)] = []
        // By number: a copy of a channel would give its list up with the room that it has.
        for number in channels.indices where !channels[number].index.isEmpty {
            places.append((UInt16(number), start + chunk.count))
            var record = MCAPRecord(.messageIndex)
            record.add(UInt16(number))
            record.add(channels[number].index) {
                $0.add($1.timeNanoseconds)
                $0.add($1.offset)
            }
            chunk += record.finished
            channels[number].index.removeAll(keepingCapacity: true)
            channels[number].endStamp()
        }
        var index = MCAPRecord(.chunkIndex)
        index.add(times.lowerBound, times.upperBound, Int64(start), Int64(chunkLength))
        index.add(places) { $0.add($1.channel, UInt64($1.offset)) }
        index.add(UInt64(chunk.count - chunkLength))
        index.add("")
        index.add(UInt64(recordCount), UInt64(recordCount))
        chunkIndexes += index.finished
        chunkCount += 1
        allTimes =
            allTimes.map {
                min($0.lowerBound, times.lowerBound)...max($0.upperBound, times.upperBound)
            } ?? times
        chunkTimes = nil
        defer {
            chunk.removeAll(keepingCapacity: true)
            chunk += Self.emptyChunk
        }
        try write(chunk)
    }

    func finish() throws(TraceError) {
        try flush()
        var dataEnd = MCAPRecord(.dataEnd)
        // No checksum but those of the chunks.
        dataEnd.add(UInt32(0))
        try write(dataEnd.finished)
        let summaryStart = offset
        var offsets: [UInt8] = []
        let groups: [(MCAPRecord.Opcode, [UInt8])] = [
            (.schema, Array(schemas.joined())), (.channel, Array(descriptions.joined())), (.statistics, statistics),
            (.chunkIndex, chunkIndexes),
        ]
        for (opcode, records) in groups where !records.isEmpty {
            var record = MCAPRecord(.summaryOffset)
            record.add(opcode.rawValue, UInt64(offset), UInt64(records.count))
            offsets += record.finished
            try write(records)
        }
        var footer = MCAPRecord(.footer)
        footer.add(UInt64(summaryStart), UInt64(offset), UInt32(0))
        try write(offsets + footer.finished + MCAPRecord.magic)
    }

    private func write(_ bytes: [UInt8]) throws(TraceError) {
        try file.write(bytes)
        offset += bytes.count
    }

    /// Adds a sample to the message of its stamp, or as a new one.
    private func put(_ sample: Sample, of stream: Int) throws(TraceError) {
        let time = sample.timeNanoseconds
        guard Self.stamps.contains(time) else {
            try flush()
            return try file.refuse(
                TraceError(
                    .data, path: path,
                    "the stamp \(time) ns is before 0 or after January 2038, which a message of ROS cannot hold: write "
                        + "an Arrow stream, .arrows, or .csv"))
        }
        let (number, kind) = streams[stream]
        // Of several samples of a stamp, the first of each kind belong together, then the second.
        if channels[number].index.last?.timeNanoseconds != UInt64(time) { channels[number].endStamp() }
        if channels[number].turn(of: kind) == channels[number].lastCount {
            if chunk.count >= Self.chunkSize { try flush() }
            beginMessage(at: time, in: number)
        }
        let turn = channels[number].turn(of: kind)
        let place = channels[number].index[channels[number].index.count - channels[number].lastCount + turn]
        channels[number].lastKinds.append(kind)
        let factor = RosMessage.factor(of: kind)
        let vector =
            MCAPRecord.chunkPrefixCount + Int(place.offset) + channels[number].body + RosMessage.vector(of: kind)
        chunk.store((Double(sample.x) / factor).bitPattern, at: vector)
        chunk.store((Double(sample.y) / factor).bitPattern, at: vector + 8)
        chunk.store((Double(sample.z) / factor).bitPattern, at: vector + 16)
        chunk.store(UInt64(0), at: vector + RosMessage.vectorCount)
    }

    private func beginMessage(at time: Int64, in number: Int) {
        let start = chunk.count
        chunk.append(contentsOf: channels[number].blank)
        chunk.store(UInt32(truncatingIfNeeded: channels[number].messageCount), at: start + MCAPChannel.sequence)
        chunk.store(time, at: start + MCAPChannel.logTime)
        chunk.store(time, at: start + MCAPChannel.logTime + 8)
        chunk.store(Int32(time / 1_000_000_000), at: start + MCAPChannel.stamp)
        chunk.store(UInt32(time % 1_000_000_000), at: start + MCAPChannel.stamp + 4)
        channels[number].messageCount += 1
        channels[number].index.append((UInt64(time), UInt64(start - MCAPRecord.chunkPrefixCount)))
        channels[number].lastCount += 1
        chunkTimes = chunkTimes.map { min($0.lowerBound, time)...max($0.upperBound, time) } ?? time...time
    }

    /// The schema of each type of message; their numbers begin at 1.
    private var schemas: [[UInt8]] {
        RosMessage.allCases.enumerated().map { number, message in
            var record = MCAPRecord(.schema)
            record.add(UInt16(number + 1))
            record.add(message.name)
            record.add("ros2msg")
            record.add(message.definition)
            return record.finished
        }
    }

    private var descriptions: [[UInt8]] {
        channels.enumerated().map { number, channel in
            var record = MCAPRecord(.channel)
            record.add(UInt16(number), UInt16((RosMessage.allCases.firstIndex(of: channel.message) ?? 0) + 1))
            record.add(channel.topic)
            record.add("cdr")
            // Readers of ROS look for this key; empty is the middleware's default.
            record.add([
                ("offered_qos_profiles", ""), ("binnacle.sensor", channel.sensor),
                ("binnacle.kinds", streams.filter { $0.channel == number }.map(\.kind.rawValue).joined(separator: " ")),
            ]) {
                $0.add($1.0)
                $0.add($1.1)
            }
            return record.finished
        }
    }

    private var statistics: [UInt8] {
        var record = MCAPRecord(.statistics)
        record.add(channels.reduce(0) { $0 + $1.messageCount }, UInt16(RosMessage.allCases.count))
        // No attachments and metadata.
        record.add(UInt32(channels.count), UInt64(0), chunkCount)
        record.add(allTimes?.lowerBound ?? 0, allTimes?.upperBound ?? 0)
        record.add(Array(channels.enumerated())) { $0.add(UInt16($1.offset), $1.element.messageCount) }
        return record.finished
    }
}

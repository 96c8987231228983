import Binnacle
import PlainText

/// A topic of an MCAP file whose messages hold samples.
struct MCAPTopic: Equatable {
    let id: UInt16
    let name: String
    let message: RosMessage
    /// Whether the messages are those of ROS 1, which have neither an encapsulation nor padding.
    let isPacked: Bool
    /// The sensor and its kinds, in a recording of ours.
    let sensor: String?
    let kinds: [SampleKind]
}

/// An MCAP file, mapped: its topics, and its chunks by their offsets.
///
/// Indices are not used, so that they cannot lie. The list of topics at the end of the file is, and each topic in the data is held
/// against it.
final class MCAPFile {
    let file: MappedFile
    private(set) var topics: [MCAPTopic] = []

    /// By their numbers: the names of schemas, and the messages of ROS that some are.
    private var schemas: [UInt16: (name: String, message: RosMessage?)] = [:]
    /// The numbers of all topics that were described so far.
    private var described: Set<UInt16> = []
    /// The first of the topics without samples, for messages.
    private var others: [String] = []
    private var isOpening = true
    /// Whether a topic has a schema that was not described.
    private var lacksSchema = false
    /// Whether the program is to end, which ends a walk over the file.
    let isCancelled: () -> Bool
    /// The chunks used last: several readers are near each other.
    private var chunks: [(offset: Int, chunk: MCAPChunk)] = []
    /// How much may still be unpacked, in bytes, by all readers.
    private var allowance: Int
    /// How much is unpacked now, in bytes.
    fileprivate(set) var heldBytes = 0

    private static let mostOthers = 12
    private static let mostTopics = 100
    /// What the windows of several readers lie in, and less than the memory of a chunk of the largest size.
    private static let (keptChunks, keptBytes) = (32, 32 << 20)

    static func begins(with first: [UInt8]) -> Bool { first.starts(with: MCAPRecord.magic) }

    /// Opens an MCAP file and finds its topics; `nil` for other files.
    init?(_ input: InputFile, isCancelled: @escaping () -> Bool) throws(TraceError) {
        guard Self.begins(with: input.firstBytes(ForeignFormat.markCount)), let size = input.size else { return nil }
        self.isCancelled = isCancelled
        file = try MappedFile(input, count: Int(size))
        allowance = ZstdStream.limit(for: Int(size))
        readSummary()
        if topics.isEmpty, others.isEmpty {
            let walk = MCAPMessages(self, of: [])
            do throws(TraceError) {
                while try walk.next() != nil {}
            } catch {
                // What was found before the damage can be read.
                guard !topics.isEmpty else { throw error }
            }
        }
        isOpening = false
        allowance = ZstdStream.limit(for: Int(size))
        guard topics.isEmpty else { return }
        let none = isComplete ? "no topic" : "no topic before its end, which is missing"
        let found = others.isEmpty ? none : "other topics (\(others.joined(separator: ", ")))"
        throw TraceError(
            .data, path: file.path,
            "has \(found), and none with sensor_msgs/msg/Imu or sensor_msgs/msg/MagneticField in CDR or of ROS 1")
    }

    /// Whether the file ends as a complete one does.
    var isComplete: Bool { file.bytes.suffix(MCAPRecord.magic.count).elementsEqual(MCAPRecord.magic) }

    func damage(_ words: String, at offset: Int) -> TraceError {
        TraceError(
            .data, path: file.path,
            "record at byte \(offset): \(words): the file is damaged; 'mcap recover' writes what can be read of it")
    }

    /// Takes the topics from the list at the end, where there is one.
    private func readSummary() {
        let footerCount = MCAPRecord.prefixCount + 20
        let footer = file.bytes.count - MCAPRecord.magic.count - footerCount
        guard isComplete, footer > 0, let end = MCAPFinding(in: file.bytes, at: footer), end.kind == .footer,
            var offset = end.bytes.count == footerCount
                ? Int(exactly: end.bytes.loadUnaligned(fromByteOffset: MCAPRecord.prefixCount, as: UInt64.self)) : nil,
            offset > 0
        else { return }
        while offset < footer, let record = MCAPFinding(in: file.bytes, at: offset) {
            // A list that contradicts itself is not used.
            guard (try? learn(record, at: offset)) != nil, !lacksSchema else {
                (topics, others, described, schemas, lacksSchema) = ([], [], [], [:], false)
                return
            }
            offset += record.bytes.count
        }
    }

    /// Throws for a message of a topic that nothing before it, and no list, describes: its type is not known.
    func requireDescription(of topic: UInt16, at offset: Int) throws(TraceError) {
        guard described.contains(topic) else {
            throw damage("a message of topic \(topic), which is not described", at: offset)
        }
    }

    /// Takes in what a schema or a channel says; a topic of samples that was not known when the file was opened is an error.
    func learn(_ record: MCAPFinding, at offset: Int) throws(TraceError) {
        var fields = record.fields
        guard record.kind == .schema || record.kind == .channel else { return }
        guard let id: UInt16 = fields.number() else { throw damage("it is too short", at: offset) }
        if record.kind == .schema {
            guard let name = fields.text() else { throw damage("it is too short", at: offset) }
            schemas[id] = (
                String(name.prefix(60)), RosMessage.allCases.first { [$0.name, $0.nameOfROS1].contains(name) }
            )
            return
        }
        guard let schema: UInt16 = fields.number(), let name = fields.text(), let encoding = fields.text(),
            let metadata = fields.texts()
        else { throw damage("it is too short", at: offset) }
        described.insert(id)
        lacksSchema = lacksSchema || schema != 0 && schemas[schema] == nil
        let known = topics.first { $0.id == id }
        guard let message = schemas[schema]?.message, encoding == "cdr" || encoding == "ros1" else {
            guard known == nil else { throw damage("topic \(name.printable) changes its type", at: offset) }
            let other = schemas[schema] ?? ("no type", nil)
            let type = "\(other.name)\(other.message == nil ? "" : " as \(encoding)")"
            let words = "\(name.prefix(60)) (\(type))".printable
            if others.count < Self.mostOthers, !others.contains(words) { others.append(words) }
            return
        }
        let kinds = metadata["binnacle.kinds"]?.split(separator: " ").compactMap { SampleKind(rawValue: String($0)) }
        let topic = MCAPTopic(
            id: id, name: name, message: message, isPacked: encoding == "ros1",
            sensor: metadata["binnacle.sensor"],
            kinds: (kinds ?? []).filter { message.kinds.contains($0) })
        if topic == known { return }
        guard known == nil else { throw damage("topic \(name.printable) changes within the file", at: offset) }
        guard isOpening else {
            throw damage("topic \(name.printable) is not in the list at the file's end", at: offset)
        }
        topics.append(topic)
        guard topics.count <= Self.mostTopics else {
            throw damage("more than \(Self.mostTopics) topics with samples", at: offset)
        }
    }

    /// The records of a chunk, unpacked.
    func chunk(_ record: MCAPFinding, at offset: Int) throws(TraceError) -> MCAPChunk {
        if let known = chunks.first(where: { $0.offset == offset }) { return known.chunk }
        let chunk = try MCAPChunk(record, at: offset, of: self)
        allowance -= chunk.bytes.count
        guard allowance >= 0 else { throw Unpacking.tooLarge(file.path) }
        chunks.append((offset, chunk))
        func isTooMuch() -> Bool { chunks.reduce(0) { $0 + $1.chunk.bytes.count } > Self.keptBytes }
        while chunks.count > Self.keptChunks || (chunks.count > 1 && isTooMuch()) { chunks.removeFirst() }
        return chunk
    }
}

/// The records of a chunk: in the mapped file, or unpacked in memory that this object owns and frees.
final class MCAPChunk {
    let bytes: UnsafeRawBufferPointer
    private let room: UnsafeMutableRawBufferPointer?
    private weak var file: MCAPFile?

    /// Much more than any writer's chunk, of some MiB: a message is not divided.
    private static let mostBytes: UInt64 = 32 << 20
    /// The maximum of all readers: that of each topic holds a chunk, and they may be far apart.
    private static let mostHeldBytes = 512 << 20

    init(_ record: MCAPFinding, at offset: Int, of file: MCAPFile) throws(TraceError) {
        var fields = record.fields
        guard fields.bytes(16) != nil, let count: UInt64 = fields.number(), let sum: UInt32 = fields.number(),
            let compression = fields.text(), let packedCount: UInt64 = fields.number(),
            let packed = fields.bytes(packedCount)
        else { throw file.damage("it is no chunk", at: offset) }
        switch compression {
        case "":
            guard packedCount == count else {
                throw file.damage("its chunk has another size than it states", at: offset)
            }
            (bytes, room) = (packed, nil)
        case "zstd":
            guard count <= Self.mostBytes else {
                throw file.damage("its chunk states \(count) bytes, and no more than 32 MiB are unpacked", at: offset)
            }
            guard file.heldBytes + Int(count) <= Self.mostHeldBytes else {
                throw TraceError(
                    .data, path: file.file.path,
                    "at byte \(offset), the messages of a time are in too many chunks, of more than 512 MiB in all: 'mcap sort' writes "
                        + "them in their order")
            }
            let stream = try ZstdStream(path: file.file.path)
            stream.begin()
            let room = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, Int(count)), alignment: 8)
            (bytes, self.room) = (UnsafeRawBufferPointer(rebasing: room[..<Int(count)]), room)
            self.file = file
            file.heldBytes += bytes.count
            var place = 0
            func damage(_ words: String) -> TraceError {
                file.damage("its chunk cannot be unpacked (\(words))", at: offset)
            }
            try stream.unpack(packed, damage: damage) { part throws(TraceError) in
                guard part.count <= Int(count) - place else { throw damage("it is longer than it states") }
                room[place...].copyBytes(from: part)
                place += part.count
            }
            guard place == Int(count), stream.isComplete else { throw damage("it is shorter than it states") }
        default:
            throw TraceError(
                .data, path: file.file.path,
                "its chunks are compressed with \(compression.printable), and only zstd is read: unpack them first (mcap decompress)"
            )
        }
        guard sum == 0 || MCAPChecksum.of(bytes) == sum else {
            throw file.damage("its chunk has another checksum than it states", at: offset)
        }
    }

    deinit {
        guard let room else { return }
        file?.heldBytes -= bytes.count
        room.deallocate()
    }
}

import ArrowStream
import PosixCalls

/// Copies an Arrow stream with batches compressed with zstd, and unpacks their columns.
///
/// Messages keep their metadata except for the locations of the buffers and the length of the body. They still claim to be
/// compressed, so the reader of the result has to know that they are not.
///
/// Source: Arrow, format/Message.fbs, `BodyCompression`: a buffer begins with its unpacked length, or −1 if it is not compressed.
struct ArrowUnpacking {
    private static let zstd: UInt8 = 1

    private let bytes: UnsafeRawBufferPointer
    private let path: String
    private let stream: ZstdStream
    private let spool: SpoolFile
    private let limit: Int

    /// Whether the first record batch is compressed with zstd.
    static func isNeeded(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var offset = 0
        while case .message(let message)? = try? ArrowMessage.find(in: bytes, at: offset) {
            if message.header == ArrowMessage.Header.batch { return (try? isCompressed(message)) ?? false }
            guard message.body.upperBound <= bytes.count else { return false }
            offset = message.body.upperBound
        }
        return false
    }

    /// An unnamed file with the stream; throws ``TraceError`` when a batch cannot be unpacked.
    static func unpacked(_ bytes: UnsafeRawBufferPointer, path: String) throws(TraceError) -> InputFile {
        let unpacking = ArrowUnpacking(
            bytes: bytes, path: path, stream: try ZstdStream(path: path), spool: try SpoolFile(for: path),
            limit: ZstdStream.limit(for: bytes.count))
        try unpacking.run()
        return try unpacking.spool.input()
    }

    private static func isCompressed(_ message: ArrowMessage) throws(ArrowFault) -> Bool {
        guard message.header == ArrowMessage.Header.batch, let table = try message.table.table(2),
            let compression = try table.table(3)
        else { return false }
        return try compression.integer(0, default: UInt8(0)) == zstd
    }

    private func run() throws(TraceError) {
        var offset = 0
        while true {
            let start = offset
            let finding = try faults(at: start) { () throws(ArrowFault) in try ArrowMessage.find(in: bytes, at: start) }
            guard case .message(let message) = finding else { return try append(offset..<bytes.count) }
            let isCompressed = try faults(at: start) { () throws(ArrowFault) in try Self.isCompressed(message) }
            guard message.body.upperBound <= bytes.count else {
                // A torn message: copy enough of it for the reader to detect that.
                return try append(start..<(isCompressed ? start + 8 : bytes.count))
            }
            if isCompressed { try add(message, at: start) } else { try append(start..<message.body.upperBound) }
            offset = message.body.upperBound
        }
    }

    private func faults<Value>(at offset: Int, _ body: () throws(ArrowFault) -> Value) throws(TraceError) -> Value {
        try mapError({ TraceError(.data, path: path, "message at byte \(offset): \($0.message)") }, body)
    }

    /// Writes a batch; its buffers are unpacked first, because their locations precede them.
    private func add(_ message: ArrowMessage, at offset: Int) throws(TraceError) {
        let buffers = try faults(at: offset) { () throws(ArrowFault) in
            try message.table.table(2)?.vector(2, stride: 16)
        }
        guard let buffers else { return }
        var places: [Place] = []
        for index in 0..<buffers.count {
            places.append(
                try faults(at: offset) { () throws(ArrowFault) in try place(index, buffers, message) })
        }
        var metadata = Array(bytes[offset..<message.body.lowerBound])
        var length = 0
        for (index, place) in places.enumerated() {
            // The vector's position counts from the start of the metadata, after the mark and the length.
            let entry = 8 + buffers.start + 16 * index
            metadata.put(Int64(length), at: entry)
            metadata.put(Int64(place.count), at: entry + 8)
            guard place.count <= limit - length else { throw Unpacking.tooLarge(path) }
            length += ArrowMessageWriter.roundUp(place.count)
        }
        let field = try faults(at: offset) { () throws(ArrowFault) in try message.table.position(of: 3) }
        if let field { metadata.put(Int64(length), at: 8 + field) }
        try spool.append(metadata)
        for place in places { try add(place, at: offset) }
    }

    /// A buffer: its location, its unpacked size, and whether it is packed.
    private struct Place {
        let bytes: Range<Int>
        let count: Int
        let isPacked: Bool
    }

    private func place(
        _ index: Int, _ buffers: FlatVector, _ message: ArrowMessage
    ) throws(ArrowFault) -> Place {
        let offset = try buffers.integer(Int64.self, of: index)
        let length = try buffers.integer(Int64.self, of: index, at: 8)
        let room = Int64(message.body.count)
        guard offset >= 0, length >= 0, offset <= room, length <= room - offset else { throw .damaged }
        let start = message.body.lowerBound + Int(offset)
        guard length > 0 else { return Place(bytes: start..<start, count: 0, isPacked: false) }
        guard length >= 8 else { throw .damaged }
        let unpacked = Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: Int64.self))
        let range = start + 8..<start + Int(length)
        guard unpacked != -1 else { return Place(bytes: range, count: range.count, isPacked: false) }
        guard unpacked >= 0, unpacked / Int64(ZstdStream.mostPossibleRatio) <= length else { throw .damaged }
        return Place(bytes: range, count: Int(unpacked), isPacked: true)
    }

    private func add(_ place: Place, at offset: Int) throws(TraceError) {
        guard place.count <= limit - spool.count else { throw Unpacking.tooLarge(path) }
        let packed = UnsafeRawBufferPointer(rebasing: bytes[place.bytes])
        if place.isPacked {
            func damage(_ words: String) -> TraceError {
                TraceError(.data, path: path, "message at byte \(offset): a column is damaged: \(words)")
            }
            stream.begin()
            var count = 0
            try stream.unpack(packed, damage: damage) { part throws(TraceError) in
                count += part.count
                guard count <= place.count else { throw damage("it is longer than it claims") }
                try spool.append(part)
            }
            guard count == place.count else { throw damage("it is shorter than it claims") }
        } else {
            try spool.append(packed)
        }
        try spool.append(repeatElement(0, count: ArrowMessageWriter.roundUp(place.count) - place.count))
    }

    private func append(_ range: Range<Int>) throws(TraceError) {
        try spool.append(UnsafeRawBufferPointer(rebasing: bytes[range.clamped(to: 0..<bytes.count)]))
    }
}

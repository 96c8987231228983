/// A message of a stream: its metadata, and the location of its body.
///
/// Lengths are checked against the file and locations against the body before they are used, and nothing is allocated from them.
///
/// Source: Arrow, "Arrow Columnar Format", section "Encapsulated message format".
package struct ArrowMessage {
    package enum Finding {
        case message(ArrowMessage)
        /// The end of the stream, or of a file that was truncated between two messages; with the offset after it.
        case end(next: Int)
        case torn
    }

    package enum Header {
        package static let schema: UInt8 = 1
        package static let dictionary: UInt8 = 2
        package static let batch: UInt8 = 3
    }

    package let table: FlatTable
    package let header: UInt8
    /// The location of the body, which may reach beyond the end of the file.
    package let body: Range<Int>

    /// The mark in front of every message.
    package static let continuation: UInt32 = 0xFFFF_FFFF
    /// A bound for damaged lengths: metadata has some hundred bytes, with thousands of columns some hundred thousand.
    private static let longestMetadata = 1 << 26
    private static let version4 = 3

    /// Parses the message at an offset; throws ``ArrowFault`` when it is not a message.
    package static func find(in bytes: UnsafeRawBufferPointer, at offset: Int) throws(ArrowFault) -> Finding {
        let rest = bytes.count - offset
        guard rest > 0 else { return .end(next: bytes.count) }
        guard rest >= 8 else { return .torn }
        let mark = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        let length = Int(Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 4, as: Int32.self)))
        guard mark == continuation else {
            // After a power failure the end of a file may consist of zeros.
            if mark == 0, length == 0 { return .torn }
            throw ArrowFault("no message begins here: the file is damaged")
        }
        guard length != 0 else { return .end(next: offset + 8) }
        guard length > 0, length <= longestMetadata else {
            throw ArrowFault("a message with \(length) bytes of metadata: the file is damaged")
        }
        guard length <= rest - 8 else { return .torn }
        let start = offset + 8 + length
        let metadata = FlatBuffer(bytes: UnsafeRawBufferPointer(rebasing: bytes[offset + 8..<start]))
        return .message(try ArrowMessage(metadata.root(), bodyStart: start))
    }

    private init(_ table: FlatTable, bodyStart: Int) throws(ArrowFault) {
        self.table = table
        header = try table.integer(1, default: 0)
        let length = try table.integer(3, default: Int64(0))
        guard length >= 0, length <= Int64(Int.max - bodyStart) else { throw .damaged }
        body = bodyStart..<bodyStart + Int(length)
    }

    /// The version of the metadata; throws ``ArrowFault`` for one that cannot be read.
    package func version() throws(ArrowFault) -> Int {
        let version = Int(try table.integer(0, default: Int16(0)))
        guard version >= Self.version4 else {
            throw ArrowFault("is an Arrow stream of version \(version + 1): only 4 and 5 can be read")
        }
        return version
    }

    /// The value of a key in its metadata; `nil` when it has none.
    package func value(of key: String) throws(ArrowFault) -> String? {
        // Messages usually have one pair, for which a dictionary would be wasteful.
        let pairs = try table.tables(4)
        for index in 0..<pairs.count {
            let pair = try pairs.table(index)
            guard try pair.string(0, limit: 1 << 20) == key else { continue }
            return try pair.string(1, limit: 1 << 20)
        }
        return nil
    }
}

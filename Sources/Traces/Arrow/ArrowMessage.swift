/// One message of a stream: its metadata, and where its body is.
///
/// Whatever the bytes say is checked before it is used, lengths against the file and places against the body. Nothing is
/// allocated for what they say.
///
/// Source: Arrow, "Arrow Columnar Format", section "Encapsulated message format".
struct ArrowMessage {
    /// What stands at a place in a file.
    enum Finding {
        case message(ArrowMessage)
        /// The end of the stream, or of a file that was cut between two messages; with the place behind it.
        case end(next: Int)
        /// A message that the file has not all of.
        case torn
    }

    /// What a message is about, as it says itself.
    enum Header {
        static let schema: UInt8 = 1
        static let dictionary: UInt8 = 2
        static let batch: UInt8 = 3
    }

    /// A `Message`.
    let table: FlatTable
    let header: UInt8
    /// Where the body lies; it may reach beyond the end of the file.
    let body: Range<Int>

    /// Stands before every message.
    static let continuation: UInt32 = 0xFFFF_FFFF
    /// Metadata has some hundred bytes, with thousands of columns some hundred thousand.
    private static let longestMetadata = 1 << 26
    private static let version4 = 3

    /// Finds what stands at a place.
    ///
    /// - Throws: ``ArrowFault`` when it is no message.
    static func find(in bytes: UnsafeRawBufferPointer, at offset: Int) throws(ArrowFault) -> Finding {
        let rest = bytes.count - offset
        guard rest > 0 else { return .end(next: bytes.count) }
        guard rest >= 8 else { return .torn }
        let mark = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        let length = Int(Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 4, as: Int32.self)))
        guard mark == continuation else {
            // After a loss of power the end of a file may never have been written.
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

    /// The version of the metadata, when it can be read.
    func version() throws(ArrowFault) -> Int {
        let version = Int(try table.integer(0, default: Int16(0)))
        guard version >= Self.version4 else {
            throw ArrowFault("is an Arrow stream of version \(version + 1): only 4 and 5 can be read")
        }
        return version
    }
}

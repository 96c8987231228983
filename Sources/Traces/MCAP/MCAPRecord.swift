/// A record of an MCAP file to be written: opcode, length and contents, little-endian.
///
/// Source: the MCAP format specification, version 0 (mcap.dev/spec).
struct MCAPRecord {
    enum Opcode: UInt8 {
        case header = 0x01
        case footer, schema, channel, message, chunk, messageIndex, chunkIndex
        case statistics = 0x0B
        case summaryOffset = 0x0E
        case dataEnd
    }

    /// The first and the last bytes of a file.
    static let magic: [UInt8] = [0x89] + Array("MCAP0\r\n".utf8)
    /// The bytes before the contents of a record.
    static let prefixCount = 9
    /// The bytes of a chunk before its records, where these are not compressed.
    static let chunkPrefixCount = prefixCount + 8 + 8 + 8 + 4 + 4 + 8

    private(set) var bytes: [UInt8]

    /// Begins a record; a length of the contents that is given is not counted by ``finished``.
    init(_ opcode: Opcode, contentCount: Int = 0) {
        bytes = [opcode.rawValue]
        add(UInt64(contentCount))
    }

    /// The record, with the length of its contents.
    var finished: [UInt8] {
        var bytes = bytes
        bytes.store(UInt64(bytes.count - Self.prefixCount), at: 1)
        return bytes
    }

    mutating func add(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Adds several numbers; one by one is three times as fast, for what stands there for each message.
    mutating func add<each Number: FixedWidthInteger>(_ numbers: repeat each Number) { repeat add(each numbers) }

    mutating func add(_ text: String) {
        add(UInt32(text.utf8.count))
        bytes += text.utf8
    }

    mutating func add(zeros count: Int) {
        bytes += repeatElement(0, count: count)
    }

    /// Adds an array or a map, which begins with the number of its bytes.
    mutating func add<Element>(_ elements: [Element], _ addElement: (inout MCAPRecord, Element) -> Void) {
        let start = bytes.count
        add(UInt32(0))
        for element in elements { addElement(&self, element) }
        bytes.store(UInt32(bytes.count - start - 4), at: start)
    }
}

extension [UInt8] {
    /// Replaces the bytes at an offset by a number, little-endian.
    mutating func store<Number: FixedWidthInteger>(_ number: Number, at offset: Int) {
        withUnsafeMutableBytes { $0.storeBytes(of: number.littleEndian, toByteOffset: offset, as: Number.self) }
    }
}

/// A record of an MCAP file whose bytes are not trusted: it lies within the bytes in which it was found, and its fields may not.
struct MCAPFinding {
    let opcode: UInt8
    /// The whole record, with its opcode and its length.
    let bytes: UnsafeRawBufferPointer

    /// Finds the record at an offset; `nil` when the bytes end before it does.
    init?(in all: UnsafeRawBufferPointer, at offset: Int) {
        guard all.count - offset >= MCAPRecord.prefixCount else { return nil }
        opcode = all[offset]
        let count = UInt64(littleEndian: all.loadUnaligned(fromByteOffset: offset + 1, as: UInt64.self))
        guard count <= UInt64(all.count - offset - MCAPRecord.prefixCount) else { return nil }
        bytes = UnsafeRawBufferPointer(rebasing: all[offset..<offset + MCAPRecord.prefixCount + Int(count)])
    }

    var kind: MCAPRecord.Opcode? { MCAPRecord.Opcode(rawValue: opcode) }
    var fields: MCAPFields { MCAPFields(rest: bytes[MCAPRecord.prefixCount...]) }
}

/// A cursor over the fields of a record; a field that ends behind the record is `nil`.
struct MCAPFields {
    private(set) var rest: Slice<UnsafeRawBufferPointer>

    mutating func bytes(_ count: UInt64) -> UnsafeRawBufferPointer? {
        guard count <= UInt64(rest.count) else { return nil }
        defer { rest = rest.dropFirst(Int(count)) }
        return UnsafeRawBufferPointer(rebasing: rest.prefix(Int(count)))
    }

    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number? {
        bytes(UInt64(MemoryLayout<Number>.size)).map { Number(littleEndian: $0.loadUnaligned(as: Number.self)) }
    }

    /// A text with its length before it, or the beginning of a long one.
    mutating func text() -> String? {
        number(UInt32.self).flatMap { bytes(UInt64($0)) }.map { String(decoding: $0.prefix(1024), as: UTF8.self) }
    }

    /// The entries of our own in a map of texts, with the number of its bytes before it.
    mutating func texts() -> [String: String]? {
        guard let all = number(UInt32.self).flatMap({ bytes(UInt64($0)) }) else { return nil }
        var entries = MCAPFields(rest: all[...])
        var texts: [String: String] = [:]
        while let key = entries.text(), let value = entries.text() {
            if key.hasPrefix("binnacle.") { texts[key] = value }
        }
        return texts
    }
}

/// The checksum of chunks: CRC-32 of IEEE 802.3, eight bytes at a time.
enum MCAPChecksum {
    private static let tables: [UInt32] = {
        var tables = (0..<256).map { (0..<8).reduce(UInt32($0)) { rest, _ in rest >> 1 ^ (rest & 1) * 0xEDB8_8320 } }
        for index in 256..<2048 { tables.append(tables[index - 256] >> 8 ^ tables[Int(tables[index - 256] & 255)]) }
        return tables
    }()

    static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        tables.withUnsafeBufferPointer { tables in
            var sum = UInt32.max
            var offset = 0
            while bytes.count - offset >= 8 {
                let word =
                    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) ^ UInt64(sum)
                sum = 0
                for place in 0..<8 { sum ^= tables[(7 - place) << 8 | Int(word >> UInt64(8 * place) & 255)] }
                offset += 8
            }
            for byte in bytes[offset...] { sum = sum >> 8 ^ tables[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] }
            return ~sum
        }
    }
}

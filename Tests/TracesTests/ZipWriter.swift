/// Writes zip archives as the format describes them, also such as no program writes.
struct ZipWriter {
    struct Entry {
        var name: String
        var text = ""
        /// The type and permissions of Unix.
        var mode: UInt32 = 0o100644
        var isEncrypted = false
        /// 0 for bytes as they are, 14 for LZMA.
        var method: UInt16 = 0
        /// The size that the directory states; `nil` for the right one.
        var statedSize: UInt32?
        var checksum: UInt32?
    }

    static func archive(_ entries: [Entry]) -> [UInt8] {
        var bytes: [UInt8] = []
        var directory: [UInt8] = []
        for entry in entries {
            let (text, name) = (Array(entry.text.utf8), Array(entry.name.utf8))
            let size = entry.statedSize ?? UInt32(text.count)
            var common = little(UInt16(20)) + little(UInt16(entry.isEncrypted ? 0x801 : 0x800)) + little(entry.method)
            common += little(UInt32(0)) + little(entry.checksum ?? checksum(text))
            common += little(UInt32(text.count)) + little(size) + little(UInt16(name.count)) + little(UInt16(0))
            // Made by Unix, so that the attributes are a mode.
            directory += Array("PK\u{1}\u{2}".utf8) + little(UInt16(3 << 8 | 20)) + common + little(UInt16(0))
            directory +=
                little(UInt16(0)) + little(UInt16(0)) + little(entry.mode << 16) + little(UInt32(bytes.count)) + name
            bytes += Array("PK\u{3}\u{4}".utf8) + common + name + text
        }
        let count = little(UInt16(entries.count))
        let end = little(UInt32(directory.count)) + little(UInt32(bytes.count)) + little(UInt16(0))
        return bytes + directory + Array("PK\u{5}\u{6}".utf8) + little(UInt32(0)) + count + count + end
    }

    private static func little(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }

    /// The CRC-32 of the format.
    static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var sum: UInt32 = ~0
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        return ~sum
    }
}

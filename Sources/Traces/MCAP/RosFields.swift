import Binnacle

/// The fields of a message that is not trusted, where its encapsulation, byte order and frame put them.
///
/// Sources: as of ``RosMessage``; ROS 1 writes a sequence number before the stamp, and pads nothing.
struct RosFields {
    private let bytes: UnsafeRawBufferPointer
    private let isBigEndian: Bool
    /// The place of the stamp, of the name of the frame, and of what follows the header.
    private let (stamp, body): (Int, Int)
    private let name: Range<Int>

    /// `nil` for bytes that are too few, and for an encapsulation that ROS does not write.
    init?(_ bytes: UnsafeRawBufferPointer, of topic: MCAPTopic) {
        // An encapsulation and the sequence number of ROS 1 have four bytes.
        stamp = RosMessage.encapsulation.count
        guard bytes.count >= stamp + 12, topic.isPacked || (bytes[0] == 0 && bytes[1] <= 1) else { return nil }
        isBigEndian = !topic.isPacked && bytes[1] == 0
        self.bytes = bytes
        let start = stamp + 12
        let word = bytes.loadUnaligned(fromByteOffset: stamp + 8, as: UInt32.self)
        let count = Int(isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word))
        name = start..<start + count
        body = topic.isPacked ? name.upperBound : stamp + (12 + count + 7) / 8 * 8
        guard bytes.count >= body + topic.message.bodyCount else { return nil }
    }

    private func number<Number: FixedWidthInteger>(_ type: Number.Type, at place: Int) -> Number {
        let number = bytes.loadUnaligned(fromByteOffset: place, as: Number.self)
        return isBigEndian ? Number(bigEndian: number) : Number(littleEndian: number)
    }

    /// The stamp; `nil` for one whose nanoseconds are a second or more.
    var timeNanoseconds: Int64? {
        let nanoseconds = number(UInt32.self, at: stamp + 4)
        guard nanoseconds < 1_000_000_000 else { return nil }
        return Int64(number(Int32.self, at: stamp)) * 1_000_000_000 + Int64(nanoseconds)
    }

    /// The name of the frame, without its closing zero.
    var frame: String { String(decoding: bytes[name].prefix(1024).prefix { $0 != 0 }, as: UTF8.self) }

    /// Whether the covariance does not say that the quantity is not measured.
    func isMeasured(_ kind: SampleKind) -> Bool { value(kind, 3) != -1 }

    /// An axis of a quantity, or the first element of its covariance at 3.
    func value(_ kind: SampleKind, _ axis: Int) -> Double {
        Double(bitPattern: number(UInt64.self, at: body + RosMessage.vector(of: kind) + 8 * axis))
    }
}

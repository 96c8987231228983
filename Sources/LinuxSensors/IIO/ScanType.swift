/// The layout of one channel's value in a scan, as the kernel writes it: `[be|le]:[s|u]bits/storagebits[Xrepeat][>>shift]`.
///
/// Source: Linux, Documentation/ABI/testing/sysfs-bus-iio, `scan_elements/*_type`.
package struct ScanType: Sendable, Equatable, CustomStringConvertible {
    /// Whether the most significant byte comes first.
    package let isBigEndian: Bool
    package let isSigned: Bool
    /// The number of significant bits, 1 to 64.
    package let bits: Int
    /// The size of one value in bytes, 1 to 8.
    package let storageBytes: Int
    /// The number of adjacent values, at least 1.
    package let repeatCount: Int
    /// The shift to the right, in bits.
    package let shift: Int

    /// The size of the whole channel in bytes.
    package var byteCount: Int { storageBytes * repeatCount }

    /// Creates a type; `nil` when no scan can have it.
    package init?(
        isBigEndian: Bool = false, isSigned: Bool, bits: Int, storageBits: Int, repeatCount: Int = 1, shift: Int = 0
    ) {
        guard (8...64).contains(storageBits), storageBits % 8 == 0, (1...storageBits).contains(bits),
            (1...64).contains(repeatCount), shift >= 0, shift + bits <= storageBits
        else { return nil }
        self.isBigEndian = isBigEndian
        self.isSigned = isSigned
        self.bits = bits
        storageBytes = storageBits / 8
        self.repeatCount = repeatCount
        self.shift = shift
    }

    /// Parses the kernel's text; `nil` when it is invalid or no scan can have that type.
    package init?(_ text: String) {
        var rest = text.utf8[...]
        let isBigEndian = rest.starts(with: "be:".utf8)
        guard isBigEndian || rest.starts(with: "le:".utf8) else { return nil }
        rest = rest.dropFirst(3)
        let sign = rest.popFirst()
        guard sign == UInt8(ascii: "s") || sign == UInt8(ascii: "u"), let bits = Self.number(&rest),
            rest.popFirst() == UInt8(ascii: "/"), let storageBits = Self.number(&rest)
        else { return nil }
        var repeatCount = 1
        if rest.first == UInt8(ascii: "X") {
            rest = rest.dropFirst()
            guard let count = Self.number(&rest) else { return nil }
            repeatCount = count
        }
        var shift = 0
        if rest.starts(with: ">>".utf8) {
            rest = rest.dropFirst(2)
            guard let count = Self.number(&rest) else { return nil }
            shift = count
        }
        guard rest.isEmpty else { return nil }
        self.init(
            isBigEndian: isBigEndian, isSigned: sign == UInt8(ascii: "s"), bits: bits, storageBits: storageBits,
            repeatCount: repeatCount, shift: shift)
    }

    /// The type in the kernel's format.
    package var description: String {
        "\(isBigEndian ? "be" : "le"):\(isSigned ? "s" : "u")\(bits)/\(storageBytes * 8)"
            + (repeatCount > 1 ? "X\(repeatCount)" : "") + ">>\(shift)"
    }

    /// A decimal number of at most four digits.
    private static func number(_ rest: inout Substring.UTF8View) -> Int? {
        var value = 0
        var count = 0
        while let byte = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            rest = rest.dropFirst()
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
            count += 1
            guard count <= 4 else { return nil }
        }
        return count > 0 ? value : nil
    }

    /// Extracts the value from a channel's first bytes, ``storageBytes`` of which are read: byte order, then shift, then mask,
    /// then sign.
    ///
    /// The mask is necessary: some devices leave another axis in the upper bits of each slot. An unsigned value of 64 bits is
    /// returned as its two's complement.
    package func value(at bytes: UnsafeRawPointer) -> Int64 {
        var word: UInt64
        switch storageBytes {
        case 1: word = UInt64(bytes.load(as: UInt8.self))
        case 2:
            let half = bytes.loadUnaligned(as: UInt16.self)
            word = UInt64(isBigEndian ? half.bigEndian : half.littleEndian)
        case 4:
            let half = bytes.loadUnaligned(as: UInt32.self)
            word = UInt64(isBigEndian ? half.bigEndian : half.littleEndian)
        case 8:
            let whole = bytes.loadUnaligned(as: UInt64.self)
            word = isBigEndian ? whole.bigEndian : whole.littleEndian
        default:
            word = 0
            for index in 0..<storageBytes {
                let place = isBigEndian ? index : storageBytes - 1 - index
                word = word << 8 | UInt64(bytes.load(fromByteOffset: place, as: UInt8.self))
            }
        }
        let unused = UInt64(64 - bits)
        let raised = (word >> UInt64(shift)) << unused
        return isSigned ? Int64(bitPattern: raised) >> Int64(unused) : Int64(bitPattern: raised >> unused)
    }

    package func number(at bytes: UnsafeRawPointer) -> Double {
        let value = value(at: bytes)
        return isSigned || bits < 64 ? Double(value) : Double(UInt64(bitPattern: value))
    }
}

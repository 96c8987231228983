/// One element of a scan: what sysfs says about it.
struct ScanChannel: Sendable {
    let name: String
    let type: String

    /// Three axes of one type and, unless it is nil, the time.
    static func axes(_ kind: String, _ type: String, time: String? = "le:s64/64>>0") -> [ScanChannel] {
        let axes = ["x", "y", "z"].map { ScanChannel(name: "in_\(kind)_\($0)", type: type) }
        return axes + (time.map { [ScanChannel(name: "in_timestamp", type: $0)] } ?? [])
    }
}

/// Puts scans together as the kernel does.
struct ScanEncoder {
    private struct Element {
        let isBigEndian: Bool
        let bits: Int
        let bytes: Int
        let shift: Int
    }

    private let elements: [Element]
    /// Fills the bits that hold no value.
    var rubbish: UInt64 = 0

    /// Takes the types as they stand in sysfs, such as `be:s12/16>>4`.
    init(_ channels: [ScanChannel]) {
        elements = channels.map { channel in
            let words = channel.type.split { ":/>".contains($0) }
            return Element(
                isBigEndian: words[0] == "be", bits: Int(words[1].dropFirst()) ?? 0,
                bytes: (Int(words[2]) ?? 0) / 8, shift: words.count > 3 ? Int(words[3]) ?? 0 : 0)
        }
    }

    /// The bytes of one scan.
    func scan(_ values: [Int64]) -> [UInt8] {
        var scan: [UInt8] = []
        for (element, value) in zip(elements, values) {
            pad(&scan, to: element.bytes)
            let mask = element.bits == 64 ? UInt64.max : (1 << UInt64(element.bits)) - 1
            let slot =
                (UInt64(bitPattern: value) & mask) << UInt64(element.shift) | rubbish & ~(mask << UInt64(element.shift))
            let bytes = (0..<element.bytes).map { UInt8(truncatingIfNeeded: slot >> UInt64(8 * $0)) }
            scan += element.isBigEndian ? bytes.reversed() : bytes
        }
        pad(&scan, to: elements.map(\.bytes).max() ?? 1)
        return scan
    }

    private func pad(_ scan: inout [UInt8], to size: Int) {
        while scan.count % size != 0 { scan.append(0xA5) }
    }
}

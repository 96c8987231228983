/// How the three axes and the stamp of one sample lie in a scan, in the layouts that the scan kernels know.
///
/// A scan is what the kernel writes for one sample of an IIO device. All axes are of one type.
package struct ScanFormat: Sendable, Equatable {
    /// What one axis is stored as; always with a sign.
    package enum Element: Sendable, CaseIterable {
        /// Two bytes, the least significant first.
        case int16LittleEndian
        /// Two bytes, the most significant first.
        case int16BigEndian
        /// Four bytes, the least significant first.
        case int32LittleEndian

        /// The bytes of one axis.
        package var byteCount: Int { self == .int32LittleEndian ? 4 : 2 }
    }

    /// The distance from one scan to the next, in bytes.
    package let stride: Int
    /// What the axes are stored as.
    package let element: Element
    /// How many bits at the bottom mean nothing: a value is what is stored, shifted so far to the right.
    package let shift: Int
    /// Where the axes begin in a scan, in bytes.
    package let xOffset: Int
    /// Where the second axis begins.
    package let yOffset: Int
    /// Where the third axis begins.
    package let zOffset: Int
    /// Where the stamp begins, a signed number of eight bytes in the machine's own order; `nil` when there is none.
    package let timestampOffset: Int?
    /// For each of sixteen bytes, which are two compact scans, the byte that belongs there; `nil` for other layouts.
    ///
    /// Afterwards x, y, z and 0 follow each other, the low byte first; 0x80 stands for none. A layout is compact when the axes are
    /// 16 bits each within the first eight bytes, which are followed by nothing or by the stamp.
    let compactOrder: SIMD16<UInt8>?

    /// Describes a layout; `nil` when something would lie outside the scan or inside something else.
    ///
    /// - Parameters:
    ///   - stride: The distance from one scan to the next, in bytes.
    ///   - element: What the axes are stored as.
    ///   - shift: How many bits at the bottom mean nothing; some value has to be left.
    ///   - axisOffsets: Where x, y and z begin, in bytes, in any order.
    ///   - timestampOffset: Where the stamp begins; `nil` when there is none.
    package init?(
        stride: Int, element: Element, shift: Int = 0, axisOffsets: (x: Int, y: Int, z: Int), timestampOffset: Int?
    ) {
        let size = element.byteCount
        var parts = [axisOffsets.x, axisOffsets.y, axisOffsets.z].map { (start: $0, count: size) }
        if let timestampOffset { parts.append((timestampOffset, 8)) }
        parts.sort { $0.start < $1.start }
        guard (0..<8 * size).contains(shift), (1...4096).contains(stride),
            parts.allSatisfy({ $0.start >= 0 && $0.start <= stride - $0.count }),
            zip(parts, parts.dropFirst()).allSatisfy({ $0.start + $0.count <= $1.start })
        else { return nil }
        self.stride = stride
        self.element = element
        self.shift = shift
        xOffset = axisOffsets.x
        yOffset = axisOffsets.y
        zOffset = axisOffsets.z
        self.timestampOffset = timestampOffset
        compactOrder = Self.compactOrder(
            stride, element, SIMD3(axisOffsets.x, axisOffsets.y, axisOffsets.z), timestampOffset)
    }

    private static func compactOrder(
        _ stride: Int, _ element: Element, _ offsets: SIMD3<Int>, _ timestampOffset: Int?
    ) -> SIMD16<UInt8>? {
        guard element != .int32LittleEndian, offsets.max() <= 6, all((offsets & 1) .== 0),
            stride == 8 && timestampOffset == nil || stride == 16 && (timestampOffset ?? 8) == 8
        else { return nil }
        let (low, high) = element == .int16BigEndian ? (1, 0) : (0, 1)
        var order = SIMD16<UInt8>(repeating: 0x80)
        for scan in 0...1 {
            for axis in 0..<3 {
                order[8 * scan + 2 * axis] = UInt8(8 * scan + offsets[axis] + low)
                order[8 * scan + 2 * axis + 1] = UInt8(8 * scan + offsets[axis] + high)
            }
        }
        return order
    }
}

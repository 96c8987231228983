/// The location of the three axes and the stamp in a scan, in the layouts that the scan kernels support.
///
/// A scan is what the kernel writes for one sample of an IIO device. All axes have the same type.
package struct ScanFormat: Sendable, Equatable {
    /// The type of an axis; always signed.
    package enum Element: Sendable, CaseIterable {
        /// Two bytes, little-endian.
        case int16LittleEndian
        /// Two bytes, big-endian.
        case int16BigEndian
        /// Four bytes, little-endian.
        case int32LittleEndian

        /// The size of an axis in bytes.
        package var byteCount: Int { self == .int32LittleEndian ? 4 : 2 }
    }

    /// The distance from one scan to the next, in bytes.
    package let stride: Int
    /// The type of the axes.
    package let element: Element
    /// The number of unused low bits, by which a stored value is shifted right.
    package let shift: Int
    /// The offset of the first axis in a scan, in bytes.
    package let xOffset: Int
    /// The offset of the second axis.
    package let yOffset: Int
    /// The offset of the third axis.
    package let zOffset: Int
    /// The offset of the stamp, a native signed 64-bit number; `nil` when there is none.
    package let timestampOffset: Int?
    /// The shuffle of 16 bytes, two compact scans, into x, y, z and 0 in little-endian; 0x80 for zero; `nil` for other
    /// layouts.
    ///
    /// A layout is compact when the axes have 16 bits each within the first eight bytes, and nothing or the stamp follows.
    let compactOrder: SIMD16<UInt8>?

    /// Describes a layout; `nil` when a part would be outside the scan or overlap another, or all bits are shifted away.
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

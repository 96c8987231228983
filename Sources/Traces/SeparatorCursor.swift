/// Finds the bytes that cut a row into fields, and the marks of decimals, 64 bytes at a time.
///
/// Where a separator stands then depends on no number before it, so that the processor reads several numbers side by
/// side. The 64 bytes behind a position that the cursor is set to have to be readable.
struct SeparatorCursor {
    /// How many bytes are looked at together.
    static let blockSize = 64

    private let delimiter: SIMD16<UInt8>
    private let mark: SIMD16<UInt8>
    private let otherMark: SIMD16<UInt8>
    private let end: UnsafePointer<UInt8>
    private var block: UnsafePointer<UInt8>
    /// A bit for each byte of the block that is a separator and was not given yet, the first lowest.
    private var separators: UInt64 = 0

    /// - Parameters:
    ///   - dialect: Says what separates.
    ///   - text: Where the first row starts.
    ///   - end: What stands there or later is not looked for.
    @inline(__always)
    init(_ dialect: CSVDialect, text: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>) {
        delimiter = SIMD16(repeating: dialect.delimiter)
        mark = SIMD16(repeating: CSVDialect.point)
        otherMark = SIMD16(repeating: dialect.otherMark)
        block = text
        self.end = end
    }

    /// Goes on at a position, wherever the cursor stands.
    @inline(__always)
    mutating func move(to position: UnsafePointer<UInt8>) {
        block = position
        separators = separators(in: position)
    }

    /// The next delimiter, mark or line end; `nil` when there is none.
    ///
    /// It may lie up to a block behind the end, where nothing that is read counts.
    @inline(__always)
    mutating func next() -> UnsafePointer<UInt8>? {
        while separators == 0 {
            block += Self.blockSize
            guard block < end else { return nil }
            separators = separators(in: block)
        }
        // The top bit changes nothing, and tells the compiler that there is a lowest one.
        let found = block + (separators | 1 << 63).trailingZeroBitCount
        separators &= separators &- 1
        return found
    }

    /// One bit for each of 64 bytes.
    ///
    /// There is no instruction on every machine that makes bits of comparisons. So byte `i` of eight bytes gets bit `k`
    /// when byte `i` of the `k`-th eight is a separator, and the square of 8 × 8 bits is then mirrored at its diagonal.
    @inline(__always)
    private func separators(in block: UnsafePointer<UInt8>) -> UInt64 {
        let square =
            weights(block, 1, 2) | weights(block + 16, 4, 8) | weights(block + 32, 16, 32)
            | weights(block + 48, 64, 128)
        let halves = unsafeBitCast(square, to: SIMD2<UInt64>.self)
        var bits = UInt64(littleEndian: halves[0] | halves[1])
        var swapped = (bits ^ bits >> 7) & 0x00AA_00AA_00AA_00AA
        bits ^= swapped ^ swapped << 7
        swapped = (bits ^ bits >> 14) & 0x0000_CCCC_0000_CCCC
        bits ^= swapped ^ swapped << 14
        swapped = (bits ^ bits >> 28) & 0x0000_0000_F0F0_F0F0
        return bits ^ swapped ^ swapped << 28
    }

    /// A weight for each separator in 16 bytes, one for those in the first eight and one for the others.
    @inline(__always)
    private func weights(_ bytes: UnsafePointer<UInt8>, _ first: UInt8, _ second: UInt8) -> SIMD16<UInt8> {
        let text = UnsafeRawPointer(bytes).loadUnaligned(as: SIMD16<UInt8>.self)
        let found =
            (text .== delimiter) .| (text .== SIMD16(repeating: CSVDialect.newline)) .| (text .== mark)
            .| (text .== otherMark)
        let low = SIMD8(repeating: first)
        let high = SIMD8(repeating: second)
        return SIMD16<UInt8>(repeating: 0).replacing(with: SIMD16(lowHalf: low, highHalf: high), where: found)
    }
}

/// Finds the bytes that cut a row into fields, and the marks of decimals, 64 bytes at a time.
///
/// Where a separator stands then depends on no number before it, so that the processor reads several numbers side by
/// side.
struct SeparatorFinder {
    /// How many bytes are looked at together; so many have to be readable.
    static let blockSize = 64

    private let delimiter: SIMD16<UInt8>
    private let newline: SIMD16<UInt8>
    private let point: SIMD16<UInt8>
    private let otherMark: SIMD16<UInt8>

    init(_ dialect: CSVDialect) {
        newline = SIMD16(repeating: CSVDialect.newline)
        point = SIMD16(repeating: CSVDialect.point)
        delimiter = SIMD16(repeating: dialect.delimiter)
        otherMark = SIMD16(repeating: dialect.otherMark)
    }

    /// Finds the next block that has a separator.
    ///
    /// - Parameters:
    ///   - block: The block to start behind.
    ///   - end: The block has to start before it.
    /// - Returns: The block, or the last one looked at, and what ``separators(in:)`` says of it; 0 when there is none.
    @inline(never)
    func nextBlock(
        behind block: UnsafePointer<UInt8>, before end: UnsafePointer<UInt8>
    ) -> (UnsafePointer<UInt8>, separators: UInt64) {
        var block = block + Self.blockSize
        while block < end {
            let separators = separators(in: block)
            if separators != 0 { return (block, separators) }
            block += Self.blockSize
        }
        return (block, 0)
    }

    /// One bit for each byte of a block, the first lowest: whether it is a delimiter, a mark or a line end.
    ///
    /// There is no instruction on every machine that makes bits of comparisons. So byte `i` of eight gets bit `k` when
    /// byte `i` of the `k`-th eight is a separator, and the square of 8 × 8 bits is then mirrored at its diagonal.
    @inline(__always)
    func separators(in block: UnsafePointer<UInt8>) -> UInt64 {
        let square =
            found(block) & SIMD2(0x0101_0101_0101_0101, 0x0202_0202_0202_0202)
            | found(block + 16) & SIMD2(0x0404_0404_0404_0404, 0x0808_0808_0808_0808)
            | found(block + 32) & SIMD2(0x1010_1010_1010_1010, 0x2020_2020_2020_2020)
            | found(block + 48) & SIMD2(0x4040_4040_4040_4040, 0x8080_8080_8080_8080)
        var bits = UInt64(littleEndian: square[0] | square[1])
        var swapped = (bits ^ bits &>> 7) & 0x00AA_00AA_00AA_00AA
        bits ^= swapped | swapped &<< 7
        swapped = (bits ^ bits &>> 14) & 0x0000_CCCC_0000_CCCC
        bits ^= swapped | swapped &<< 14
        swapped = (bits ^ bits &>> 28) & 0x0000_0000_F0F0_F0F0
        return bits ^ (swapped | swapped &<< 28)
    }

    /// All bits of each byte that is a separator, among 16.
    @inline(__always)
    private func found(_ bytes: UnsafePointer<UInt8>) -> SIMD2<UInt64> {
        let text = UnsafeRawPointer(bytes).loadUnaligned(as: SIMD16<UInt8>.self)
        let found = (text .== delimiter) .| (text .== newline) .| (text .== point) .| (text .== otherMark)
        return unsafeBitCast(found, to: SIMD2<UInt64>.self)
    }
}

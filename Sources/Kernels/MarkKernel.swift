import CKernels

/// Finds the bytes of a text that are one of four, 64 at a time.
package struct MarkKernel: Sendable {
    /// The number of bytes in a block.
    package static let blockSize = 64

    private let sought: (UInt8, UInt8, UInt8, UInt8)
    private let instructionSet: InstructionSet

    /// Creates a kernel for four bytes, which need not differ; all forms give the same bits.
    package init(_ sought: (UInt8, UInt8, UInt8, UInt8), using instructionSet: InstructionSet = .current) {
        self.sought = sought
        self.instructionSet = instructionSet
    }

    /// Marks the bytes of blocks of ``blockSize`` bytes at any address: a word for each block with a bit for each byte, the first
    /// in the lowest.
    package func mark(
        _ text: UnsafePointer<UInt8>, blockCount: Int, into words: UnsafeMutablePointer<UInt64>
    ) {
        switch instructionSet {
        case .scalar: markOneByOne(text, blockCount, words)
        #if arch(x86_64)
            case .avx2, .avx512:
                withUnsafePointer(to: sought) { sought in
                    let bytes = UnsafeRawPointer(sought).assumingMemoryBound(to: UInt8.self)
                    if instructionSet == .avx512 {
                        ck_marks_avx512(text, blockCount, bytes, words)
                    } else {
                        ck_marks_avx2(text, blockCount, bytes, words)
                    }
                }
        #endif
        default: markSixteen(text, blockCount, words)
        }
    }

    private func markOneByOne(
        _ text: UnsafePointer<UInt8>, _ blockCount: Int, _ words: UnsafeMutablePointer<UInt64>
    ) {
        for block in 0..<blockCount {
            var word: UInt64 = 0
            for place in 0..<Self.blockSize {
                let byte = text[block * Self.blockSize + place]
                let isFound = byte == sought.0 || byte == sought.1 || byte == sought.2 || byte == sought.3
                word |= (isFound ? 1 : 0) << UInt64(place)
            }
            words[block] = word
        }
    }

    private func markSixteen(
        _ text: UnsafePointer<UInt8>, _ blockCount: Int, _ words: UnsafeMutablePointer<UInt64>
    ) {
        let sought = (
            SIMD16(repeating: sought.0), SIMD16(repeating: sought.1), SIMD16(repeating: sought.2),
            SIMD16(repeating: sought.3)
        )
        @inline(__always)
        func found(_ bytes: UnsafePointer<UInt8>) -> SIMD2<UInt64> {
            let bytes = UnsafeRawPointer(bytes).loadUnaligned(as: SIMD16<UInt8>.self)
            let found = (bytes .== sought.0) .| (bytes .== sought.1) .| (bytes .== sought.2) .| (bytes .== sought.3)
            return unsafeBitCast(found, to: SIMD2<UInt64>.self)
        }
        for number in 0..<blockCount {
            let block = text + number * Self.blockSize
            // Swift's SIMD types cannot turn comparisons into bits. Therefore byte `i` of eight gets bit `k` when byte `i` of the
            // `k`-th eight is found, and the 8 × 8 bits are then transposed.
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
            words[number] = bits ^ (swapped | swapped &<< 28)
        }
    }
}

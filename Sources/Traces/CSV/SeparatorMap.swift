import Kernels

/// The places of delimiters, decimal separators and line ends in a text, found some kilobytes ahead.
///
/// The position of a separator then depends on no number before it, so that the processor parses several numbers in
/// parallel.
struct SeparatorMap {
    /// How many blocks are examined at a time.
    private static let blockCount = 32
    /// A word for each block, and one that is only read together with the last of them.
    static let wordCount = blockCount + 1

    private let marks: MarkKernel
    private let words: UnsafeMutablePointer<UInt64>
    private let end: UnsafePointer<UInt8>
    /// The byte of the lowest bit in the first word.
    private var start: UnsafePointer<UInt8>
    /// The last distance from the start at which 64 bytes are known; at first there is none.
    private var lastOffset = Int.min

    /// Begins with a text.
    ///
    /// - Parameters:
    ///   - marks: Finds the separators.
    ///   - words: Room for ``wordCount`` words, which are 0 at first and belong to the map.
    ///   - end: The text's end, behind which the bytes of a block are readable.
    init(_ marks: MarkKernel, _ words: UnsafeMutablePointer<UInt64>, before end: UnsafePointer<UInt8>) {
        self.marks = marks
        self.words = words
        self.end = end
        start = end
    }

    /// Finds the separators among the 64 bytes from a place on.
    ///
    /// - Parameter place: Before the end of the text; not before the place that was asked for last.
    /// - Returns: A bit for each byte, the first in the lowest.
    @inline(__always)
    mutating func separators(from place: UnsafePointer<UInt8>) -> UInt64 {
        if place - start > lastOffset { examine(from: place) }
        let offset = place - start
        let (word, bit) = (words + offset &>> 6, UInt64(truncatingIfNeeded: offset & 63))
        // Shifted twice, because 64 bits at once would be none.
        return word[0] &>> bit | (word[1] &<< 1) &<< (63 &- bit)
    }

    /// Finds the next 64 bytes with a separator, behind those from `place` on; separators are 0 if there are none before the
    /// end.
    @inline(never)
    mutating func next(behind place: UnsafePointer<UInt8>) -> (UnsafePointer<UInt8>, separators: UInt64) {
        var place = place + MarkKernel.blockSize
        while place < end {
            let separators = separators(from: place)
            if separators != 0 { return (place, separators) }
            place += MarkKernel.blockSize
        }
        return (place, 0)
    }

    @inline(never)
    private mutating func examine(from place: UnsafePointer<UInt8>) {
        let blocks = (end - place + MarkKernel.blockSize - 1) / MarkKernel.blockSize
        let count = min(max(1, blocks), Self.blockCount)
        marks.mark(place, blockCount: count, into: words)
        start = place
        lastOffset = (count - 1) * MarkKernel.blockSize
    }
}

/// Which of the 256 sensor numbers occur.
struct SensorSet: Equatable {
    private var words: SIMD4<UInt64> = .zero

    func contains(_ number: UInt8) -> Bool { words[Int(number >> 6)] >> UInt64(number & 63) & 1 != 0 }

    mutating func insert(_ number: UInt8) { words[Int(number >> 6)] |= 1 << UInt64(number & 63) }

    mutating func formUnion(_ other: SensorSet) { words |= other.words }

    /// This set and further numbers.
    func union(_ numbers: [UInt8]) -> SensorSet {
        var union = self
        for number in numbers { union.insert(number) }
        return union
    }

    /// The numbers in the set, rising.
    var numbers: [UInt8] { (UInt8.min...UInt8.max).filter(contains) }

    /// The numbers in a column.
    init(_ column: UnsafeRawBufferPointer) {
        guard let first = column.first else { return }
        insert(first)
        // Nearly always they are all the same.
        for index in Self.sameCount(column, as: first)..<column.count { insert(column[index]) }
    }

    /// How many numbers at the beginning of a column are known to be the same: a multiple of 64.
    private static func sameCount(_ column: UnsafeRawBufferPointer, as first: UInt8) -> Int {
        let same = SIMD2<UInt64>(repeating: UInt64(first) * 0x0101_0101_0101_0101)
        var offset = 0
        while offset <= column.count - 64 {
            // Words instead of bytes, because the comparison of 64 bytes is made one by one.
            var others = SIMD2<UInt64>.zero
            for part in stride(from: offset, to: offset + 64, by: 16) {
                others |= column.loadUnaligned(fromByteOffset: part, as: SIMD2<UInt64>.self) ^ same
            }
            guard others == .zero else { break }
            offset += 64
        }
        return offset
    }

    init() {}

    /// The only number in the set; `nil` when there are none or several.
    var only: UInt8? {
        var found: UInt8?
        for word in 0..<4 where words[word] != 0 {
            guard found == nil, words[word].nonzeroBitCount == 1 else { return nil }
            found = UInt8(word * 64 + words[word].trailingZeroBitCount)
        }
        return found
    }
}

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
        // Nearly always they are all the same, which is seen 64 at a time.
        let same = SIMD64<UInt8>(repeating: first)
        var offset = 0
        while offset <= column.count - 64 {
            let other = column.loadUnaligned(fromByteOffset: offset, as: SIMD64<UInt8>.self)
            guard other == same else { break }
            offset += 64
        }
        for index in offset..<column.count { insert(column[index]) }
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

/// A set of the 256 sensor numbers.
struct SensorSet: Equatable {
    private var words: SIMD4<UInt64> = .zero

    func contains(_ number: UInt8) -> Bool { words[Int(number >> 6)] >> UInt64(number & 63) & 1 != 0 }

    mutating func insert(_ number: UInt8) { words[Int(number >> 6)] |= 1 << UInt64(number & 63) }

    mutating func formUnion(_ other: SensorSet) { words |= other.words }

    /// The numbers in ascending order.
    var numbers: [UInt8] { (UInt8.min...UInt8.max).filter(contains) }

    init(_ column: UnsafeRawBufferPointer) {
        guard let first = column.first else { return }
        insert(first)
        // Usually the whole column has one number.
        for index in Self.sameCount(column, as: first)..<column.count { insert(column[index]) }
    }

    /// The length of the column's prefix that has only the first number, rounded down to a multiple of 64.
    private static func sameCount(_ column: UnsafeRawBufferPointer, as first: UInt8) -> Int {
        let same = SIMD2<UInt64>(repeating: UInt64(first) * 0x0101_0101_0101_0101)
        var offset = 0
        while offset <= column.count - 64 {
            // Compare words: for bytes the compiler makes 64 single comparisons.
            var others = SIMD2<UInt64>.zero
            for part in stride(from: offset, to: offset + 64, by: 16) {
                others |= column.loadUnaligned(fromByteOffset: part, as: SIMD2<UInt64>.self) ^ same
            }
            guard others == .zero else { break }
            offset += 64
        }
        return offset
    }

    init(_ numbers: [UInt8] = []) {
        for number in numbers { insert(number) }
    }

    var count: Int { words.indices.reduce(0) { $0 + words[$1].nonzeroBitCount } }
}

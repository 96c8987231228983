/// The same random numbers each time (xorshift64*, Vigna 2016).
package struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    /// Begins a row of numbers that belongs to a seed.
    package init(seed: UInt64) {
        state = seed == 0 ? 0x9E37_79B9_7F4A_7C15 : seed
    }

    /// The next 64 bits.
    package mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_F491_4F6C_DD1D
    }

    /// A number from −1 up to but not including 1.
    mutating func signed() -> Float {
        Float(Int32(truncatingIfNeeded: next() >> 32)) * 0x1p-31
    }

    /// Whether something that happens so often happens now.
    mutating func happens(_ share: Double) -> Bool {
        Double(next() >> 11) * 0x1p-53 < share
    }
}

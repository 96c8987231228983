/// Random numbers that are the same for the same seed on every machine.
///
/// Source: G. Steele, D. Lea and C. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014, whose SplitMix64 it is.
package struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    /// The distance of two states; the n-th number is ``mix(_:)`` of the seed and n of them.
    static let increment: UInt64 = 0x9E37_79B9_7F4A_7C15

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= Self.increment
        return Self.mix(state)
    }

    static func mix(_ state: UInt64) -> UInt64 {
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

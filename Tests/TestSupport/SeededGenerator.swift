import Binnacle

/// The same numbers for the same seed, on every machine.
package struct SeededGenerator: RandomNumberGenerator {
    private var numbers: SplitMix64

    package init(seed: UInt64) {
        numbers = SplitMix64(seed: seed)
    }

    package mutating func next() -> UInt64 { numbers.next() }
}

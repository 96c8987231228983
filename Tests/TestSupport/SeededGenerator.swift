import Binnacle

/// The same numbers for the same seed, on every machine.
package struct SeededGenerator: RandomNumberGenerator {
    private var numbers: SplitMix64

    package init(seed: UInt64) {
        numbers = SplitMix64(seed: seed)
    }

    package mutating func next() -> UInt64 { numbers.next() }

    /// A number of the standard normal distribution, near enough: the sum of twelve uniform ones.
    ///
    /// It stands in this module because that is compiled with optimization, unlike the tests.
    package mutating func normal() -> Double {
        var sum = -6.0
        for _ in 0..<12 { sum += .random(in: 0..<1, using: &self) }
        return sum
    }
}

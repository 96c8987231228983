/// Hysteresis over 64 samples at a time, without a branch: what every threshold kernel ends with.
///
/// A sample can say *inside* (its bit in `rises` is set), *outside* (its bit in `keeps` is clear) or nothing. The side
/// after each sample is the carry out of its bit in `(rises | keeps) + rises + side before`: inside generates a carry,
/// nothing passes it on, outside swallows it. `ck_crossings.h` has the same for the forms in C.
struct CrossingChain {
    /// The side after the last sample, 1 for inside.
    private(set) var side: UInt64
    /// How many crossings are in the list.
    private(set) var count = 0

    private let crossings: UnsafeMutablePointer<UInt32>

    /// Starts a list.
    ///
    /// - Parameters:
    ///   - isInside: The side before the first sample.
    ///   - crossings: Room for as many indices as there will be samples.
    @inline(__always)
    init(isInside: Bool, crossings: UnsafeMutablePointer<UInt32>) {
        side = isInside ? 1 : 0
        self.crossings = crossings
    }

    /// Whether the side is *inside* after the last sample.
    @inline(__always)
    var isInside: Bool { side != 0 }

    /// Takes 64 samples; of fewer, the others have to say nothing: `rises` 0, `keeps` 1.
    ///
    /// - Parameters:
    ///   - rises: The samples that say *inside*.
    ///   - keeps: The samples that do not say *outside*; those that are NaN are among them.
    ///   - base: The index of the first of them.
    @inline(__always)
    mutating func take(rises: UInt64, keeps: UInt64, base: Int) {
        let passes = rises | keeps
        let (half, halfCarry) = passes.addingReportingOverflow(rises)
        let (sum, carry) = half.addingReportingOverflow(side)
        side = halfCarry || carry ? 1 : 0
        // The carry into each bit is the side before its sample.
        let before = passes ^ rises ^ sum
        var changes = before ^ (before >> 1 | side << 63)
        while changes != 0 {
            crossings[count] = UInt32(truncatingIfNeeded: base &+ changes.trailingZeroBitCount)
            count &+= 1
            changes &= changes &- 1
        }
    }
}

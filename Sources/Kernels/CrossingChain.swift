/// Hysteresis over 64 samples at a time, without a branch; the last step of every threshold kernel.
///
/// A sample sets the side to *inside* (its bit in `rises` is 1), to *outside* (its bit in `keeps` is 0), or leaves it.
/// The
/// side after each sample is the carry out of its bit in `(rises | keeps) + rises + side before`: *inside* generates a
/// carry,
/// leaving the side propagates it, *outside* absorbs it. `ck_crossings.h` has the same for the forms in C.
struct CrossingChain {
    /// The side after the last sample, 1 for inside.
    private(set) var side: UInt64
    /// The number of crossings in the list.
    private(set) var count = 0

    private let crossings: UnsafeMutablePointer<UInt32>

    /// Starts a list with the side before the first sample; `crossings` has room for an index per sample.
    @inline(__always)
    init(isInside: Bool, crossings: UnsafeMutablePointer<UInt32>) {
        side = isInside ? 1 : 0
        self.crossings = crossings
    }

    /// Whether the side after the last sample is *inside*.
    @inline(__always)
    var isInside: Bool { side != 0 }

    /// Adds 64 samples; missing ones have `rises` 0 and `keeps` 1.
    ///
    /// - Parameters:
    ///   - rises: The samples that set the side to *inside*.
    ///   - keeps: The samples that do not set it to *outside*, NaN among them.
    ///   - base: The index of the first sample.
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

import CKernels

/// Finds every crossing of a threshold in a range of values, at most 2³² − 1, which reach to its end.
///
/// A NaN is on neither side and changes nothing. `isInside` is the side before the range, and receives the side after it;
/// `crossings` receives the crossings in it. All forms of the kernel give the same.
package func findCrossings(
    values: UnsafePointer<Float>, range: Range<Int>, threshold: Threshold,
    isInside: inout Bool, crossings: inout CrossingList, using instructionSet: InstructionSet = .current
) {
    let values = values + range.lowerBound
    let measure = { (index: Int) in values[index] }
    findCrossings(
        range.count, threshold, &isInside, &crossings, instructionSet, rising: measure, falling: measure
    ) { forms, side, list in
        var band = threshold.band
        return forms.crossings_column(values, range.count, &band, side, list)
    }
}

/// Finds every crossing of a threshold by the squared lengths of at most 2³² − 1 vectors.
///
/// The squared length is `x² + y² + z²`, added in this order, in the square of the vectors' unit, which the threshold has,
/// too. A NaN is on neither side and changes nothing; a square that overflows is +∞.
package func findCrossings(
    x: UnsafePointer<Float>, y: UnsafePointer<Float>, z: UnsafePointer<Float>, range: Range<Int>,
    threshold: Threshold, isInside: inout Bool, crossings: inout CrossingList,
    using instructionSet: InstructionSet = .current
) {
    let (x, y, z) = (x + range.lowerBound, y + range.lowerBound, z + range.lowerBound)
    let measure = { (index: Int) in squaredLength(SIMD3(x[index], y[index], z[index])) }
    findCrossings(
        range.count, threshold, &isInside, &crossings, instructionSet, rising: measure, falling: measure
    ) { forms, side, list in
        var band = threshold.band
        return forms.crossings_vectors(x, y, z, range.count, &band, side, list)
    }
}

/// Finds the crossings of a threshold by any quantity: the reference in Swift, or a form in C.
///
/// `rising` is the quantity that begins *inside*, `falling` the one that ends it. `find` calls the C form, which has the side as
/// a number, and returns the number of crossings.
@inline(__always)
func findCrossings(
    _ count: Int, _ threshold: Threshold, _ isInside: inout Bool, _ crossings: inout CrossingList,
    _ instructionSet: InstructionSet, rising: (Int) -> Float, falling: (Int) -> Float,
    find: (ck_forms, UnsafeMutablePointer<UInt64>, UnsafeMutablePointer<UInt32>) -> Int
) {
    let wasInside = isInside
    crossings.fill(forSamples: count, isInside: &isInside) { list in
        guard instructionSet == .scalar else {
            var side: UInt64 = wasInside ? 1 : 0
            let found = find(instructionSet.forms, &side, list)
            return (found, side != 0)
        }
        var isInside = wasInside
        var found = 0
        var index = 0
        while index < count {
            // Two short loops instead of one with a state.
            if isInside {
                while index < count, !threshold.isOutside(falling(index)) { index += 1 }
            } else {
                while index < count, !threshold.isInside(rising(index)) { index += 1 }
            }
            guard index < count else { break }
            isInside.toggle()
            list[found] = UInt32(truncatingIfNeeded: index)
            found += 1
            index += 1
        }
        return (found, isInside)
    }
}

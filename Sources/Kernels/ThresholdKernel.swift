import CKernels

/// Finds every crossing of a threshold in a range of values.
///
/// A NaN is on neither side and changes nothing.
///
/// - Parameters:
///   - values: The values; reaches at least to the range's end.
///   - range: The values to compare, at most 2³² − 1.
///   - threshold: The limits, in the unit of the values.
///   - isInside: The side before the range; receives the side after it.
///   - crossings: Receives the crossings in the range.
///   - instructionSet: The form of the kernel; all give the same.
package func findCrossings(
    values: UnsafePointer<Float>, range: Range<Int>, threshold: Threshold,
    isInside: inout Bool, crossings: inout CrossingList, using instructionSet: InstructionSet = .current
) {
    let values = values + range.lowerBound
    let wasInside = isInside
    crossings.fill(forSamples: range.count, isInside: &isInside) { list in
        switch instructionSet {
        case .scalar:
            return crossingsOneByOne(ColumnMeasure(values: values), range.count, threshold, wasInside, list)
        case .baseline:
            return crossingsInBlocks(ColumnMeasure(values: values), range.count, threshold, wasInside, list)
        default:
            return crossingsInC(threshold, wasInside) { band, side in
                findInColumn(instructionSet, values, range.count, band, side, list)
            }
        }
    }
}

/// Finds every crossing of a threshold by the squared lengths of vectors.
///
/// The squared length is `x² + y² + z²`, added in this order, in the square of the vectors' unit. A NaN is on neither side
/// and changes nothing; a square that overflows is +∞.
///
/// - Parameters:
///   - x: First axis; all three reach at least to the range's end.
///   - y: Second axis.
///   - z: Third axis.
///   - range: The vectors to compare, at most 2³² − 1.
///   - threshold: The limits, in the square of the vectors' unit.
///   - isInside: The side before the range; receives the side after it.
///   - crossings: Receives the crossings in the range.
///   - instructionSet: The form of the kernel; all give the same.
package func findCrossings(
    x: UnsafePointer<Float>, y: UnsafePointer<Float>, z: UnsafePointer<Float>, range: Range<Int>,
    threshold: Threshold, isInside: inout Bool, crossings: inout CrossingList,
    using instructionSet: InstructionSet = .current
) {
    let (x, y, z) = (x + range.lowerBound, y + range.lowerBound, z + range.lowerBound)
    let wasInside = isInside
    crossings.fill(forSamples: range.count, isInside: &isInside) { list in
        switch instructionSet {
        case .scalar:
            return crossingsOneByOne(VectorMeasure(x: x, y: y, z: z), range.count, threshold, wasInside, list)
        case .baseline:
            return crossingsInBlocks(VectorMeasure(x: x, y: y, z: z), range.count, threshold, wasInside, list)
        default:
            return crossingsInC(threshold, wasInside) { band, side in
                findInVectors(instructionSet, x, y, z, range.count, band, side, list)
            }
        }
    }
}

/// Calls a form in C, which has the side as a number.
@inline(__always)
private func crossingsInC(
    _ threshold: Threshold, _ isInside: Bool, _ find: (UnsafePointer<ck_band>, UnsafeMutablePointer<UInt64>) -> Int
) -> (count: Int, isInside: Bool) {
    var band = threshold.band
    var side: UInt64 = isInside ? 1 : 0
    let count = find(&band, &side)
    return (count, side != 0)
}

private func findInColumn(
    _ instructionSet: InstructionSet, _ values: UnsafePointer<Float>, _ count: Int, _ band: UnsafePointer<ck_band>,
    _ side: UnsafeMutablePointer<UInt64>, _ list: UnsafeMutablePointer<UInt32>
) -> Int {
    #if arch(x86_64)
        return instructionSet == .avx512
            ? ck_crossings_column_avx512(values, count, band, side, list)
            : ck_crossings_column_avx2(values, count, band, side, list)
    #elseif arch(arm64)
        return ck_crossings_column_neon(values, count, band, side, list)
    #else
        preconditionFailure("\(instructionSet) is not an instruction set of this architecture")
    #endif
}

private func findInVectors(
    _ instructionSet: InstructionSet, _ x: UnsafePointer<Float>, _ y: UnsafePointer<Float>, _ z: UnsafePointer<Float>,
    _ count: Int, _ band: UnsafePointer<ck_band>, _ side: UnsafeMutablePointer<UInt64>,
    _ list: UnsafeMutablePointer<UInt32>
) -> Int {
    #if arch(x86_64)
        return instructionSet == .avx512
            ? ck_crossings_vectors_avx512(x, y, z, count, band, side, list)
            : ck_crossings_vectors_avx2(x, y, z, count, band, side, list)
    #elseif arch(arm64)
        return ck_crossings_vectors_neon(x, y, z, count, band, side, list)
    #else
        preconditionFailure("\(instructionSet) is not an instruction set of this architecture")
    #endif
}

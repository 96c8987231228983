import CKernels

/// The minimum and the maximum of some values.
@usableFromInline
package struct Extremes: Sendable, Equatable {
    /// The minimum; +∞ without values.
    @usableFromInline package var least: Float
    /// The maximum; −∞ without values.
    @usableFromInline package var greatest: Float

    /// The extremes of no values.
    package init() {
        least = .infinity
        greatest = -.infinity
    }

    init(_ found: ck_extremes) {
        least = found.least
        greatest = found.greatest
    }

    /// Includes a value; a NaN is ignored.
    @inlinable
    package mutating func take(_ value: Float) {
        if value < least { least = value }
        if value > greatest { greatest = value }
    }

    /// Includes the extremes of other values.
    @inlinable
    package mutating func take(_ other: Extremes) {
        least = min(least, other.least)
        greatest = max(greatest, other.greatest)
    }

    /// Makes zeros positive, because which of two signed zeros is found depends on the form.
    var normalized: Extremes {
        var result = self
        result.least += 0
        result.greatest += 0
        return result
    }
}

/// Finds the extremes in a range, ignoring NaN.
///
/// - Parameters:
///   - values: The values; reaches at least to the range's end.
///   - range: Where to search.
///   - instructionSet: The form of the kernel; all give the same.
/// - Returns: The extremes, with positive zeros.
package func extremes(
    of values: UnsafePointer<Float>, range: Range<Int>, using instructionSet: InstructionSet = .current
) -> Extremes {
    let values = values + range.lowerBound
    switch instructionSet {
    case .scalar: return extremesOneByOne(ColumnMeasure(values: values), range.count)
    case .baseline: return extremesByFour(ColumnMeasure(values: values), range.count)
    default:
        #if arch(x86_64)
            return Extremes(
                instructionSet == .avx512
                    ? ck_extremes_column_avx512(values, range.count) : ck_extremes_column_avx2(values, range.count))
        #elseif arch(arm64)
            return Extremes(ck_extremes_column_neon(values, range.count))
        #else
            preconditionFailure("\(instructionSet) is not an instruction set of this architecture")
        #endif
    }
}

/// Finds the extremes of the squared lengths in a range of vectors, ignoring NaN.
///
/// - Parameters:
///   - x: First axis; all three reach at least to the range's end.
///   - y: Second axis.
///   - z: Third axis.
///   - range: Where to search.
///   - instructionSet: The form of the kernel; all give the same.
/// - Returns: The extremes, in the square of the vectors' unit.
package func extremes(
    x: UnsafePointer<Float>, y: UnsafePointer<Float>, z: UnsafePointer<Float>, range: Range<Int>,
    using instructionSet: InstructionSet = .current
) -> Extremes {
    let (x, y, z) = (x + range.lowerBound, y + range.lowerBound, z + range.lowerBound)
    switch instructionSet {
    case .scalar: return extremesOneByOne(VectorMeasure(x: x, y: y, z: z), range.count)
    case .baseline: return extremesByFour(VectorMeasure(x: x, y: y, z: z), range.count)
    default:
        #if arch(x86_64)
            return Extremes(
                instructionSet == .avx512
                    ? ck_extremes_vectors_avx512(x, y, z, range.count)
                    : ck_extremes_vectors_avx2(x, y, z, range.count))
        #elseif arch(arm64)
            return Extremes(ck_extremes_vectors_neon(x, y, z, range.count))
        #else
            preconditionFailure("\(instructionSet) is not an instruction set of this architecture")
        #endif
    }
}

/// The reference: one sample after the other.
@inline(__always)
private func extremesOneByOne(_ measure: some Measure, _ count: Int) -> Extremes {
    var result = Extremes()
    for index in 0..<count { result.take(measure.one(index)) }
    return result.normalized
}

/// The baseline form.
@inline(__always)
private func extremesByFour(_ measure: some Measure, _ count: Int) -> Extremes {
    var least = SIMD4<Float>(repeating: .infinity)
    var greatest = SIMD4<Float>(repeating: -.infinity)
    var index = 0
    while index + 4 <= count {
        let four = measure.four(index)
        least.replace(with: four, where: four .< least)
        greatest.replace(with: four, where: four .> greatest)
        index += 4
    }
    var result = Extremes()
    for lane in 0..<4 {
        result.least = min(result.least, least[lane])
        result.greatest = max(result.greatest, greatest[lane])
    }
    while index < count {
        result.take(measure.one(index))
        index += 1
    }
    return result.normalized
}

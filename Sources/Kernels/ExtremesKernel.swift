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
    package mutating func include(_ value: Float) {
        if value < least { least = value }
        if value > greatest { greatest = value }
    }

    /// Includes the extremes of other values.
    @inlinable
    package mutating func include(_ other: Extremes) {
        least = min(least, other.least)
        greatest = max(greatest, other.greatest)
    }
}

/// The extremes of the values in a range, ignoring NaN, with positive zeros; the values reach at least to its end.
///
/// All forms of the kernel give the same.
package func extremes(
    of values: UnsafePointer<Float>, range: Range<Int>, using instructionSet: InstructionSet = .current
) -> Extremes {
    let values = values + range.lowerBound
    guard instructionSet != .scalar else { return extremesOneByOne(range.count) { values[$0] } }
    return Extremes(instructionSet.forms.extremes_column(values, range.count))
}

/// The extremes of the squared lengths of the vectors in a range, ignoring NaN, in the square of their unit.
///
/// The axes reach at least to the end of the range. All forms of the kernel give the same.
package func extremes(
    x: UnsafePointer<Float>, y: UnsafePointer<Float>, z: UnsafePointer<Float>, range: Range<Int>,
    using instructionSet: InstructionSet = .current
) -> Extremes {
    let (x, y, z) = (x + range.lowerBound, y + range.lowerBound, z + range.lowerBound)
    guard instructionSet != .scalar else {
        return extremesOneByOne(range.count) { squaredLength(SIMD3(x[$0], y[$0], z[$0])) }
    }
    return Extremes(instructionSet.forms.extremes_vectors(x, y, z, range.count))
}

@inline(__always)
private func extremesOneByOne(_ count: Int, _ measure: (_ index: Int) -> Float) -> Extremes {
    var result = Extremes()
    for index in 0..<count { result.include(measure(index)) }
    // The form decides which of two signed zeros is found; the sum is positive.
    result.least += 0
    result.greatest += 0
    return result
}

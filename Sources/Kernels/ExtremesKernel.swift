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

/// Finds the extremes in a range that the values reach to the end of, ignoring NaN.
///
/// - Returns: The extremes, with positive zeros; the same for every form of the kernel.
package func extremes(
    of values: UnsafePointer<Float>, range: Range<Int>, using instructionSet: InstructionSet = .current
) -> Extremes {
    let values = values + range.lowerBound
    guard instructionSet != .scalar else { return extremesOneByOne(range.count) { values[$0] } }
    return Extremes(instructionSet.forms.extremes_column(values, range.count))
}

/// Finds the extremes of the squared lengths in a range of vectors, whose axes reach to its end, ignoring NaN.
///
/// - Returns: The extremes, in the square of the vectors' unit; the same for every form of the kernel.
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

/// The reference: one sample after the other.
@inline(__always)
private func extremesOneByOne(_ count: Int, _ measure: (_ index: Int) -> Float) -> Extremes {
    var result = Extremes()
    for index in 0..<count { result.include(measure(index)) }
    // Which of two signed zeros is found depends on the form; the sum is positive.
    result.least += 0
    result.greatest += 0
    return result
}

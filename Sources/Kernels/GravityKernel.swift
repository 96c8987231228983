/// Separates gravity from movement: for each sample the squared user acceleration and the squared total acceleration.
///
/// Gravity is the low-passed acceleration, updated with the sample before it is subtracted from it:
/// `user²[i] = |a[i] − g[i]|²` and `total²[i] = |a[i]|²`, both in the square of the samples' unit.
///
/// A sample that is not finite, or whose square is not, leaves the filter as it is and gives NaN in both results;
/// no comparison with a threshold holds for it.
///
/// - Parameters:
///   - times: Stamps in nanoseconds, never falling, with no gap inside the range.
///   - x: First axis.
///   - y: Second axis.
///   - z: Third axis.
///   - range: The samples to take; all five buffers reach at least to its end.
///   - gravity: The filter, carried from block to block.
///   - userSquared: Receives |a − g|² at the same indices.
///   - totalSquared: Receives |a|² at the same indices.
///   - instructionSet: What to use; every one gives the same bits.
public func separateGravity(
    times: UnsafePointer<Int64>, x: UnsafePointer<Float>, y: UnsafePointer<Float>, z: UnsafePointer<Float>,
    range: Range<Int>, gravity: inout OnePoleFilter,
    userSquared: UnsafeMutablePointer<Float>, totalSquared: UnsafeMutablePointer<Float>,
    using instructionSet: InstructionSet = .current
) {
    let columns = GravityColumns(
        times: times, x: x, y: y, z: z, userSquared: userSquared, totalSquared: totalSquared)
    #if arch(x86_64)
        if instructionSet >= .avx2, let segments = GravitySegments(columns, range, gravity) {
            segments.separate(&gravity)
            return
        }
    #endif
    columns.separate(range, &gravity)
}

/// What ``separateGravity(times:x:y:z:range:gravity:userSquared:totalSquared:using:)`` reads and writes.
struct GravityColumns {
    let times: UnsafePointer<Int64>
    let x: UnsafePointer<Float>
    let y: UnsafePointer<Float>
    let z: UnsafePointer<Float>
    let userSquared: UnsafeMutablePointer<Float>
    let totalSquared: UnsafeMutablePointer<Float>

    /// The reference: one sample after the other.
    func separate(_ range: Range<Int>, _ gravity: inout OnePoleFilter) {
        var filter = gravity
        for i in range {
            let sample = SIMD3(x[i], y[i], z[i])
            let total = squaredLength(sample)
            // False for NaN too, so one comparison keeps everything unusable out of the filter.
            guard total < .infinity else {
                userSquared[i] = .nan
                totalSquared[i] = .nan
                continue
            }
            filter.step(sample, timeNanoseconds: times[i])
            userSquared[i] = squaredLength(sample - filter.value)
            totalSquared[i] = total
        }
        gravity = filter
    }
}

/// The squared length of a vector, added in a fixed order so that every instruction set gives the same bits.
@inlinable
public func squaredLength(_ v: SIMD3<Float>) -> Float {
    v.x * v.x + v.y * v.y + v.z * v.z
}

/// The squared distance of lengths from a reference: `(√squares[i] − reference)²`; NaN stays NaN.
///
/// - Parameters:
///   - squares: Squared lengths; reaches at least to the range's end.
///   - reference: The length to compare with, in the unit of the lengths.
///   - range: The values to take.
///   - result: Receives the squared distances at the same indices.
public func squareDeviation(
    ofSquares squares: UnsafePointer<Float>, from reference: Float, range: Range<Int>,
    result: UnsafeMutablePointer<Float>
) {
    for i in range {
        let deviation = squares[i].squareRoot() - reference
        result[i] = deviation * deviation
    }
}

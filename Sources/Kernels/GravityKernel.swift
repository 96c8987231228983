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
public func separateGravity(
    times: UnsafePointer<Int64>, x: UnsafePointer<Float>, y: UnsafePointer<Float>, z: UnsafePointer<Float>,
    range: Range<Int>, gravity: inout OnePoleFilter,
    userSquared: UnsafeMutablePointer<Float>, totalSquared: UnsafeMutablePointer<Float>
) {
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

/// The squared length of a vector, added in a fixed order so that every instruction set gives the same bits.
@inlinable
public func squaredLength(_ v: SIMD3<Float>) -> Float {
    v.x * v.x + v.y * v.y + v.z * v.z
}

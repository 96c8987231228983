/// Computes the squared lengths `x² + y² + z²` of vectors.
///
/// A vector that is not finite, or whose square is not, gives NaN, so that no comparison with a threshold holds for it.
///
/// The result receives the squares at the indices of the range, to whose end all four buffers reach.
package func squareLengths(
    x: UnsafePointer<Float>, y: UnsafePointer<Float>, z: UnsafePointer<Float>, range: Range<Int>,
    result: UnsafeMutablePointer<Float>
) {
    for i in range {
        let square = x[i] * x[i] + y[i] * y[i] + z[i] * z[i]
        result[i] = square < .infinity ? square : .nan
    }
}

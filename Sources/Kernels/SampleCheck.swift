import CKernels

/// Copies stamps, and finds out whether samples need no second look: stamps rise from each to the next, by less than
/// 2³³ ns (8.6 s), and every axis is a number whose magnitude does not exceed a limit.
///
/// What is said of the stamps is said of the copies, so that it holds whatever becomes of the originals.
///
/// - Parameters:
///   - source: The stamps in nanoseconds, as Int64 in the machine's order of bytes; need not be aligned.
///   - times: Receives the stamps. May be the source.
///   - x: First axis; reaches to the last sample, as the other ones do.
///   - y: Second axis.
///   - z: Third axis.
///   - count: The number of samples, below 2²⁹.
///   - limit: At least 0, and finite.
///   - follows: Whether the stamp in front of `times` is that of the sample before, which is looked at as well.
/// - Returns: Whether all of that holds.
package func copyChecking(
    _ source: UnsafeRawPointer, to times: UnsafeMutablePointer<Int64>, x: UnsafePointer<Float>,
    y: UnsafePointer<Float>, z: UnsafePointer<Float>, count: Int, limit: Float, follows: Bool
) -> Bool {
    guard count > 0 else { return true }
    // In turn over all columns and in short pieces, so that the memory has something to do for each of them all the time.
    let piece = 64
    let most = Int32(bitPattern: limit.bitPattern)
    var signs = SIMD4<Int32>.zero
    var distances = SIMD2<UInt64>.zero
    var i = 0
    while i <= count - piece {
        prefetch(source + 8 * i, byteCount: 8 * piece)
        prefetch(x + i, byteCount: 4 * piece)
        prefetch(y + i, byteCount: 4 * piece)
        prefetch(z + i, byteCount: 4 * piece)
        signs |= beyond(most, x + i, piece) | beyond(most, y + i, piece) | beyond(most, z + i, piece)
        UnsafeMutableRawPointer(times + i).copyMemory(from: source + 8 * i, byteCount: 8 * piece)
        // The first stamp of all has perhaps none in front of it, and loads of four go on with the fifth.
        distances |= steps(times, (i == 0 ? 4 : i)..<i + piece)
        i += piece
    }
    var sign = signs[0] | signs[1] | signs[2] | signs[3]
    UnsafeMutableRawPointer(times + i).copyMemory(from: source + 8 * i, byteCount: 8 * (count - i))
    for row in i..<count {
        for axis in [x[row], y[row], z[row]] { sign |= most &- (Int32(bitPattern: axis.bitPattern) & .max) }
    }
    var distance = distances[0] | distances[1]
    let first = follows ? 0 : 1
    for row in first..<max(first, min(4, count)) { distance |= UInt64(bitPattern: times[row] &- times[row - 1]) &- 1 }
    for row in max(first, i)..<max(first, count) { distance |= UInt64(bitPattern: times[row] &- times[row - 1]) &- 1 }
    guard sign >= 0, distance >> 33 == 0 else { return false }
    // Distances wrap around at the ends of 64 bits: then the last stamp lies before the first, as they are not that many.
    return count == first || times[count - 1] > times[first - 1]
}

/// How far ahead columns are asked for, in bytes.
private let prefetchDistance = 2048

/// Asks the memory for a part of a column that is read some pieces later.
///
/// The machine does so by itself within a page, but columns in a mapped file lie on pages from anywhere in the memory. What
/// is behind a column may be asked for, too: it is never looked at.
@inline(__always)
private func prefetch(_ column: UnsafeRawPointer, byteCount: Int) {
    for offset in stride(from: prefetchDistance, to: prefetchDistance + byteCount, by: 64) {
        ck_prefetch(column + offset)
    }
}

/// Whether values are beyond a limit: a bit of each that is, the sign, is in one of the results' signs.
///
/// Without its sign a Float's pattern rises with its magnitude, and infinity and NaN are above all numbers. So the
/// difference from the limit's pattern is negative for each value that is beyond it.
///
/// - Parameters:
///   - most: The limit's pattern.
///   - values: As many as the count says.
///   - count: A multiple of 16.
/// - Returns: Lanes that are negative where a value is beyond the limit.
@inline(__always)
private func beyond(_ most: Int32, _ values: UnsafePointer<Float>, _ count: Int) -> SIMD4<Int32> {
    let magnitude = SIMD4<Int32>(repeating: .max)
    let limits = SIMD4<Int32>(repeating: most)
    let raw = UnsafeRawPointer(values)
    var signs = (SIMD4<Int32>.zero, SIMD4<Int32>.zero, SIMD4<Int32>.zero, SIMD4<Int32>.zero)
    for i in stride(from: 0, to: 4 * count, by: 64) {
        signs.0 |= limits &- (raw.loadUnaligned(fromByteOffset: i, as: SIMD4<Int32>.self) & magnitude)
        signs.1 |= limits &- (raw.loadUnaligned(fromByteOffset: i + 16, as: SIMD4<Int32>.self) & magnitude)
        signs.2 |= limits &- (raw.loadUnaligned(fromByteOffset: i + 32, as: SIMD4<Int32>.self) & magnitude)
        signs.3 |= limits &- (raw.loadUnaligned(fromByteOffset: i + 48, as: SIMD4<Int32>.self) & magnitude)
    }
    return signs.0 | signs.1 | signs.2 | signs.3
}

/// The distances of stamps from those before them, less 1, in one number: one that is 0, negative or long has an upper bit.
///
/// - Parameters:
///   - times: Stamps; the one before the range is read as well.
///   - range: A multiple of 4 long.
/// - Returns: The distances' bits, one above the other.
@inline(__always)
private func steps(_ times: UnsafePointer<Int64>, _ range: Range<Int>) -> SIMD2<UInt64> {
    let raw = UnsafeRawPointer(times)
    let one = SIMD2<UInt64>(repeating: 1)
    var distances = (SIMD2<UInt64>.zero, SIMD2<UInt64>.zero)
    for i in stride(from: 8 * range.lowerBound, to: 8 * range.upperBound, by: 32) {
        let (t0, t1) = (
            raw.loadUnaligned(fromByteOffset: i, as: SIMD2<UInt64>.self),
            raw.loadUnaligned(fromByteOffset: i + 16, as: SIMD2<UInt64>.self)
        )
        distances.0 |= t0 &- raw.loadUnaligned(fromByteOffset: i - 8, as: SIMD2<UInt64>.self) &- one
        distances.1 |= t1 &- raw.loadUnaligned(fromByteOffset: i + 8, as: SIMD2<UInt64>.self) &- one
    }
    return distances.0 | distances.1
}

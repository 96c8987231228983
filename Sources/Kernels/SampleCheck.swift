import CKernels

/// Copies stamps, and returns whether samples need no further examination: each stamp is later than the previous one by less than
/// 2³³ ns (8.6 s), and every axis is a number whose magnitude does not exceed a finite limit.
///
/// The copies are checked, so that the result holds even if the originals change. The source, native Int64, need not be aligned,
/// and may be the destination. There are less than 2²⁹ samples. If the samples follow others, the stamp before `times` is the
/// previous sample's, and is checked as well.
package func copyChecking(
    _ source: UnsafeRawPointer, to times: UnsafeMutablePointer<Int64>, x: UnsafePointer<Float>,
    y: UnsafePointer<Float>, z: UnsafePointer<Float>, count: Int, limit: Float, follows: Bool
) -> Bool {
    guard count > 0 else { return true }
    // In short pieces of all columns, so that the memory accesses of all columns overlap.
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
        // The first stamp may have no predecessor, so that groups of four start with the fifth.
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
    // Distances wrap in 64 bits; there are too few samples to wrap twice, so that the last stamp would be before the first.
    return count == first || times[count - 1] > times[first - 1]
}

/// The distance of the prefetch, in bytes.
private let prefetchDistance = 2048

/// Prefetches a part of a column that is read later.
///
/// The processor itself prefetches only within a page, and the pages of a mapped file are scattered. Addresses after the column
/// may be prefetched, too, because they are never read.
@inline(__always)
private func prefetch(_ column: UnsafeRawPointer, byteCount: Int) {
    for offset in stride(from: prefetchDistance, to: prefetchDistance + byteCount, by: 64) {
        ck_prefetch(column + offset)
    }
}

/// Lanes that are negative if a value's magnitude exceeds a limit; `count` is a multiple of 16.
@inline(__always)
private func beyond(_ most: Int32, _ values: UnsafePointer<Float>, _ count: Int) -> SIMD4<Int32> {
    // Without its sign a Float's bit pattern increases with its magnitude, and infinity and NaN exceed all numbers.
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

/// The distances of stamps from the previous ones, less 1, or-ed: one that is 0, negative or long sets an upper bit.
///
/// The range's length is a multiple of 4, and the stamp before it is read as well.
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

/// Whether every value is a number whose magnitude does not exceed a limit.
///
/// - Parameters:
///   - values: The values; reaches at least to the range's end.
///   - range: Where to look.
///   - limit: At least 0, and finite.
/// - Returns: `false` when one is NaN, infinite or beyond the limit.
public func areWithin(_ values: UnsafePointer<Float>, range: Range<Int>, limit: Float) -> Bool {
    // Without its sign a Float's pattern rises with its magnitude, and infinity and NaN are above all numbers. So the
    // difference from the limit's pattern is negative for each value that is beyond it: one bit tells of all of them.
    let most = Int32(bitPattern: limit.bitPattern)
    var i = range.lowerBound
    var signs = (SIMD8<Int32>.zero, SIMD8<Int32>.zero)
    let magnitude = SIMD8<Int32>(repeating: .max)
    let limits = SIMD8<Int32>(repeating: most)
    let raw = UnsafeRawPointer(values)
    while i <= range.upperBound - 16 {
        let first = raw.loadUnaligned(fromByteOffset: 4 * i, as: SIMD8<Int32>.self)
        let second = raw.loadUnaligned(fromByteOffset: 4 * i + 32, as: SIMD8<Int32>.self)
        signs.0 |= limits &- (first & magnitude)
        signs.1 |= limits &- (second & magnitude)
        i += 16
    }
    var sign = Int32(0)
    while i < range.upperBound {
        sign |= most &- (Int32(bitPattern: values[i].bitPattern) & .max)
        i += 1
    }
    let both = signs.0 | signs.1
    for lane in 0..<8 { sign |= both[lane] }
    return sign >= 0
}

/// Whether stamps rise from each one to the next, and by less than 2³³ ns (8.6 s).
///
/// - Parameters:
///   - times: Stamps in nanoseconds; the one before the range's start is read as well.
///   - range: Where to look; starts at 1 or later.
/// - Returns: `false` when one is not later than the one before it, or too much later.
public func riseSteadily(_ times: UnsafePointer<Int64>, range: Range<Int>) -> Bool {
    guard !range.isEmpty else { return true }
    var i = range.lowerBound
    var distances = SIMD4<UInt64>.zero
    let one = SIMD4<UInt64>(repeating: 1)
    let raw = UnsafeRawPointer(times)
    while i <= range.upperBound - 4 {
        let later = raw.loadUnaligned(fromByteOffset: 8 * i, as: SIMD4<UInt64>.self)
        let earlier = raw.loadUnaligned(fromByteOffset: 8 * (i - 1), as: SIMD4<UInt64>.self)
        distances |= later &- earlier &- one
        i += 4
    }
    var distance = distances[0] | distances[1] | distances[2] | distances[3]
    while i < range.upperBound {
        distance |= UInt64(bitPattern: times[i] &- times[i - 1]) &- 1
        i += 1
    }
    // Distances wrap around at the ends of 64 bits: then the last one lies before the first, as no range is that long.
    return distance >> 33 == 0 && times[range.upperBound - 1] > times[range.lowerBound - 1]
}

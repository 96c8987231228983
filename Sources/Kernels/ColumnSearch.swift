/// Finds the first stamp that is not before a deadline.
///
/// - Parameters:
///   - times: Stamps in nanoseconds, never falling within the range.
///   - range: Where to look.
///   - deadline: The time looked for, in nanoseconds.
/// - Returns: Its index, or the range's end when there is none.
/// - Complexity: O(log n).
package func firstIndex(in times: UnsafePointer<Int64>, range: Range<Int>, notBefore deadline: Int64) -> Int {
    var low = range.lowerBound
    var high = range.upperBound
    while low < high {
        let middle = low + (high - low) / 2
        if times[middle] < deadline { low = middle + 1 } else { high = middle }
    }
    return low
}

/// Finds the first stamp that lies more than a limit after its predecessor.
///
/// Few stamps are read where there is none: between two that are no gap apart there is none, because stamps never fall.
///
/// - Parameters:
///   - times: Stamps in nanoseconds, never falling; the one before the range's start is read as well.
///   - range: Where to look; starts at 1 or later.
///   - limit: The longest distance that is no gap, in nanoseconds.
/// - Returns: Its index, or the range's end when there is none.
/// - Complexity: As many stamps as there are limits in the whole time, at most twice those in the range.
package func firstGap(in times: UnsafePointer<Int64>, range: Range<Int>, longerThan limit: Int64) -> Int {
    guard !range.isEmpty, isGap(from: times[range.lowerBound - 1], to: times[range.upperBound - 1], limit: limit)
    else { return range.upperBound }
    if range.count == 1 { return range.lowerBound }
    let middle = range.lowerBound + range.count / 2
    let first = firstGap(in: times, range: range.lowerBound..<middle, longerThan: limit)
    return first < middle ? first : firstGap(in: times, range: middle..<range.upperBound, longerThan: limit)
}

/// Whether two stamps that follow each other lie further apart than a limit, also when their distance overflows.
@inline(__always)
package func isGap(from earlier: Int64, to later: Int64, limit: Int64) -> Bool {
    let (distance, overflow) = later.subtractingReportingOverflow(earlier)
    return overflow || distance > limit
}

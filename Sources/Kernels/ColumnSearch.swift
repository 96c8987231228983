/// Finds the first stamp that is not before a deadline.
///
/// - Parameters:
///   - times: Stamps in nanoseconds, never falling within the range.
///   - range: Where to look.
///   - deadline: The time looked for, in nanoseconds.
/// - Returns: Its index, or the range's end when there is none.
/// - Complexity: O(log n).
public func firstIndex(in times: UnsafePointer<Int64>, range: Range<Int>, notBefore deadline: Int64) -> Int {
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
/// - Parameters:
///   - times: Stamps in nanoseconds, never falling; the one before the range's start is read as well.
///   - range: Where to look; starts at 1 or later.
///   - limit: The longest distance that is no gap, in nanoseconds.
/// - Returns: Its index, or the range's end when there is none.
public func firstGap(in times: UnsafePointer<Int64>, range: Range<Int>, longerThan limit: Int64) -> Int {
    for i in range where isGap(from: times[i - 1], to: times[i], limit: limit) { return i }
    return range.upperBound
}

/// Whether two stamps that follow each other lie further apart than a limit, also when their distance overflows.
@inline(__always)
public func isGap(from earlier: Int64, to later: Int64, limit: Int64) -> Bool {
    let (distance, overflow) = later.subtractingReportingOverflow(earlier)
    return overflow || distance > limit
}

/// Finds the first stamp that is not before a deadline, by binary search in a range whose stamps do not decrease.
///
/// Returns its index, or the end of the range when there is none.
package func firstIndex(in times: UnsafePointer<Int64>, range: Range<Int>, notBefore deadline: Int64) -> Int {
    var low = range.lowerBound
    var high = range.upperBound
    while low < high {
        let middle = low + (high - low) / 2
        if times[middle] < deadline { low = middle + 1 } else { high = middle }
    }
    return low
}

/// Finds the first stamp that is more than a limit after its predecessor; returns its index, or the end of the range when there
/// is none.
///
/// Stamps do not decrease, so that a part whose ends are within the limit has no gap and is not searched: the time is
/// proportional to the whole duration divided by the limit, at most twice the range. The stamp before the range is read as well.
package func firstGap(in times: UnsafePointer<Int64>, range: Range<Int>, longerThan limit: Int64) -> Int {
    guard !range.isEmpty, isGap(from: times[range.lowerBound - 1], to: times[range.upperBound - 1], limit: limit)
    else { return range.upperBound }
    if range.count == 1 { return range.lowerBound }
    let middle = range.lowerBound + range.count / 2
    let first = firstGap(in: times, range: range.lowerBound..<middle, longerThan: limit)
    return first < middle ? first : firstGap(in: times, range: middle..<range.upperBound, longerThan: limit)
}

/// The greatest distance of neighbours in a range, whose first stamp is compared with an earlier one.
package func longestInterval(in times: UnsafePointer<Int64>, range: Range<Int>, after earlier: Int64) -> Int64 {
    var (longest, before): (Int64, Int64) = (0, earlier)
    for index in range {
        // Stamps do not decrease; a distance that 64 bits cannot hold wraps to a negative one.
        let distance = times[index] &- before
        longest = max(longest, distance < 0 ? .max : distance)
        before = times[index]
    }
    return longest
}

/// Whether the distance of two consecutive stamps exceeds a limit, or overflows.
@inline(__always)
package func isGap(from earlier: Int64, to later: Int64, limit: Int64) -> Bool {
    let (distance, overflow) = later.subtractingReportingOverflow(earlier)
    return overflow || distance > limit
}

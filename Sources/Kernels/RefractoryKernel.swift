/// Reports the rises of a threshold, except those within a refractory time after the last report.
///
/// Stamps do not decrease within the range. The stamp of the last report, `nil` before the first, is carried from range to range.
/// Each rise is reported by its index, counted as in `range`.
@inlinable
package func reportRises(
    in crossings: borrowing CrossingList, times: UnsafePointer<Int64>, range: Range<Int>,
    refractoryNanoseconds: Int64, lastReportNanoseconds: inout Int64?, report: (Int) -> Void
) {
    var position = crossings.startsRising ? 0 : 1
    while position < crossings.count {
        let index = range.lowerBound + crossings[position]
        position += 2
        let time = times[index]
        if let last = lastReportNanoseconds {
            // A distance that overflows exceeds any refractory time; between ranges stamps may decrease.
            let (distance, overflow) = time.subtractingReportingOverflow(last)
            if time < last || (!overflow && distance < refractoryNanoseconds) { continue }
        }
        lastReportNanoseconds = time
        report(index)
    }
}

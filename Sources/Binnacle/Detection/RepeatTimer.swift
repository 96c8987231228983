import Kernels

/// Picks the samples at which an ongoing state is reported again: the first one, then at most one per interval.
package struct RepeatTimer {
    let intervalNanoseconds: Int64
    private var nextNanoseconds: Int64?

    package init(interval: Duration) {
        intervalNanoseconds = Units.nanoseconds(interval)
    }

    /// Makes the next sample the first one again.
    package mutating func restart() {
        nextNanoseconds = nil
    }

    /// Calls `tell` for each index in the range that is due.
    package mutating func fire(times: UnsafePointer<Int64>, range: Range<Int>, tell: (Int) -> Void) {
        var start = range.lowerBound
        while start < range.upperBound {
            let index = nextNanoseconds.map { firstIndex(in: times, range: start..<range.upperBound, notBefore: $0) }
            let due = index ?? start
            guard due < range.upperBound else { return }
            tell(due)
            nextNanoseconds = Units.later(times[due], by: intervalNanoseconds)
            start = due + 1
        }
    }
}

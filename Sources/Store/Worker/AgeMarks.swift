/// Knows how old the events of this run are at least, by a clock that nobody sets.
///
/// The wall clock may be set forward by decades, when a board without a clock of its own learns what time it is; the
/// events of this run are not older for that.
package struct AgeMarks {
    private struct Mark {
        let sequence: UInt64
        let monotonicNanoseconds: Int64
    }

    private var marks: [Mark] = []
    private static let intervalNanoseconds: Int64 = 3_600_000_000_000

    /// Begins a run.
    ///
    /// - Parameters:
    ///   - sequence: The last number before it.
    ///   - monotonicNanoseconds: When that is.
    package init(startingBehind sequence: UInt64, at monotonicNanoseconds: Int64) {
        marks = [Mark(sequence: sequence, monotonicNanoseconds: monotonicNanoseconds)]
    }

    /// Takes note of what the last number is, about once an hour.
    package mutating func note(_ sequence: UInt64, at monotonicNanoseconds: Int64) {
        guard let last = marks.last, monotonicNanoseconds - last.monotonicNanoseconds >= Self.intervalNanoseconds
        else { return }
        marks.append(Mark(sequence: sequence, monotonicNanoseconds: monotonicNanoseconds))
    }

    /// The number up to which events may be so old that they are removed.
    ///
    /// - Parameters:
    ///   - ageNanoseconds: How old that is.
    ///   - monotonicNanoseconds: What time it is.
    /// - Returns: The number.
    package mutating func removable(olderThan ageNanoseconds: Int64, at monotonicNanoseconds: Int64) -> UInt64 {
        // Those of the runs before may be of any age; what a mark says lasts until the next one says more.
        while marks.count > 1, monotonicNanoseconds - marks[1].monotonicNanoseconds >= ageNanoseconds {
            marks.removeFirst()
        }
        return marks[0].sequence
    }
}

/// The values that a detector has at samples of several streams, kept for the delivery that it processed last.
///
/// Nothing is kept, and nothing allocated, until ``isKept`` is set.
package final class MeasuredRows {
    /// Whether rows are kept.
    package var isKept = false
    /// The number of rows of the last delivery.
    package private(set) var count = 0
    private(set) var times: UnsafeMutablePointer<Int64>
    private(set) var values: UnsafeMutablePointer<SIMD4<Float>>
    private var capacity = 0

    package init() {
        times = .allocate(capacity: 0)
        values = .allocate(capacity: 0)
    }

    deinit {
        times.deallocate()
        values.deallocate()
    }

    /// Begins a delivery.
    package func removeAll() { count = 0 }

    /// Adds a row where rows are kept; a value that is not known is NaN.
    package func append(_ timeNanoseconds: Int64, _ row: @autoclosure () -> SIMD4<Float>) {
        guard isKept else { return }
        if count == capacity { grow() }
        times[count] = timeNanoseconds
        values[count] = row()
        count += 1
    }

    private func grow() {
        capacity = max(64, 2 * capacity)
        let (moreTimes, moreValues) = (
            UnsafeMutablePointer<Int64>.allocate(capacity: capacity),
            UnsafeMutablePointer<SIMD4<Float>>.allocate(capacity: capacity)
        )
        moreTimes.update(from: times, count: count)
        moreValues.update(from: values, count: count)
        times.deallocate()
        values.deallocate()
        (times, values) = (moreTimes, moreValues)
    }
}

/// The bit of a state, by its place among all, as a value of the form ``SampledValue/Form/bits`` has it.
package func bit<State: CaseIterable & Equatable>(of state: State?) -> Float {
    State.allCases.enumerated().first { $0.element == state }.map { Float(UInt16(1) << $0.offset) } ?? .nan
}

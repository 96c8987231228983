/// The values that a detector has at samples of several streams, kept for the delivery that it processed last.
///
/// Nothing is kept, and nothing allocated, until ``isKept`` is set.
package final class MeasuredRows {
    package var isKept = false
    private(set) var times: [Int64] = []
    private(set) var values: [SIMD4<Float>] = []

    package init() {}

    /// Begins a delivery.
    package func removeAll() {
        times.removeAll(keepingCapacity: true)
        values.removeAll(keepingCapacity: true)
    }

    /// Adds a row where rows are kept; a value that is not known is NaN.
    package func append(_ timeNanoseconds: Int64, _ row: @autoclosure () -> SIMD4<Float>) {
        guard isKept else { return }
        times.append(timeNanoseconds)
        values.append(row())
    }
}

/// The bit of a state, by its place among all, as a value of the form ``SampledValue/Form/bits`` has it.
package func bit<State: CaseIterable & Equatable>(of state: State?) -> Float {
    State.allCases.enumerated().first { $0.element == state }.map { Float(UInt32(1) << $0.offset) } ?? .nan
}

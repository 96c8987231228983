/// Steps that were counted at one sample.
package struct StepEvent: DetectorResult, Equatable {
    /// The number of steps since the event before it.
    package let count: Int
    /// The number of steps since the count was last 0, with those of this event.
    package let total: Int64
    /// Steps a minute, over the last regular ones.
    package let cadence: Double
    /// The stamp of the sample that decided it, in nanoseconds.
    package let timeNanoseconds: Int64

    package func value(of figure: Figure.Name) -> Figure.Value? {
        switch figure {
        case .count: .integer(Int64(count))
        case .total: .integer(total)
        case .cadence: figure.number(cadence)
        default: nil
        }
    }
}

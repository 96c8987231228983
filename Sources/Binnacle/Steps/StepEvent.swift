/// Steps that were counted at one sample.
package struct StepEvent: DetectorResult, Equatable {
    /// The number of steps since the event before it.
    package let count: Int
    /// The number of steps since the count was last 0, with those of this event.
    package let total: Int64
    /// Steps a minute, over the last regular ones; `nil` when a chip has counted them.
    package let cadence: Double?
    /// The stamp of the sample that decided it, in nanoseconds.
    package let timeNanoseconds: Int64
    /// What has counted them, when that is not the detector.
    var source: EventSource?

    package func value(of figure: Figure.Name) -> Figure.Value? {
        switch figure {
        case .count: .integer(Int64(count))
        case .total: .integer(total)
        case .cadence: cadence.map(figure.number)
        case .source: source.map(Figure.Value.word)
        default: nil
        }
    }
}

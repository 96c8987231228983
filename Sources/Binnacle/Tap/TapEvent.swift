/// One to three taps between times of calm.
package struct TapEvent: DetectorResult, Equatable {
    /// The number of taps, from 1 to 3.
    package let count: Int
    /// The axis along which the first tap accelerated the device most, and to which side; `nil` when a chip has not said it.
    package let axis: DeviceAxis?
    /// The greatest acceleration of the taps beside what was measured before, in g; `nil` when a chip has found them.
    package let peakG: Double?
    /// The stamp of the first peak, in nanoseconds.
    package let onsetNanoseconds: Int64
    /// The stamp of the sample that decided how many taps there are, in nanoseconds.
    package let timeNanoseconds: Int64
    /// What has seen it, when that is not the detector.
    var source: EventSource?

    package func value(of figure: Figure.Name) -> Figure.Value? {
        switch figure {
        case .count: .integer(Int64(count))
        case .axis: axis.map(Figure.Value.word)
        case .sign: axis.map { .integer($0.isReversed ? -1 : 1) }
        case .peak: peakG.map(figure.number)
        case .source: source.map(Figure.Value.word)
        case .onset: .integer(onsetNanoseconds)
        default: nil
        }
    }
}

/// A change between rest and motion.
package struct StationaryEvent: DetectorResult, Equatable {
    /// The stamp at which the rest, or the motion, began, in nanoseconds.
    package let onsetNanoseconds: Int64
    /// The stamp of the sample that decided it, in nanoseconds.
    package let timeNanoseconds: Int64
    /// What has decided it, when that is not the detector.
    var source: EventSource?

    package func value(of figure: Figure.Name) -> Figure.Value? {
        switch figure {
        case .onset: .integer(onsetNanoseconds)
        case .source: source.map(Figure.Value.word)
        default: nil
        }
    }
}

/// What a ``MotionManager`` found at one sample.
public struct MotionEvent: Sendable, Equatable {
    /// What was found.
    public enum Kind: Sendable {
        /// Motion has lasted the minimum duration.
        case began
        /// Quiet has lasted the quiet time.
        case ended
        /// User acceleration rose above the shake threshold.
        case shake
        /// Total acceleration has been below the free-fall threshold for its minimum duration.
        case freeFall
        /// Total acceleration rose above the shock threshold, and the 50 ms in which its peak is looked for have passed.
        case shock
    }

    /// What was found.
    public let kind: Kind
    /// The sample that decided it, in m/s², with its own stamp.
    public let sample: Sample
    /// The stamp of the first sample beyond the threshold, in nanoseconds.
    public let onsetNanoseconds: Int64
    /// How long it has lasted, from the onset to the deciding sample; for an end, to the first quiet sample; for a shock, how
    /// long the acceleration was above the threshold until the deciding sample.
    public let duration: Duration
    /// In g: for motion and shock the greatest measured acceleration since the onset, for free fall the smallest total one,
    /// for shake that of the sample itself.
    public let magnitudeG: Double
    /// For a shock the total acceleration at the onset, in g; else ``magnitudeG``.
    package let onsetMagnitudeG: Double
    /// Who has seen it, if that is not the manager in samples.
    package let source: EventSource?

    /// The stamp of the deciding sample, in nanoseconds.
    public var timeNanoseconds: Int64 { sample.timeNanoseconds }
}

extension MotionEvent: DetectorResult {
    package func value(of figure: Figure.Name) -> Figure.Value? {
        switch figure {
        case .peak, .userAcceleration, .smallest: figure.number(magnitudeG)
        case .magnitude: figure.number(onsetMagnitudeG)
        case .duration: figure.number(Units.seconds(duration))
        case .onset: .integer(onsetNanoseconds)
        case .source: source.map(Figure.Value.word)
        default: nil
        }
    }
}

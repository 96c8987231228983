/// A rotation that a ``MotionManager`` found with its gyroscope.
public struct RotationEvent: Sendable, Equatable {
    /// Whether the rotation has ended; else it has begun.
    package let isEnd: Bool
    /// The stamp of the gyroscope's sample that decided it, in nanoseconds.
    public let timeNanoseconds: Int64
    /// The stamp of the first sample above the threshold, in nanoseconds.
    public let onsetNanoseconds: Int64
    /// How long it has lasted, from the onset to the deciding sample; for an end, to the first quiet sample.
    public let duration: Duration
    /// The greatest rate of turn since the onset, about any axis, in °/s, without the gyroscope's offset as far as that is known.
    public let peakDegreesPerSecond: Double
}

extension RotationEvent: DetectorResult {
    package func value(of figure: Figure.Name) -> Figure.Value? {
        switch figure {
        case .peakRate: figure.number(peakDegreesPerSecond)
        case .duration: figure.number(Units.seconds(duration))
        case .onset: .integer(onsetNanoseconds)
        default: nil
        }
    }
}

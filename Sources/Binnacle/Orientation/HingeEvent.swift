/// What a ``HingeDetector`` found at one sample, or learned from a switch.
package struct HingeEvent: Sendable, Equatable {
    /// How the laptop is set up.
    package let posture: Posture
    /// The angle between the keyboard and the screen, from 0 (closed) over 180 (flat) to 360 (folded back), in degrees;
    /// `nil` when only a switch says the posture.
    package let angleDegrees: Double?
    /// The stamp of the deciding sample, in nanoseconds.
    package let timeNanoseconds: Int64
}

extension HingeEvent: DetectorResult {
    package func value(of figure: Figure.Name) -> Figure.Value? {
        switch figure {
        case .posture: .word(posture)
        case .angle: angleDegrees.map(figure.number)
        default: nil
        }
    }
}

/// A value that a detector has at samples.
package struct SampledValue {
    /// What the values are, which decides how two of them are joined.
    package enum Form: String, Sendable {
        /// A quantity: the least and the greatest.
        case value
        /// A direction in degrees from 0 to 360: the shortest arc.
        case angle
        /// A set of up to 24 bits, which a Float has exactly: those that occurred.
        case bits
    }

    package enum Place {
        /// In a place of ``MeasuredRows``.
        case row(Int)
        /// In the squares that ``EventDetector/squares(_:)`` gives, at the samples of a stream.
        case squares(Int, of: SampleStream)
        /// In the lengths of a stream's vectors.
        case lengths(of: SampleStream)
    }

    /// The unit of a value that is found in the unit of samples.
    package enum Unit: Sendable {
        /// That of the samples: m/s², µT, rad/s.
        case sample
        /// Standard gravity.
        case g
        /// Degrees a second, of samples in rad/s.
        case degreesPerSecond

        /// Converts a value from the unit of samples.
        package func of(_ value: Float) -> Float {
            switch self {
            case .sample: value
            case .g: value / Units.standardGravity
            case .degreesPerSecond: value * Float(180 / Double.pi)
            }
        }

        /// What 1 of it is in the unit of samples.
        package var size: Double {
            switch self {
            case .sample: 1
            case .g: Double(Units.standardGravity)
            case .degreesPerSecond: Double.pi / 180
            }
        }

        package static func shown(of kind: SampleKind) -> Unit { kind == .gyroscope ? .degreesPerSecond : .sample }
    }

    /// The name, which ends with the unit.
    package let name: String
    package let place: Place
    package var form = Form.value
    package var unit = Unit.sample

    package init(name: String, place: Place, form: Form = .value, unit: Unit = .sample) {
        self.name = name
        self.place = place
        self.form = form
        self.unit = unit
    }
}

/// The Earth's field where the device is, as a model of it says: what makes true north of magnetic north.
public struct LocalField: Sendable, Equatable {
    /// By how much magnetic north lies east of true north, in degrees; true = magnetic + declination.
    package let declinationDegrees: Double
    /// The declination's standard uncertainty, in degrees.
    package let declinationUncertaintyDegrees: Double
    /// The strength of the field, in µT.
    package let fieldMicrotesla: Double
    /// The angle by which the field points below the horizon, in degrees; `nil` when it is not known.
    package let dipDegrees: Double?
    /// What a compass is good for there.
    package var zone = Zone.normal

    /// What a compass is good for, by the strength of the field's level part.
    package enum Zone: String, Sendable {
        /// It can be used.
        case normal
        /// It may be wrong by some degrees, and headings say so.
        case caution
        /// It is of no use, and there is no heading.
        case blackout
    }

    /// Whether all numbers are those of a place on the Earth.
    var isValid: Bool {
        abs(declinationDegrees) <= 180 && (0...180).contains(declinationUncertaintyDegrees) && fieldMicrotesla > 0
            && fieldMicrotesla.isFinite && abs(dipDegrees ?? 0) <= 90
    }

    /// Creates a field.
    public init(
        declinationDegrees: Double, declinationUncertaintyDegrees: Double, fieldMicrotesla: Double,
        dipDegrees: Double? = nil
    ) {
        self.declinationDegrees = declinationDegrees
        self.declinationUncertaintyDegrees = declinationUncertaintyDegrees
        self.fieldMicrotesla = fieldMicrotesla
        self.dipDegrees = dipDegrees
    }
}

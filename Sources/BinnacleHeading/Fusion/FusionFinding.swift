import Binnacle
import SensorGeometry

/// What a ``Fusion`` knows at a sample of the gyroscope.
struct FusionFinding {
    /// Why there is no heading; `nil` when there is one.
    var fault: FusionFault? = .gyroscopeMissing
    /// What a wrong axis of the gyroscope looks like; `nil` while all turns agree with the compass.
    var axes: AxisFinding?
    /// From the device's frame to east, magnetic north and up.
    var orientation = Quaternion.identity
    /// The strength of the field, smoothed, and its level and its upward part, in the field's unit.
    var fieldStrength = 0.0
    var horizontalField = 0.0
    var verticalField = 0.0
    /// How far a level axis' heading may be off, in degrees: about nine of ten errors are smaller.
    var accuracyDegrees = 0.0
    /// The rate without the offset, in rad/s, in the device's frame.
    var rate = Vector3.zero
    /// The hard iron that was learned, in µT, and the standard deviation of what is left of it on an axis.
    var iron = Vector3.zero
    var ironSigma = 0.0
    /// Whether it is another iron than was known before.
    var isIronOther = false

    /// The orientation, with the field in it.
    var attitude: Attitude {
        Attitude(
            frame: orientation.matrix, field: fieldStrength, horizontalField: horizontalField,
            verticalField: verticalField)
    }
}

/// What a ``Fusion`` knows of the movement at a sample of the gyroscope.
struct FusedMotion {
    /// From the device's frame to a level one, whose heading drifts.
    let orientation: Quaternion
    /// The rate without the offset, in rad/s, in the device's frame.
    let rate: Vector3
    /// Gravity as the accelerometer shows it in the frame in which the device's turning is taken out, in m/s².
    let driftingGravity: Vector3
    /// How well the offset about the vertical is known, in °/s, and the standard deviation of the scale.
    let offsetSigma: Double
    let scaleSigma: Double
    /// Whether the rate is at the end of the gyroscope's range, so that the turn is not known.
    let isSaturated: Bool
    let restarts: (all: Int, atRest: Int)
}

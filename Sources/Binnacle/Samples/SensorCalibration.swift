public import SensorGeometry

/// What makes a sensor's samples true, in the device's frame; `binnacle calibrate` finds it.
public struct SensorCalibration: Sendable, Equatable {
    /// That of the accelerometer; `nil` when there is none.
    package var accelerometer: AxisCalibration?
    /// The root mean square of what that leaves in its positions, in m/s²; `nil` where it is not known.
    package var accelerometerResidual: Double?
    /// That of the magnetometer; `nil` when there is none.
    package var magnetometer: MagnetometerCalibration?
    /// That of the gyroscope, which is its offset in rad/s; `nil` when there is none.
    package var gyroscope: AxisCalibration?
    /// The noise of each kind that was measured at rest: its one-sided density on the noisiest axis, in the samples' unit by √Hz.
    package var noise: [SampleKind: Double] = [:]
    /// The axes in which each kind was calibrated, as a section states them; without what recordings and earlier versions gave.
    package var statedAxes: [SampleKind: String] = [:]

    /// Creates a calibration.
    public init(
        accelerometer: AxisCalibration? = nil, magnetometer: MagnetometerCalibration? = nil,
        gyroscope: AxisCalibration? = nil
    ) {
        self.accelerometer = accelerometer
        self.magnetometer = magnetometer
        self.gyroscope = gyroscope
    }

    /// The kinds of samples for which `binnacle calibrate` finds a calibration.
    package static let kinds: [SampleKind] = [.accelerometer, .magnetometer, .gyroscope]

    /// The table of a calibration file that has the noise of a kind, and its key there, with the factor from the samples' unit.
    package static func noiseKey(of kind: SampleKind) -> (table: String, key: String, factor: Double) {
        let (unit, factor) =
            switch kind {
            case .accelerometer: ("ug", 1e6 / Gravity.standard)
            case .magnetometer: ("nT", 1000)
            case .gyroscope: ("dps", 180 / .pi)
            }
        return ("\(kind.rawValue)_noise", "noise_\(unit)_rthz", factor)
    }

    /// What is done to the samples of a kind.
    package func axes(of kind: SampleKind) -> AxisCalibration? {
        switch kind {
        case .accelerometer: accelerometer
        case .magnetometer: magnetometer?.axes
        case .gyroscope: gyroscope
        }
    }
}

/// A linear correction of three axes: true = matrix · (measured − offset).
public struct AxisCalibration: Sendable, Equatable {
    /// What is measured when there is nothing, in the unit of the samples.
    package let offset: Vector3
    /// Each of its rows gives one true axis.
    package let matrix: Matrix3

    /// Creates a correction.
    ///
    /// - Parameters:
    ///   - offset: In the unit of the samples.
    ///   - matrix: Scale, misalignment, soft iron.
    /// - Precondition: All numbers are finite.
    public init(offset: Vector3, matrix: Matrix3) {
        precondition(
            offset.isFinite && matrix.rows.allSatisfy(\.isFinite), "a calibration with a number that is not finite")
        self.offset = offset
        self.matrix = matrix
    }
}

/// The calibration of a magnetometer.
public struct MagnetometerCalibration: Sendable, Equatable {
    /// Hard iron as the offset in µT, and soft iron as the matrix.
    package let axes: AxisCalibration
    /// The strength of the field after the correction, in µT.
    package let fieldMicrotesla: Double
    /// The standard deviation of what is left, on one axis in µT.
    package let residualMicrotesla: Double

    /// Creates a calibration.
    ///
    /// - Precondition: The strength is above 0, and the deviation is not negative.
    public init(axes: AxisCalibration, fieldMicrotesla: Double, residualMicrotesla: Double) {
        precondition(fieldMicrotesla > 0 && fieldMicrotesla.isFinite, "a field of \(fieldMicrotesla) µT")
        precondition(residualMicrotesla >= 0, "a residual of \(residualMicrotesla) µT")
        self.axes = axes
        self.fieldMicrotesla = fieldMicrotesla
        self.residualMicrotesla = residualMicrotesla
    }
}

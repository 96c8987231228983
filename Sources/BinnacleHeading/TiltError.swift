import Binnacle
import SensorGeometry

/// What is left of an accelerometer's offset and of its axes, as a standard deviation of the tilt about a level axis, in radians.
enum TiltError {
    /// Of a bare chip on a circuit board: data sheets give 0.02 to 0.05 g as the largest offset.
    private static let uncalibrated = 0.01
    /// Of one that was calibrated in six positions by hand, at least: tables and housings are so far from level.
    private static let calibrated = 0.003
    /// Of the root mean square of eighteen residuals that twelve parameters leave: √(18/6) for what they have taken of it, √(1/3) for
    /// one axis, √(12/18) for what is wrong with the calibrated direction.
    private static let residualShare = 0.82

    static func of(_ accelerometer: SampleStream?) -> Double {
        guard let calibration = accelerometer?.sensor.calibration, calibration.accelerometer != nil else {
            return uncalibrated
        }
        return max(calibrated, residualShare * (calibration.accelerometerResidual ?? 0) / Gravity.standard)
    }
}

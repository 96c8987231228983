import Kernels
import SensorGeometry

/// Estimates how far a heading may be off, from what is known of its parts.
///
/// The parts are taken as independent. An error e of the field's eastward part turns the heading by e/H; a tilt of t
/// radians towards east or west turns it by t·tan(dip), because it takes the field's upright part for a level one.
struct HeadingAccuracy {
    /// The standard deviation of the field's error after the calibration, on one axis in µT.
    private let fieldError: Double
    private let declinationUncertainty: Double
    private var fieldResidual: ResidualTracker
    private var accelerationResidual: ResidualTracker

    /// Nine of ten values of a normal distribution lie within so many standard deviations.
    private static let nineOfTen = 1.645
    /// What is assumed of a magnetometer that nobody has calibrated here, but its maker or its driver has, in µT.
    ///
    /// It is an assumption: only a calibration tells the hard iron of the machine around the sensor.
    private static let uncalibratedError = 0.4

    init(settings: NorthSettings, calibration: MagnetometerCalibration?) {
        // Nothing is known of a source that does not measure in microtesla.
        let assumed = settings.plausibleFieldMicrotesla == nil ? 0 : Self.uncalibratedError
        fieldError = calibration?.residualMicrotesla ?? assumed
        declinationUncertainty = (settings.localField?.declinationUncertaintyDegrees ?? 0) * .pi / 180
        let timeConstant = Float(settings.smoothing / .seconds(1))
        fieldResidual = ResidualTracker(timeConstantSeconds: timeConstant)
        accelerationResidual = ResidualTracker(timeConstantSeconds: timeConstant)
    }

    mutating func takeField(_ sample: SIMD3<Float>, smoothed: SIMD3<Float>, stepSeconds: Float) {
        fieldResidual.take(sample, smoothed: smoothed, stepSeconds: stepSeconds)
    }

    mutating func takeAcceleration(_ sample: SIMD3<Float>, smoothed: SIMD3<Float>, stepSeconds: Float) {
        accelerationResidual.take(sample, smoothed: smoothed, stepSeconds: stepSeconds)
    }

    mutating func resetField() { fieldResidual.reset() }
    mutating func resetAcceleration() { accelerationResidual.reset() }

    /// How far the heading of an axis may be off at a sample, in degrees up to 180.
    ///
    /// - Parameters:
    ///   - pointing: The axis and the attitude.
    ///   - expectedField: The strength that the field should have, in µT; a departure is an error of unknown direction.
    ///   - gate: Has taken the sample, and knows how far the dip is from the one at rest.
    /// - Returns: About nine of ten headings are nearer to the truth.
    func degrees(_ pointing: HeadingFinder.Pointing, expectedField: Double?, gate: HeadingGate) -> Double {
        let attitude = pointing.attitude
        let perMicrotesla = 1 / attitude.horizontalField
        let tangent = abs(attitude.verticalField) * perMicrotesla
        let departure = expectedField.map { abs(attitude.field - $0) } ?? 0
        let field = SIMD4(
            fieldError, fieldResidual.smoothedNoise, dot(SIMD3<Double>(fieldResidual.lag), attitude.east),
            departure / 3.0.squareRoot())
        let gravity = Double(Units.standardGravity)
        let tilt = SIMD4(
            accelerationResidual.smoothedNoise / gravity,
            dot(SIMD3<Double>(accelerationResidual.lag), attitude.east) / gravity,
            HeadingGate.accelerationShare(attitude), gate.dipDepartureSine)
        let fieldSquare = (field * field).sum() * perMicrotesla * perMicrotesla
        let tiltSquare = (tilt * tilt).sum() * tangent * tangent
        let level = pointing.levelShare
        let square = (fieldSquare + tiltSquare) / (level * level) + declinationUncertainty * declinationUncertainty
        return min(square.squareRoot() * Self.nineOfTen * 180 / .pi, 180)
    }
}

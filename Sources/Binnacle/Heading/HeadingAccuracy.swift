import Glibc
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
    /// What smoothing takes away from the field in the mean: how far it lags behind a turn.
    ///
    /// The noise cancels out in a tenth of a second, and with a longer time constant the lag would lag itself.
    private var lag: OnePoleFilter

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
        lag = OnePoleFilter(timeConstantSeconds: Float(min(settings.smoothing, .milliseconds(100)) / .seconds(1)))
    }

    /// Takes a sample of the field, and what the filter made of it.
    mutating func takeField(_ sample: SIMD3<Float>, smoothed: SIMD3<Float>, at timeNanoseconds: Int64) {
        lag.step(sample - smoothed, timeNanoseconds: timeNanoseconds)
    }

    mutating func reset() { lag.reset() }

    /// How far the heading of an axis may be off at a sample, in degrees up to 180.
    ///
    /// - Parameters:
    ///   - pointing: The axis and the attitude.
    ///   - strengthDeparture: How far the field's strength is from what it should be, in µT; it is an error of unknown
    ///     direction.
    ///   - gate: Has taken the sample, and knows how far up may be off.
    /// - Returns: About nine of ten headings are nearer to the truth.
    func degrees(_ pointing: HeadingFinder.Pointing, strengthDeparture: Double, gate: HeadingGate) -> Double {
        let attitude = pointing.attitude
        let lag = SIMD3<Double>(lag.value)
        let turned = atan2(dot(lag, attitude.east), attitude.horizontalField + dot(lag, attitude.north))
        // A departure of the dip may be one of the field or of up, and either has one to the east beside it.
        let square =
            (fieldError * fieldError + strengthDeparture * strengthDeparture / 3
                + attitude.verticalField * attitude.verticalField * gate.tiltVariance
                + attitude.field * attitude.field * gate.dipVariance)
            / (attitude.horizontalField * attitude.horizontalField) + turned * turned + gate.turn * gate.turn
        let level = pointing.levelShare
        let whole = square / (level * level) + declinationUncertainty * declinationUncertainty
        return min(whole.squareRoot() * Self.nineOfTen * 180 / .pi, 180)
    }
}

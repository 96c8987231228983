import Binnacle
import Glibc
import SensorGeometry

/// Estimates how far a heading may be off, from what is known of its parts.
///
/// The parts are taken as independent. An error e of the field's eastward part turns the heading by e/H; a tilt of t
/// radians towards east or west turns it by t·tan(dip), because it takes the field's upright part for a level one.
struct HeadingAccuracy {
    /// The standard deviation of the field's error after the calibration, on one axis in µT.
    private let fieldError: Double
    /// That of hard iron that was not calibrated and is learned, in µT.
    var ironSigma = 0.0
    /// What is left of the accelerometer's offset and axes, as a standard deviation of the tilt about a level axis, in radians.
    private let tiltError: Double
    private let declinationUncertainty: Double
    /// Above this a heading is not given.
    private let limitDegrees: Double

    /// What is assumed to be left of the hard iron of a magnetometer without a calibration, in µT: where turns have shown the iron, or
    /// the settings say that the maker has removed it.
    private static let uncalibratedError = 0.4
    // In a fast turn to and fro the vector that is smoothed for a tenth of a second shows no lag, but the smoothed field is
    // shorter than the field is strong: by the cosine of the lag. A quarter of its square is taken for the part to the east.
    private static let spreadFactor = 0.25
    private static let shortenedByNoise = 0.01

    /// Takes a calibration that is to be counted on; not one whose error turns are to take away.
    ///
    /// The noise is that of the magnetometer, in µT/√Hz; a low pass of the time constant τ passes 1/(4τ) Hz of it.
    init(settings: NorthSettings, calibration: MagnetometerCalibration?, noise: Double, tiltError: Double) {
        self.tiltError = tiltError
        // Nothing is known of a source that does not measure in microtesla.
        let assumed = settings.plausibleFieldMicrotesla == nil ? 0 : Self.uncalibratedError
        let seconds = max(settings.smoothing / .seconds(1), 0.01)
        fieldError = max(calibration?.residualMicrotesla ?? assumed, noise / (4 * seconds).squareRoot())
        limitDegrees = settings.accuracyLimitDegrees ?? 180
        declinationUncertainty = (settings.localField?.declinationUncertaintyDegrees ?? 0) * .pi / 180
    }

    /// Whether the iron is known so badly that no heading in a field of this strength, in µT, is within the limit.
    func isIronTooLarge(in strength: Double) -> Bool {
        ironSigma / strength * FusionAccuracy.nineOfTen * 180 / .pi > limitDegrees
    }

    /// How far the heading of an axis may be off, from what is known of a level one's, both in degrees up to 180.
    ///
    /// - Throws: ``HeadingFault/inaccurate`` where that is more than the settings allow.
    func degrees(_ pointing: HeadingFinder.Pointing, magnetic: Double) throws(HeadingFault) -> Double {
        let level = magnetic / pointing.levelShare
        let others = FusionAccuracy.nineOfTen * 180 / .pi
        let square =
            inclinedSquare(pointing.levelShare, tiltVariance: tiltError * tiltError)
            + declinationUncertainty * declinationUncertainty
        return try limited((level * level + others * others * square).squareRoot())
    }

    /// The square of what a tilt turns the heading of an inclined axis by, besides what it does to that of a level one: by the tangent
    /// of the axis' inclination, whatever the dip.
    private func inclinedSquare(_ levelShare: Double, tiltVariance: Double) -> Double {
        tiltVariance * (1 / (levelShare * levelShare) - 1)
    }

    /// How far the heading of an axis may be off at a sample, in degrees up to 180.
    ///
    /// - Parameters:
    ///   - pointing: The axis and the attitude.
    ///   - acceleration: The acceleration without the lag of the smoothing.
    ///   - field: The field without the lag of the smoothing.
    ///   - strength: The strength of the field, not of the smoothed vector, in µT.
    ///   - expectedStrength: What it should be, in µT; the departure is an error of unknown direction.
    ///   - tiltVariance: How far up may be off, from the gate, after it took this sample.
    ///   - dipVariance: What departures of the dip tell, from the gate as well.
    ///   - turn: How far a magnet turned the field, from the gate as well.
    ///   - lateness: By how many times the lag of the smoothing the field is late.
    /// - Returns: About nine of ten headings are nearer to the truth.
    /// - Throws: ``HeadingFault/inaccurate`` where that is more than the settings allow.
    func degrees(
        _ pointing: HeadingFinder.Pointing, acceleration: SIMD3<Float>, field: SIMD3<Float>, strength: Double,
        expectedStrength: Double, tiltVariance: Double, dipVariance: Double, turn: Double, lateness: Double
    ) throws(HeadingFault) -> Double {
        let attitude = pointing.attitude
        // A departure of the dip may be one of the field or of up, and either has one to the east beside it. Departures contain
        // the error of the calibration, which is not added a second time.
        let strengthDeparture = strength - expectedStrength
        let fieldSquare = max(
            fieldError * fieldError, ironSigma * ironSigma,
            attitude.field * attitude.field * dipVariance + strengthDeparture * strengthDeparture / 3)
        // What shows of up's error contains the accelerometer's own.
        let tiltSquare = max(tiltVariance, tiltError * tiltError)
        let upSquare = attitude.verticalField * attitude.verticalField * tiltSquare
        let lag = lateness * Self.lag(pointing, acceleration: SIMD3<Double>(acceleration), field: SIMD3<Double>(field))
        let shortened = 1 - (attitude.field * attitude.field) / (strength * strength)
        let spreadSquare =
            Self.spreadFactor * max(0, shortened - Self.shortenedByNoise) * attitude.field * attitude.field
        let square =
            (fieldSquare + upSquare) / (attitude.horizontalField * attitude.horizontalField)
            + max(lag * lag, spreadSquare / (attitude.horizontalField * attitude.horizontalField))
            + turn * turn
        let level = pointing.levelShare
        let whole =
            square / (level * level) + inclinedSquare(level, tiltVariance: tiltSquare)
            + declinationUncertainty * declinationUncertainty
        return try limited(whole.squareRoot() * FusionAccuracy.nineOfTen * 180 / .pi)
    }

    private func limited(_ degrees: Double) throws(HeadingFault) -> Double {
        let degrees = min(degrees, 180)
        // Written so that NaN fails as well.
        guard degrees <= limitDegrees else { throw .inaccurate }
        return degrees
    }

    /// How far the smoothing makes a heading lag behind a turn, in radians.
    ///
    /// Up moves in a turn about a level axis, and does not in an acceleration, which only seems to move it. Which of the two it
    /// is cannot be known from one sample, so the larger of both lags counts.
    private static func lag(
        _ pointing: HeadingFinder.Pointing, acceleration: SIMD3<Double>, field: SIMD3<Double>
    ) -> Double {
        let attitude = pointing.attitude
        let withUpStill = abs(atan2(dot(field, attitude.east), dot(field, attitude.north)))
        guard let now = Attitude(acceleration: acceleration, field: field) else { return .pi }
        let (east, north) = attitude.components(of: pointing.axis)
        let (eastNow, northNow) = now.components(of: pointing.axis)
        return max(withUpStill, abs(atan2(eastNow * north - northNow * east, eastNow * east + northNow * north)))
    }
}

import Glibc
import SensorGeometry

/// Learns, while the device turns, the offset of its accelerometer, as ``FieldModel`` learns the hard iron.
///
/// An accelerometer shows a = b + Rᵀ·g and what accelerates the device: the offset b turns with the device, gravity g does not. In the
/// frame that the gyroscope keeps the mean over some seconds is g + R·b, with the mean of R: a device goes nowhere in the mean. A
/// Kalman filter of (g, b) knows both with their covariance; what was not turned through stays unknown.
struct GravityModel {
    private var estimate = LinearEstimate()
    private var isGravityKnown = false
    private var seconds = 0.0
    /// The turns since the last mean: their sum, in the frame that the gyroscope keeps, and that of their angles, in radians.
    private var turn = Vector3.zero
    private var turned = 0.0

    /// The means are those of a filter of three seconds.
    private static let stepSeconds = 1.0
    /// The standard deviation of an offset, in m/s² on each axis, of a chip of which nothing is known: data sheets have 0.2 to 0.8.
    private static let offsetSigma = 1.0
    /// In m/s²/√s: an offset moves with the temperature, and a long curve is one while it lasts.
    private static let offsetDrift = 0.02
    /// In m/s², that of a mean: at rest, and the share of the accelerations that is left.
    private static let (noise, accelerationShare) = (0.05, 0.005)
    /// Of each turn: what axes that are not at right angles turn the frame by.
    private static let misalignment = 0.002
    /// In m/s²: by how much more than this no scale of an accelerometer is off.
    private static let largestDeparture = 1.0
    private static let rememberedTurn = 0.7
    private static let unknownVariance = 1e4
    /// Of the squares of residuals of three components, in units of their standard deviation, hardly one is larger.
    private static let largestSquare = 5.0

    init() { forget() }

    /// Begins again with the offset.
    mutating func forget() {
        estimate = LinearEstimate()
        for axis in 3..<6 { estimate.covariance[axis][axis] = Self.offsetSigma * Self.offsetSigma }
        isGravityKnown = false
    }

    /// What is taken from the acceleration, in m/s².
    private(set) var correction = Vector3.zero
    /// The share of the offset that is.
    private var share = 0.0

    /// The standard deviation of what is left of the offset across a unit vector, in m/s², as far as turns have shown it.
    func error(across up: Vector3) -> Double {
        let (covariance, offset) = (estimate.offsetCovariance, estimate.offset)
        let variance = covariance.diagonal.sum() - dot(up, covariance * up)
        let across = offset.squaredLength - dot(up, offset) * dot(up, offset)
        return (share * max(share * variance / 2 + (1 - share) * across, 0)).squareRoot()
    }

    /// Forgets where gravity is, because the frame begins again; the offset stays.
    mutating func interrupt() {
        isGravityKnown = false
        (seconds, turn, turned) = (0, .zero, 0)
    }

    /// Takes the time since the last sample, and the rate in the frame that the gyroscope keeps, in rad/s.
    ///
    /// - Returns: Whether a mean is wanted.
    mutating func advance(seconds step: Double, rate: Vector3) -> Bool {
        seconds += step
        turn += rate * step
        turned += length(rate) * step
        return seconds >= Self.stepSeconds
    }

    /// Takes a mean.
    ///
    /// - Parameters:
    ///   - mean: Of the acceleration, in the frame that the gyroscope keeps.
    ///   - frame: Of the rotation from the device's frame to that one.
    ///   - acceleration: The root mean square of what accelerates the device.
    ///   - offsetSigma: How well the gyroscope's offset is known, in °/s.
    ///   - scaleSigma: How well its scale is.
    mutating func update(
        _ mean: Vector3, frame: Matrix3, acceleration: Double, offsetSigma: Double, scaleSigma: Double
    ) {
        // The mean follows a turn within some seconds.
        defer { (seconds, turn, turned) = (0, turn * Self.rememberedTurn, turned * Self.rememberedTurn) }
        if !isGravityKnown {
            isGravityKnown = true
            for index in 0..<6 {
                if index < 3 { estimate.covariance[index] = .zero }
                for axis in 0..<3 { estimate.covariance[index][axis] = index == axis ? Self.unknownVariance : 0 }
            }
        }
        let drift = Gravity.standard * offsetSigma * .pi / 180 * seconds
        // A turn back takes an error of the scale away, not all of that of the axes.
        let scaled = Gravity.standard * scaleSigma * length(turn)
        let misaligned = Gravity.standard * Self.misalignment
        for axis in 0..<3 {
            estimate.covariance[axis][axis] += drift * drift + scaled * scaled + misaligned * misaligned * turned
            estimate.covariance[3 + axis][3 + axis] += Self.offsetDrift * Self.offsetDrift * seconds
        }
        let sigma = Self.noise + Self.accelerationShare * acceleration
        var square = 0.0
        for axis in 0..<3 {
            let row = axis == 0 ? frame.x : axis == 1 ? frame.y : frame.z
            var measured = SIMD8<Double>(0, 0, 0, row.x, row.y, row.z, 0, 0)
            measured[axis] = 1
            let residual = mean[axis] - (measured * estimate.state).sum()
            square += residual * residual / ((measured * estimate.spread(of: measured)).sum() + sigma * sigma)
            estimate.correct(measured, residual: residual, variance: sigma * sigma)
        }
        // A curve began or ended: what was learned meanwhile is no offset.
        if square > Self.largestSquare { forget() }
        // Of an accelerometer that is frozen, all of what it shows turns with the device.
        let gravity = length(Vector3(estimate.state[0], estimate.state[1], estimate.state[2]))
        let isGravity = abs(gravity - Gravity.standard) < Self.largestDeparture
        share = isGravity ? estimate.offsetProbability(sigma: Self.offsetSigma) : 0
        correction = share * estimate.offset
    }
}

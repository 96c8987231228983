import Binnacle
import Glibc
import SensorGeometry

/// What accelerations move the vertical of a fusion by.
///
/// In the frame in which the device's turning is taken out gravity stands still. What its direction moves there, beside the slow drift
/// of the gyroscope, is the acceleration that the low pass has let through, which is the error.
struct VerticalMovement {
    /// The mean square of the direction's distance from its mean, in rad².
    private(set) var square = 0.0
    /// The square of the direction's distance from its mean now, in rad²: an acceleration has just begun where it is the larger one.
    private(set) var latestSquare = 0.0
    private var mean = Vector3.zero
    private var weight = RunningWeight(timeConstantSeconds: meanSeconds)

    /// Long beside the fusion's 3 s of smoothing, short beside what a learned offset turns the frame by.
    private static let meanSeconds = 10.0

    /// Takes the mean acceleration in the frame without the device's turning, in any unit.
    mutating func update(_ drifting: Vector3, seconds: Double) {
        let direction = drifting / length(drifting)
        let share = weight.update(seconds)
        mean = mean == .zero ? direction : mean + (direction - mean) * share
        let departure = direction - mean
        latestSquare = dot(departure, departure)
        square += (latestSquare - square) * share
    }

    /// The variance of the direction about a level axis, in rad².
    ///
    /// The mean distance alone is too small while an acceleration lasts, the latest one after it has turned its sign: their sum holds
    /// nine of ten in cars, trams, on bicycles and in sailing boats.
    var variance: Double { (square + latestSquare) / 2 }
}

/// Estimates how far the vertical of a fusion may be from the true one, from what its accelerometer shows.
struct TiltAccuracy {
    /// What is left of the accelerometer's offset and of its axes, as a standard deviation of the tilt about a level axis, in radians.
    private let floorSquare: Double
    private var movement = VerticalMovement()
    /// The mean square of the user acceleration, in (m/s²)², and its weight.
    private var userSquare = 0.0
    private var userWeight = RunningWeight(timeConstantSeconds: startSeconds)
    private var ageSeconds = 0.0
    /// What turns that were not measured may have tilted the vertical by, in radians, as far as gravity has not shown it yet.
    private var unmeasured = 0.0
    /// What the gyroscope's offset may be wrong by, as a standard deviation in rad/s.
    private var offsetSigma = 0.0

    private static let startSeconds = 3.0
    /// The time in which the fusion follows gravity.
    private static let levelSeconds = 3.0
    /// So long does the drift of an offset hide behind the mean of the vertical's movement.
    private static let hiddenSeconds = 15.0
    /// The relative error of a turn beyond the gyroscope's range, whose peak is cut off.
    private static let saturatedShare = 0.5
    /// The acceleration that is assumed before there is a second sample, in g.
    private static let firstError = 0.05
    /// Nine of ten lengths of a vector with two normal components lie within so many of their standard deviations: √(2 ln 10).
    static let nineOfTen = 2.146

    init(_ accelerometer: SampleStream?) {
        let error = TiltError.of(accelerometer)
        floorSquare = error * error
    }

    /// Forgets the movement, because the orientation begins again.
    mutating func reset() {
        (movement, userSquare, ageSeconds) = (VerticalMovement(), 0, 0)
        (unmeasured, offsetSigma) = (0, 0)
        userWeight.reset()
    }

    /// Takes a rate of the gyroscope, and how long it lasted.
    mutating func update(_ motion: FusedMotion, seconds: Double) {
        if motion.isSaturated { unmeasured += Self.saturatedShare * length(motion.rate) * seconds }
        unmeasured -= unmeasured * seconds / (Self.levelSeconds + seconds)
        offsetSigma = motion.offsetSigma * .pi / 180
    }

    /// Takes the mean acceleration in the frame without the device's turning, and the user acceleration in any frame, both in m/s².
    mutating func update(_ drifting: Vector3, user: Vector3, seconds: Double) {
        ageSeconds += seconds
        movement.update(drifting, seconds: seconds)
        userSquare += (dot(user, user) - userSquare) * userWeight.update(seconds)
    }

    /// How far the vertical may be off, in degrees.
    var degrees: Double {
        let start =
            max((userSquare / 3).squareRoot() / Gravity.standard, ageSeconds > 0 ? 0 : Self.firstError) * startShare
        // Later the vertical's movement shows what the offset has turned it by.
        let fading = exp(-max(ageSeconds - Self.hiddenSeconds, 0) / Self.levelSeconds)
        let drift = offsetSigma * min(ageSeconds, Self.levelSeconds) * fading
        let square = floorSquare + movement.variance + start * start + unmeasured * unmeasured + drift * drift
        return min(Self.nineOfTen * square.squareRoot() * 180 / .pi, 180)
    }

    /// What of an acceleration the plain mean of the first seconds lets through, and what is left of that later.
    private var startShare: Double {
        ageSeconds < Self.startSeconds
            ? 1 / (1 + 6 * ageSeconds) : exp((Self.startSeconds - ageSeconds) / Self.startSeconds) / 19
    }

    /// How far the direction of a smoothed acceleration may be from gravity's, in degrees, where no gyroscope takes out the turning.
    ///
    /// - Parameters:
    ///   - smoothed: The acceleration behind the filter, in m/s².
    ///   - recent: The one without the lag of the smoothing.
    ///   - length: The smoothed length, which is longer than the vector where it is the mean of several directions.
    /// - Returns: About nine of ten directions are nearer.
    func degrees(smoothed: Vector3, recent: Vector3, length: Double) -> Double {
        let (g, size) = (Gravity.standard, SensorGeometry.length(smoothed))
        let excess = size / g - 1
        let lag = recent - smoothed
        // A vector that is the mean of directions is shorter by half the square of their spread.
        let spread = 2 * max(length / max(size, 1e-9) - 1, 0)
        let sigma = (floorSquare + excess * excess + dot(lag, lag) / (g * g) + spread).squareRoot()
        return min(Self.nineOfTen * sigma * 180 / .pi, 180)
    }
}

/// Estimates how far a turn about the vertical may be off that no magnetometer corrects.
struct RelativeYawAccuracy {
    /// In degrees.
    private var drift = 0.0
    /// What the scale may have turned it by, in radians: a turn back takes it away.
    private var scaleTurn = 0.0
    /// The share of a turn by which the axes of a gyroscope may be wrong.
    private static let turnShare = 0.0002
    /// The relative error of a turn that was not measured.
    private static let unknownTurnShare = 0.2

    mutating func update(_ motion: FusedMotion, vertical: Double, seconds: Double) {
        let rate = length(motion.rate) * 180 / .pi
        drift += (motion.offsetSigma + (motion.isSaturated ? Self.unknownTurnShare : Self.turnShare) * rate) * seconds
        scaleTurn += motion.scaleSigma * vertical * seconds
    }

    var degrees: Double {
        let scale = scaleTurn * 180 / .pi
        return min(FusionAccuracy.nineOfTen * (drift * drift + scale * scale).squareRoot(), 180)
    }
}

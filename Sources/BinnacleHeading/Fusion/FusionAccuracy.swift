import Binnacle
import Glibc
import SensorGeometry

/// Estimates how far the fused heading may be off, by the steps that the heading itself takes.
struct FusionAccuracy {
    /// The standard deviation of the heading by noise, the offset and the field, in degrees.
    private(set) var sigma = 180.0
    /// A disagreement with the magnetometer that stays, in degrees: an error that nothing else shows.
    private(set) var disagreement = 0.0

    /// The standard deviation of the gyroscope's scale.
    private(set) var scaleSigma: Double
    /// What the scale may have turned the heading and the level by, in radians: a turn back takes it away.
    private var scaleTurn = 0.0
    private var scaleTilt = SIMD2<Double>.zero

    /// The turn about the vertical, in radians, that corrections have not taken away and the field has not shown to be right.
    private var unseenTurn = 0.0
    /// The turns that the field has agreed with, in radians, and the turn since the last of them.
    private var seenTurn: Double
    private var nextTurn = Vector3.zero

    /// By what movement shows to be wrong with the sensors, in degrees, beyond what is learned of them.
    private var contradiction = 0.0

    /// By which share of gravity its mean is too long or too short, lately and at most since.
    private var gravityDeparture = 0.0
    private var gravityError = 0.0

    /// What the accelerometer's offset tilts the level by, as far as turns have shown it, in radians.
    var levelError = 0.0
    /// What is left of that offset and of the axes at least, as a standard deviation.
    private let tiltError: Double

    /// What accelerations move the level by, which turns the field.
    private(set) var vertical = VerticalMovement()
    private var ageSeconds = 0.0
    private var meanAcceleration = SIMD2<Double>.zero
    private var meanSquare = 0.0
    private var disagreementGain = ExponentialGain(timeConstantSeconds: 5)
    private var accelerationGain = ExponentialGain(timeConstantSeconds: 3)
    /// Longer than the waves that a boat rises and falls with.
    private var gravityGain = ExponentialGain(timeConstantSeconds: 10)
    /// The level follows within some seconds, an offset shows itself again in each turn.
    private var gravityErrorGain = ExponentialGain(timeConstantSeconds: 30)

    /// In degrees, and of the share of fields that no iron explains: what a gyroscope that is wrong makes of a movement of the hand.
    private static let (contradictionDegrees, usualMisfit) = (27.0, 0.1)
    /// That per root of the surprise.
    private static let surpriseDegrees = 9.5
    /// The surprise of a right gyroscope is less.
    static let usualSurprise = 1.0
    /// By which share of the turn, per surprise, the heading may be off from then on.
    private static let wrongTurnShare = 0.05
    /// In radians, 11°: a field that stays as strong moves by more in the gyroscope's frame in few seconds of a walk, and of fast turns.
    private static let usualTurn = 0.19
    /// In degrees, the most that is stated of a turn alone: enough for the heading not to look sure, and too little to silence it.
    private static let unseenDegrees = 20.5
    /// In radians: turns of the first size show something, and as many as the second have to be right.
    private static let (clearTurn, wholeTurns) = (0.2, Double.pi)
    /// The share of a turn by which scale and axes of a gyroscope may be wrong.
    private static let turnShare = 0.0002
    /// The share of the rates' change over a gap by which their mean may be wrong.
    private static let changeShare = 0.25
    /// Of the field's strength; the error on an axis that a fair calibration leaves.
    private static let fieldShare = 0.006
    /// How much of the level's movement the low pass of the heading lets through: a curve lasts about as long as it averages.
    private static let movementShare = 0.6
    /// How much of a departure of the field's strength and dip counts as an error to the east.
    private static let departureShare = 0.05
    private static let startSeconds = 3.0
    /// Of gravity: the length of a right accelerometer's mean varies by so much in all recordings.
    private static let usualDeparture = 0.02
    /// From here on nothing is left of the error of the start.
    private static let startEndSeconds = 60.0
    /// Nine of ten values of a normal distribution lie within so many standard deviations.
    static let nineOfTen = 1.645

    /// Creates the accuracy of a gyroscope; `isSeen` says that its turns were right in an earlier run.
    init(scaleSigma: Double, isSeen: Bool, tiltError: Double) {
        self.scaleSigma = scaleSigma
        self.tiltError = tiltError
        seenTurn = isSeen ? Self.wholeTurns : 0
    }

    /// Begins again; what was seen of the gyroscope stays.
    mutating func restart() {
        let seen = seenTurn
        self = FusionAccuracy(scaleSigma: scaleSigma, isSeen: false, tiltError: tiltError)
        seenTurn = seen
    }

    /// Begins with another level; the heading stays.
    mutating func restartLevel() {
        let begun = FusionAccuracy(scaleSigma: scaleSigma, isSeen: false, tiltError: tiltError)
        (vertical, scaleTilt, ageSeconds) = (begun.vertical, begun.scaleTilt, begun.ageSeconds)
        (meanAcceleration, meanSquare) = (begun.meanAcceleration, begun.meanSquare)
    }

    /// Takes a step of the gyroscope: the rate and its vertical part in rad/s, and the offset's standard deviation about the
    /// vertical in °/s.
    mutating func addRate(_ rate: Double, vertical: Double, offsetSigma: Double, seconds: Double) {
        sigma += (offsetSigma + Self.turnShare * rate * 180 / .pi) * seconds
        scaleTurn += scaleSigma * vertical * seconds
        ageSeconds += seconds
    }

    /// Takes a part of a turn beyond the gyroscope's range: the rate that was measured, in rad/s.
    mutating func addSaturated(_ rate: Double, seconds: Double) {
        sigma = min(sigma + RateGap.unknownTurnShare * rate * 180 / .pi * seconds, 180)
    }

    /// Takes a gap, over which the mean of the rates at both ends was integrated.
    ///
    /// - Parameters:
    ///   - rate: That mean, in rad/s.
    ///   - change: By how much the rates at both ends differ.
    ///   - seconds: How long it was.
    mutating func addGap(rate: Double, change: Double, seconds: Double) {
        let share = min(seconds / RateGap.longSeconds, 1)
        let turn =
            (RateGap.unknownShare(seconds: seconds) * rate + Self.changeShare * share * change) * 180 / .pi * seconds
        // Gaps are independent of each other, unlike an error of the offset.
        sigma = min((sigma * sigma + turn * turn).squareRoot(), 180)
    }

    /// Takes an acceleration in the frame that only the rates keep, its mean there, and the length of that as gravity, in g.
    ///
    /// In that frame the mean of a right accelerometer is gravity, whatever the device does. Of one that is late, at the end of its
    /// range or offset it is too short, or too long, while the device turns: then its direction is wrong as well.
    mutating func addAcceleration(_ level: SIMD2<Double>, mean: Vector3, gravity: Double, seconds: Double) {
        vertical.update(mean, seconds: seconds)
        if ageSeconds > Self.startSeconds {
            gravityDeparture += gravityGain.update(seconds) * (gravity - 1 - gravityDeparture)
            gravityError = max(
                gravityError * (1 - gravityErrorGain.update(seconds)), abs(gravityDeparture) - Self.usualDeparture)
        }
        let share =
            ageSeconds < Self.startSeconds
            ? (ageSeconds > 0 ? min(seconds / ageSeconds, 1) : 1) : accelerationGain.update(seconds)
        meanAcceleration += (level - meanAcceleration) * share
        let departure = level - meanAcceleration
        meanSquare += ((departure * departure).sum() - meanSquare) * share
    }

    /// Takes a turn in the level frame, in radians, and how well the scale is known since.
    mutating func addTurn(_ turn: Vector3, scaleSigma: Double, seconds: Double, inclinationSeconds: Double) {
        self.scaleSigma = scaleSigma
        if seenTurn < Self.wholeTurns {
            unseenTurn += turn.z
            nextTurn += turn
        }
        // The accelerometer takes the tilt away.
        scaleTilt = scaleTilt * exp(-seconds / inclinationSeconds) + SIMD2(turn.x, turn.y) * scaleSigma
    }

    /// Takes what the field shows of both sensors in movement.
    ///
    /// A room's fields surprise as well. So a wrong gyroscope has a second witness: gravity, whose mean is too short then, or the
    /// strength of the field, which iron would change.
    ///
    /// - Parameters:
    ///   - misfit: The share of the last second's fields that no iron explains.
    ///   - surprise: The mean square of what no iron explains of them.
    ///   - gravity: The length of gravity's mean, in g.
    ///   - isFieldConstant: Whether the field has been as strong as the Earth's for some seconds.
    ///   - isFieldSphere: Whether it has one strength with some iron, which may have come a moment ago.
    ///   - lag: By how much later than the field the rates are, in seconds.
    ///   - rate: How fast the device turns, in rad/s.
    ///   - seconds: The time since it was shown last.
    mutating func addMovement(
        misfit: Double, surprise: Double, gravity: Double, isFieldConstant: Bool, isFieldSphere: Bool, lag: Double,
        rate: Double, seconds: Double
    ) {
        let turned = lag * rate * 180 / .pi
        var unexplained = max(misfit - Self.usualMisfit, 0) * Self.contradictionDegrees
        let excess = max(surprise - Self.usualSurprise, 0)
        let isWrong = isFieldConstant || abs(gravity - 1) > Self.usualDeparture
        if isWrong || isFieldSphere { unexplained = max(unexplained, Self.surpriseDegrees * excess.squareRoot()) }
        if isWrong {
            sigma = min(sigma + Self.wrongTurnShare * excess * rate * 180 / .pi * seconds, 180)
        }
        contradiction = (turned * turned + unexplained * unexplained).squareRoot()
        see(isAgreed: excess == 0, isWrong: excess > 0 && (isWrong || isFieldSphere))
    }

    /// Counts the turns that the field agrees with; where iron in a room disagrees, they count neither for nor against the gyroscope.
    private mutating func see(isAgreed: Bool, isWrong: Bool) {
        guard seenTurn < Self.wholeTurns else { return }
        if isWrong { seenTurn = 0 }
        let size = length(nextTurn)
        guard !isAgreed || size > Self.clearTurn else { return }
        if isAgreed { seenTurn += size }
        nextTurn = .zero
    }

    /// Takes by how much the gyroscope has turned a field wrongly, in radians: by how much more than before.
    mutating func addFieldTurn(from before: Double, to angle: Double, dipDegrees: Double) {
        let grown = max(angle, Self.usualTurn) - max(before, Self.usualTurn)
        // A tilt of the level turns the heading by more.
        if grown > 0 { addTilt(grown, dipDegrees: max(abs(dipDegrees), 45)) }
    }

    /// The root mean square of the level accelerations of the last seconds, in m/s².
    var levelAcceleration: Double { meanSquare.squareRoot() }

    /// Takes a tilt, in radians, with which the heading was found until now.
    mutating func addTilt(_ tilt: Double, dipDegrees: Double) {
        sigma = min(sigma + Self.degreesPerTilt(dipDegrees) * tilt, 180)
    }

    /// Forgets the share of the disagreement that corrections by a field known better take away.
    mutating func forgetDisagreement(_ share: Double) { disagreement *= 1 - share }

    /// Takes a correction by the magnetometer.
    ///
    /// - Parameters:
    ///   - gain: The share of the disagreement by which the heading was corrected.
    ///   - disagreement: In degrees.
    ///   - field: The field's strength and dip in degrees.
    ///   - horizontalField: The level part of that field.
    ///   - verticalField: Its upward part.
    ///   - reference: The undisturbed ones, when they are known.
    ///   - isDisturbed: Whether the field is another one.
    ///   - error: The standard deviation of the field's error on an axis; `nil` when there was no calibration here.
    ///   - noise: The magnetometer's, in the field's unit by √Hz.
    ///   - averaged: The time constant of the corrections, in seconds.
    ///   - ironVariance: The variance of the iron's part to the east, which is known from turns or from that calibration.
    ///   - seconds: The time since the last sample.
    mutating func addCorrection(
        _ gain: Double, disagreement: Double, field: SIMD2<Double>, horizontalField: Double, verticalField: Double,
        reference: SIMD2<Double>?, isDisturbed: Bool, error: Double?, noise: Double, averaged: Double,
        ironVariance: Double, seconds: Double
    ) {
        guard gain > 0 else { return }
        // The plain mean of the start over T leaves n²/(2T) of white noise, the low pass after it n²/(4τ).
        let noiseSquare = noise * noise / (2 * min(max(ageSeconds, 0.1), 2 * averaged))
        let error = error ?? Self.fieldShare * field.x
        let departure = reference.map { field - $0 } ?? .zero
        let turned = field.x * departure.y * .pi / 180
        let share = (isDisturbed ? 1 : Self.departureShare) / 2
        // A tilt to the east makes the upright part of the field a part to the east.
        let square =
            max(error * error, ironVariance, noiseSquare) + share * (departure.x * departure.x + turned * turned)
            + verticalField * verticalField
            * ((scaleTilt * scaleTilt).sum() + Self.movementShare * vertical.square) / 2
        let level = max(horizontalField, 1e-9)
        let measured = min(180 / .pi / level * square.squareRoot(), 180)
        sigma += gain * (measured - sigma)
        scaleTurn *= 1 - gain
        unseenTurn *= 1 - gain
        self.disagreement += disagreementGain.update(seconds) * (disagreement - self.disagreement)
    }

    /// How far the heading may be off: about nine of ten errors are smaller.
    func degrees(dipDegrees: Double) -> Double {
        degrees(dipDegrees: dipDegrees, besides: disagreement * disagreement + contradiction * contradiction)
    }

    /// How far the heading was off before the field disagreed with it and with the turns.
    func degreesBefore(dipDegrees: Double) -> Double { degrees(dipDegrees: dipDegrees, besides: 0) }

    private func degrees(dipDegrees: Double, besides others: Double) -> Double {
        let perTilt = Self.degreesPerTilt(dipDegrees)
        let start = perTilt * (startTilt + gravityTilt)
        let scale = scaleTurn * 180 / .pi
        let tilt = perTilt * tiltError
        let square =
            sigma * sigma + start * start + tilt * tilt + scale * scale + others
        return min(max(Self.nineOfTen * square.squareRoot(), unseenTurnDegrees), 180)
    }

    /// What is stated at least of a turn that the field has not shown to be right.
    private var unseenTurnDegrees: Double {
        guard seenTurn < Self.wholeTurns else { return 0 }
        return min((1 - seenTurn / Self.wholeTurns) * abs(unseenTurn) * 180 / .pi, Self.unseenDegrees)
    }

    /// Begins with a new heading on a level that is known.
    mutating func restartHeading() {
        sigma = 180
        scaleTurn = 0
        unseenTurn = 0
        disagreement = 0
    }

    /// What a wrong accelerometer tilts the level by, in radians: it is as wrong across gravity as along it.
    private var gravityTilt: Double { max(gravityError * 2.squareRoot(), levelError, 0) }

    /// By how many degrees a tilt of one radian to the east turns the heading.
    private static func degreesPerTilt(_ dipDegrees: Double) -> Double {
        tan(min(abs(dipDegrees), 89) * .pi / 180) * 180 / .pi
    }

    /// What accelerations during the first seconds may have tilted the level by, in radians.
    private var startTilt: Double {
        guard ageSeconds < Self.startEndSeconds else { return 0 }
        let share =
            ageSeconds < Self.startSeconds
            ? 1 / (1 + 6 * ageSeconds) : exp((Self.startSeconds - ageSeconds) / Self.startSeconds) / 19
        guard share > 1e-6 else { return 0 }
        return (meanSquare / 2).squareRoot() / 9.81 * share
    }
}

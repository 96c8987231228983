import Binnacle
import Glibc
import SensorGeometry

/// Closes while a moving device cannot tell what is up, on acceleration other than gravity's and on a dip that differs from
/// the one at rest, and estimates how wrong up may be while it is open.
///
/// Violent motion passes 1 g and the right dip by chance. So after a departure of more than four times a limit the gate stays
/// closed for a quarter of a second. Of the dips, only those count as at rest that come after a fifth of a second with the
/// acceleration of gravity; the dip at rest is their running mean, with ``restSeconds`` as its time constant. So the gate opens
/// again by itself some seconds after the device was taken to where the dip is another. Where the dip changes and the device has
/// not moved, a magnet has come: that dip is not learned, until the device moves.
struct HeadingGate {
    private let settings: NorthSettings
    private let accelerationLimit: Double
    private let isAccelerationGated: Bool
    private let dipLimitSine: Double
    private let violentDipSine: Double
    private let isDipGated: Bool
    /// The place's dip, in radians; `nil` when the place is not known, or near the magnetic equator, where the sign says nothing.
    private let placeDip: Double?
    /// Level and downward share of the field at rest, of no particular length.
    private var rest = SIMD2<Double>.zero
    private var weight = RunningWeight(timeConstantSeconds: restSeconds)
    /// Up in the device when the dip was last the one at rest; `nil` once the device has moved since, and before the dip is known.
    private var settledUp: SIMD3<Double>?
    /// For how long the dip has been the one at rest since the device moved.
    private var steadySeconds = 0.0
    /// What the acceleration's length shows about the direction of up.
    private var sideways = SidewaysAcceleration()
    private var recent = RecentMean()
    private var hidden = HiddenMotion()
    private var lastTimeNanoseconds: Int64?
    /// The last sample at which there was more than gravity, or interference.
    private var lastUnrestNanoseconds: Int64?
    /// Since when the dip at rest has had the other sign than the place's.
    private var reversedNanoseconds: Int64?
    /// Whether the dip at rest has had the other sign than the place's for a second.
    private(set) var isReversed = false
    /// The last sample whose acceleration was off by more than twice the limit.
    private var lastRoughNanoseconds: Int64?
    /// The last sample at which the smoothed acceleration was shorter than the acceleration is strong: in a turn or a vibration
    /// it is the mean of several directions, so its length is not the acceleration's.
    private var lastSpreadNanoseconds: Int64?
    /// The last sample that was off by more than four times a limit.
    private var lastViolent: (timeNanoseconds: Int64, fault: HeadingFault)?
    /// The variance of up's error towards east, in radians, from everything but the field.
    private(set) var tiltVariance = 0.0
    /// The variance of the error of up, or of the field, that departures of the dip show, in radians.
    private(set) var dipVariance = 0.0
    /// How far a magnet turned the field about the vertical, in radians.
    var turn: Double { hidden.turn }

    private static let restSeconds = 5.0
    /// For so long the dip has to be the one at rest before another one counts as a magnet's.
    private static let settledSeconds = 1.0
    /// In radians: a magnet that seems to have turned the field so far may be near.
    private static let leastTurn = 0.05
    /// A device has moved when up has, in the device, by 3°.
    private static let movedCosine = cos(3 * Double.pi / 180)
    /// How much more slowly the dip at rest is learned while an acceleration lasts, which changes it, too.
    private static let lastingLearningShare = 0.2
    private static let usualAccelerationLimit = 0.05
    private static let usualDipLimitDegrees = 3.0
    private static let restDelayNanoseconds: Int64 = 200_000_000
    private static let violentDelayNanoseconds: Int64 = 250_000_000
    private static let calmDelayNanoseconds: Int64 = 500_000_000
    private static let reversalNanoseconds: Int64 = 1_000_000_000
    private static let gapSeconds = 0.5
    private static let spreadFieldShare = 0.995
    private static let spreadAccelerationG = 0.001
    static let leastDipDegrees = 10.0
    /// The dip in a building, or the one of a tilt that an accelerometer's error makes, differs from the place's by so much.
    private static let placeToleranceDegrees = 2.0
    /// From here on, in g or as the sine of the dip's departure, what an acceleration adds up to is not worth following.
    private static let followedDeparture = 0.15
    // How much of each variance counts, from recordings with an optical reference: enough for nine of ten headings in every
    // kind of motion.
    private static let dipSpreadFactor = 2.0
    private static let hiddenTiltFactor = 1.5

    init(settings: NorthSettings) {
        self.settings = settings
        accelerationLimit = settings.accelerationGateG ?? Self.usualAccelerationLimit
        isAccelerationGated = settings.accelerationGateG != nil
        let dipLimit = (settings.dipGateDegrees ?? Self.usualDipLimitDegrees) * .pi / 180
        dipLimitSine = sin(dipLimit)
        violentDipSine = sin(min(4 * dipLimit, .pi / 2))
        isDipGated = settings.dipGateDegrees != nil
        placeDip = settings.localField?.dipDegrees.flatMap {
            abs($0) < Self.leastDipDegrees ? nil : $0 * .pi / 180
        }
    }

    /// Takes a sample.
    ///
    /// - Parameters:
    ///   - attitude: What up and north seem to be.
    ///   - strength: The strength of the field, not of the smoothed vector, and as a share of what it should be.
    ///   - accelerationLength: The length of the acceleration, not of the smoothed vector, in m/s².
    ///   - isDisturbed: Whether there is interference, so that there is nothing to learn from.
    ///   - timeNanoseconds: The sample's stamp.
    /// - Returns: Why the gate is closed, if it is.
    mutating func update(
        _ attitude: Attitude, strength: (microtesla: Double, share: Double), accelerationLength: Double,
        isDisturbed: Bool, at timeNanoseconds: Int64
    ) -> HeadingFault? {
        let seconds = step(to: timeNanoseconds)
        let excess = attitude.acceleration / Double(Units.standardGravity) - 1
        if isDisturbed || abs(excess) > accelerationLimit { lastUnrestNanoseconds = timeNanoseconds }
        if abs(excess) > accelerationLimit || settledUp.map({ dot($0, attitude.up) < Self.movedCosine }) ?? false {
            settledUp = nil
            steadySeconds = 0
        }
        if hasPassed(Self.restDelayNanoseconds, since: lastUnrestNanoseconds, at: timeNanoseconds) {
            learn(attitude, sideways.lasts ? seconds * Self.lastingLearningShare : seconds)
        }
        let departure = dipDeparture(attitude)
        let dipSize = abs(departure)
        if abs(excess) > 2 * accelerationLimit { lastRoughNanoseconds = timeNanoseconds }
        if abs(excess) > 4 * accelerationLimit {
            lastViolent = (timeNanoseconds, .accelerating)
        } else if dipSize > violentDipSine {
            lastViolent = (timeNanoseconds, .dipDeparted)
        }
        let mean = recent.update(
            SIMD4(departure, departure * departure, excess, excess * excess), seconds: seconds, at: timeNanoseconds)
        if accelerationLength - attitude.acceleration > Self.spreadAccelerationG * Double(Units.standardGravity) {
            lastSpreadNanoseconds = timeNanoseconds
        }
        if hasPassed(Self.calmDelayNanoseconds, since: lastRoughNanoseconds, at: timeNanoseconds) {
            sideways.update(
                SidewaysAcceleration.Sample(
                    up: attitude.up, meanLengthExcess: mean.z, tilt: hidden.tilt, dipDeparture: departure,
                    isSpread: !hasPassed(Self.calmDelayNanoseconds, since: lastSpreadNanoseconds, at: timeNanoseconds)),
                seconds: seconds)
        } else {
            sideways.updateRough()
        }
        hidden.update(
            HiddenMotion.Sample(
                attitude: attitude, dipDeparture: departure, strength: strength.share,
                isFieldSpread: attitude.field < Self.spreadFieldShare * strength.microtesla,
                lengthExcess: sideways.lengthExcess,
                isViolent: max(abs(excess), dipSize) > Self.followedDeparture, hasMoved: settledUp == nil),
            seconds: seconds)
        dipVariance = departure * departure + Self.dipSpreadFactor * max(mean.y - mean.x * mean.x, 0)
        tiltVariance = mean.w + max(Self.hiddenTiltFactor * hidden.tilt * hidden.tilt, sideways.tiltSquare)

        if let placeDip, rest != .zero {
            // Negative where the field points down, as the attitude has it.
            let restDip = -atan2(rest.y, rest.x)
            watchSign(restDip * placeDip < 0 && abs(restDip) > Self.leastDipDegrees * .pi / 180, at: timeNanoseconds)
            if reversedNanoseconds != nil { return .gravityReversed }
            let excessDip = max(0, abs(restDip - placeDip) - Self.placeToleranceDegrees * .pi / 180)
            dipVariance += excessDip * excessDip
        }
        if isAccelerationGated, abs(excess) > accelerationLimit || rest == .zero { return .accelerating }
        if isDipGated, dipSize > dipLimitSine { return .dipDeparted }
        guard let lastViolent, lastViolent.fault == .accelerating ? isAccelerationGated : isDipGated,
            !hasPassed(Self.violentDelayNanoseconds, since: lastViolent.timeNanoseconds, at: timeNanoseconds)
        else { return nil }
        return lastViolent.fault
    }

    /// The time since the sample before, in seconds; 0 when everything starts again.
    private mutating func step(to timeNanoseconds: Int64) -> Double {
        defer { lastTimeNanoseconds = timeNanoseconds }
        guard let last = lastTimeNanoseconds else { return 0 }
        let seconds = Units.seconds(from: last, to: timeNanoseconds)
        if !(0...Self.gapSeconds).contains(seconds) { hidden.interrupt() }
        guard !(0...Self.restSeconds).contains(seconds) else { return seconds }
        // Who knows where it has been.
        self = HeadingGate(settings: settings)
        return 0
    }

    private mutating func watchSign(_ isOther: Bool, at timeNanoseconds: Int64) {
        guard isOther else {
            reversedNanoseconds = nil
            isReversed = false
            return
        }
        let since = reversedNanoseconds ?? timeNanoseconds
        reversedNanoseconds = since
        isReversed = hasPassed(Self.reversalNanoseconds, since: since, at: timeNanoseconds)
    }

    private func hasPassed(_ nanoseconds: Int64, since start: Int64?, at timeNanoseconds: Int64) -> Bool {
        start.map { Units.later($0, by: nanoseconds) <= timeNanoseconds } ?? true
    }

    private mutating func learn(_ attitude: Attitude, _ seconds: Double) {
        let now = SIMD2(attitude.horizontalField, attitude.verticalField) / attitude.field
        if rest == .zero { rest = now }
        let isAsBefore = abs(dipDeparture(attitude)) <= dipLimitSine && abs(hidden.turn) <= Self.leastTurn
        guard isAsBefore || settledUp == nil else { return }
        steadySeconds = isAsBefore ? steadySeconds + seconds : 0
        if steadySeconds >= Self.settledSeconds { settledUp = attitude.up }
        rest += (now - rest) * weight.update(seconds)
    }

    /// The sine of the angle between the dip and the one at rest; 1 where the field points the other way.
    private func dipDeparture(_ attitude: Attitude) -> Double {
        guard rest != .zero else { return 0 }
        let length = (rest.x * rest.x + rest.y * rest.y).squareRoot() * attitude.field
        guard rest.x * attitude.horizontalField + rest.y * attitude.verticalField >= 0 else { return 1 }
        return (rest.x * attitude.verticalField - rest.y * attitude.horizontalField) / length
    }
}

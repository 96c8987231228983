import Glibc
public import SensorGeometry

/// Decides whether the device is at rest, from the noise of the rates and of the acceleration.
///
/// A boat that turns slowly and steadily, or sways gently, is as quiet as one that lies still. It is told from rest by the offset
/// once that is known: a rate about any axis that the offset does not explain is a turn, unless a calibrated field shows for six
/// seconds that the offset has moved. Before, a turn shows in the level field, which turns with it. A sway shows in a rate that changes,
/// and before the offset is known in gravity as well.
@usableFromInline package struct RestWatch {
    /// The smoothed rate, in rad/s.
    @inlinable package var rate: Vector3 { smoothedRate.value }
    /// The smoothed acceleration, in m/s².
    var acceleration: Vector3 { smoothedAcceleration.value }
    package private(set) var isAtRest = false
    /// Whether it was since the start.
    package private(set) var wasAtRest = false
    /// Whether neither field nor gravity shows the turn that the rate has: the offset may be another one.
    package private(set) var isOffsetDoubtful = false
    /// Whether the rate is steady, and so slow that an offset which has moved may be all of it.
    package private(set) var isSlowTurn = false
    /// How far the last acceleration is from the smoothed one, in m/s².
    private(set) var accelerationDeparture = 0.0

    @usableFromInline var smoothedRate: LowPass<Vector3>
    private var smoothedAcceleration: LowPass<Vector3>
    private var smoothedField: LowPass<Vector3>
    /// Whether the offset is not known: then a turn is told from a rest without it, and the sensors' noise is measured.
    private var isOffsetUnknown: Bool
    private var rateNoise: SmoothedNoise
    private var fieldNoise: SmoothedNoise
    private var hasField = false
    private var seconds = 0.0
    /// The level part of the field, a unit vector, when the rest began.
    private var levelField: Vector3?
    /// The bounds of the smoothed rate, and gravity's first direction, since the rest began and the filters settled.
    private var sway: (least: Vector3, most: Vector3, down: Vector3)?
    private let settings: FusionSettings
    private let rateLimit: Double
    private let largestOffset: Double

    private static let radian = Double.pi / 180
    /// By so much the level field turns in a rest, and rate and gravity change, where the sensors' noise does not change them by more.
    private static let (turnAngle, swayRate, swayCosine) = (0.5 * radian, 0.05 * radian, cos(0.3 * radian))
    /// By so much a rate may differ from an offset that is known, where the noise does not change it by more.
    private static let turnRate = 0.1 * radian
    /// In standard deviations of what is smoothed: one in thousands of directions, and of bounds over three seconds, is further off.
    private static let (turnSigmas, swaySigmas) = (4.0, 5.0)
    /// From this standard deviation of the offset about the vertical on, in °/s, a turn may hide behind it.
    private static let hidingSigma = 0.1
    private static let unknownSigma = 0.3
    /// Half the period of a slow sway, in whose middle the rate is steady for shorter times.
    private static let swaySeconds = 6.0
    /// After a longer time without an acceleration, in seconds, a rest begins again.
    static let longestStep = 1.0
    /// In a turn of more than 2°/s the field shows it by then.
    private static let doubtSeconds = 0.3

    /// What the rate says of a turn, where the offset is known; a possible one is a rest when it lasts longer than a sway.
    private enum Turn { case none, possible, clear }

    init(_ settings: FusionSettings) {
        self.settings = settings
        rateLimit = settings.restRate * Self.radian
        largestOffset = settings.largestOffset * Self.radian
        smoothedRate = LowPass(timeConstantSeconds: settings.restSmoothingSeconds)
        smoothedAcceleration = LowPass(timeConstantSeconds: settings.restSmoothingSeconds)
        smoothedField = LowPass(timeConstantSeconds: settings.restSmoothingSeconds)
        isOffsetUnknown = settings.guardsAgainstSteadyTurns
        rateNoise = SmoothedNoise(smoothingSeconds: settings.restSmoothingSeconds)
        fieldNoise = SmoothedNoise(smoothingSeconds: settings.restSmoothingSeconds)
    }

    mutating func addRate(_ sample: Vector3, seconds: Double) {
        smoothedRate.update(sample, seconds: seconds)
        if isOffsetUnknown { rateNoise.update(sample, seconds: seconds) }
        let departure = sample - rate
        let largest = max(abs(rate.x), abs(rate.y), abs(rate.z))
        if dot(departure, departure) >= rateLimit * rateLimit || largest > largestOffset { end() }
    }

    mutating func addField(_ sample: Vector3, seconds: Double) {
        guard settings.guardsAgainstSteadyTurns else { return }
        hasField = true
        smoothedField.update(sample, seconds: seconds)
        if isOffsetUnknown { fieldNoise.update(sample, seconds: seconds) }
    }

    /// Takes an acceleration.
    ///
    /// - Parameters:
    ///   - sample: In m/s².
    ///   - step: The time in seconds since the last one; 0 for the first.
    ///   - up: The vertical as it is known so far, in the device's frame.
    ///   - offset: The gyroscope's offset as it is known so far.
    ///   - isOffsetLearned: Whether it was learned at rest, now or before the start.
    mutating func addAcceleration(
        _ sample: Vector3, step: Double, up: Vector3, offset: RateOffset, isOffsetLearned: Bool
    ) {
        guard step <= Self.longestStep else {
            // What the device did meanwhile is not known, and the rate of its turn would be learned as an offset.
            smoothedAcceleration.reset()
            smoothedAcceleration.update(sample, seconds: 0)
            end()
            return
        }
        smoothedAcceleration.update(sample, seconds: step)
        accelerationDeparture = length(sample - acceleration)
        isSlowTurn = false
        guard accelerationDeparture < settings.restAcceleration else {
            end()
            return
        }
        var needed = settings.restSeconds
        if settings.guardsAgainstSteadyTurns {
            let sigma = offset.sigmaDegrees(along: up)
            let isUnknown =
                sigma > Self.hidingSigma || offset.meanVariance > Self.unknownSigma * Self.unknownSigma
            if isUnknown != isOffsetUnknown {
                isOffsetUnknown = isUnknown
                // What was measured of the noise counts until it is measured again.
                if isUnknown {
                    rateNoise.reset()
                    fieldNoise.reset()
                }
            }
            let turn = isOffsetLearned ? turn(offset) : .none
            isSlowTurn = turn == .clear && length(rate - offset.value) < rateLimit
            // The offset may be another one by now: then neither the field nor gravity turns, where iron does not hide it.
            let mayHaveMoved = turn == .clear && settings.isFieldCalibrated && hasField
            let isWitnessNeeded = isUnknown || mayHaveMoved
            let isTurn = turn == .clear && !mayHaveMoved
            if isTurn || hasSwayed(watchingGravity: isWitnessNeeded) || isWitnessNeeded && hasTurned() {
                end()
                return
            }
            isOffsetDoubtful = mayHaveMoved && seconds >= Self.doubtSeconds
            if isUnknown { needed = settings.unknownRestSeconds }
            if turn != .none { needed = Self.swaySeconds }
        }
        seconds += step
        if seconds >= needed {
            isAtRest = true
            wasAtRest = true
        }
    }

    /// Forgets the samples, because some are missing.
    mutating func reset() {
        self = RestWatch(settings)
    }

    private mutating func end() {
        seconds = 0
        isOffsetDoubtful = false
        isAtRest = false
        levelField = nil
        sway = nil
    }

    /// Whether the device turns about any axis, so that the rate differs from the offset.
    private func turn(_ offset: RateOffset) -> Turn {
        let difference = rate - offset.value
        let size = length(difference)
        let usual = max(Self.turnRate, Self.turnSigmas * rateNoise.sigma)
        guard size > usual else { return .none }
        return size > usual + 3 * offset.sigmaDegrees(along: difference / size) * Self.radian ? .clear : .possible
    }

    /// Whether rate or gravity have changed since the rest began by more than noise changes them.
    private mutating func hasSwayed(watchingGravity: Bool) -> Bool {
        guard seconds >= settings.restSmoothingSeconds else { return false }
        guard let before = sway else {
            sway = (rate, rate, acceleration / length(acceleration))
            return false
        }
        let bounds = (pointwiseMin(before.least, rate), pointwiseMax(before.most, rate))
        sway = (bounds.0, bounds.1, before.down)
        let limit = max(Self.swayRate, Self.swaySigmas * rateNoise.sigma)
        if (bounds.1 - bounds.0).max() > limit { return true }
        return watchingGravity && dot(acceleration / length(acceleration), before.down) < Self.swayCosine
    }

    /// Whether the level field has turned since the rest began.
    private mutating func hasTurned() -> Bool {
        guard hasField else { return false }
        let (field, gravity) = (smoothedField.value, acceleration)
        let level = field - gravity * (dot(field, gravity) / dot(gravity, gravity))
        let size = length(level)
        guard size > 0 else { return false }
        let direction = level / size
        guard let levelField else {
            self.levelField = direction
            return false
        }
        // Both directions have the noise.
        let limit = max(Self.turnAngle, Self.turnSigmas * 2.0.squareRoot() * fieldNoise.sigma / size)
        return limit < .pi && dot(direction, levelField) < cos(limit)
    }
}

/// The noise that a low pass leaves of samples, from how they differ from those before: what changes slowly does not count.
private struct SmoothedNoise {
    private var last: Vector3?
    private var square: LowPass<Vector3>
    private let share: Double

    init(smoothingSeconds: Double) {
        square = LowPass(timeConstantSeconds: smoothingSeconds)
        // The difference of two has twice the variance, the three axes are summed up, and a low pass leaves Δt/(2τ).
        share = 1 / (2 * 3 * 2 * smoothingSeconds)
    }

    mutating func update(_ sample: Vector3, seconds: Double) {
        if let last { square.update((sample - last) * (sample - last) * seconds, seconds: seconds) }
        last = sample
    }

    mutating func reset() {
        last = nil
        square.reset()
    }

    /// Its standard deviation on an axis, in the samples' unit.
    var sigma: Double { max(square.value.sum() * share, 0).squareRoot() }
}

/// What a ``MotionManager`` looks for, with the defaults that were found on real recordings.
public struct MotionSettings: CheckedSettings {
    /// Which acceleration is compared with the motion thresholds.
    public enum Measure: String, Sendable, CaseIterable {
        /// |a − g|, with gravity g low-passed: sees a pure turn as well.
        case userAcceleration = "user_acceleration"
        /// | |a| − 1 g |: needs no filter and no warm-up, but a calibrated accelerometer, and hardly sees a slow turn.
        case magnitude
        /// |a − g|, with gravity g followed through each turn by a gyroscope: a turn is no motion.
        ///
        /// An offset of the accelerometer turns with the device and is no part of g.
        ///
        /// While there is no gyroscope, it is ``userAcceleration``.
        case linearAcceleration = "linear_acceleration"
    }

    /// The kinds of movement a manager can look for.
    public enum Feature: String, Sendable, CaseIterable {
        /// Motion began, goes on, ended.
        case motion
        /// A violent movement to and fro.
        case shake
        /// Weightlessness.
        case freeFall = "free_fall"
        /// A blow.
        case shock
        /// A turn began, ended: needs a gyroscope, and is not looked for unless it is asked for.
        case rotation

        /// What is looked for by default: all that an accelerometer shows.
        package static let usual: Set<Feature> = [.motion, .shake, .freeFall, .shock]
    }

    /// Whether the detector or the chip looks for movement while the device rests.
    package enum Watch: String, Sendable, CaseIterable {
        /// Samples, which come all the time.
        case samples
        /// The chip of the accelerometer, by an event of its own; samples are off meanwhile.
        case chip
        /// The chip where that is known to be sound, or else samples.
        case automatic = "auto"
    }

    /// Whether a gyroscope is needed for what is looked for.
    package var usesGyroscope: Bool { usesLinearAcceleration || features.contains(.rotation) }
    /// Whether motion is found by ``Measure/linearAcceleration``.
    var usesLinearAcceleration: Bool { features.contains(.motion) && measure == .linearAcceleration }

    /// What is looked for; all but ``Feature/rotation`` by default.
    public var features = Feature.usual
    /// Which acceleration the motion thresholds are about.
    public var measure: Measure = .userAcceleration
    /// Motion is above this, in g; 0.05 by default (a resting p99 of 0.022 g and a moving p10 of 0.042 g were
    /// measured on the recording broad05).
    public var thresholdG: Float = 0.05
    /// Quiet is below this, in g; `nil` is half the threshold.
    public var releaseG: Float?
    /// A rotation is a rate of turn above this, about any axis, in °/s; 30 by default.
    public var rotationDegreesPerSecond: Float = 30
    /// A rotation can end below this, in °/s; `nil` is half of ``rotationDegreesPerSecond``.
    public var rotationReleaseDegreesPerSecond: Float?
    /// How long motion or a rotation has to last before it began; 20 ms by default.
    public var minimumDuration: Duration = .milliseconds(20)
    /// How long quiet has to last before motion or a rotation ended; 1 s by default.
    public var quiet: Duration = .seconds(1)
    /// A shake is user acceleration above this, in g; 1.5 by default.
    ///
    /// The next shake needs a fall below half of it first.
    public var shakeG: Float = 1.5
    /// The shortest time between two shakes; 0.1 s by default.
    public var shakeRefractory: Duration = .milliseconds(100)
    /// Free fall is a total acceleration below this, in g; 0.35 by default.
    public var freeFallG: Float = 0.35
    /// How long free fall has to last; 100 ms by default, because a jogger is weightless for 40 to 75 ms.
    public var freeFallDuration: Duration = .milliseconds(100)
    /// A shock is a total acceleration above this, in g; 2.5 by default.
    public var shockG: Float = 2.5
    /// The shortest time between two shocks; 0.5 s by default.
    public var shockRefractory: Duration = .milliseconds(500)
    /// How long after the first sample above the threshold a shock's peak is looked for; 50 ms by default, 0 tells it at once.
    package var shockWindow: Duration = .milliseconds(50)
    /// The time constant of the gravity filter; 0.5 s by default.
    ///
    /// After a start or a gap, what needs gravity is not looked for until three time constants have passed.
    package var gravityTimeConstant: Duration = .milliseconds(500)
    /// A longer time without a sample makes the filter and every unconfirmed change start again; 1 s by default.
    ///
    /// Quiet goes on through it, and the filter's start after it, where both are shorter than half of ``quiet``.
    package var gapLimit: Duration = .seconds(1)
    /// Whether the detector or the chip looks for movement while the device rests; the detector by default.
    package var watch: Watch = .samples
    /// Whether movement wakes a suspended machine, which needs ``watch``.
    package var wake = false
    /// How often "device is moving" is repeated at most; 0.1 s by default.
    public var updateInterval: Duration = .milliseconds(100)

    /// The defaults.
    public init() {}

    /// The release threshold in force, in g.
    package var effectiveReleaseG: Float { releaseG ?? thresholdG / 2 }
    /// The rate below which a rotation can end, in °/s.
    package var effectiveRotationRelease: Float { rotationReleaseDegreesPerSecond ?? rotationDegreesPerSecond / 2 }

    package func findProblems(_ list: inout ProblemList<MotionSettings>) {
        list.require(
            \.features, !features.isEmpty, "is empty: name at least one of \(Feature.allCases.map(\.rawValue))")
        list.require(
            \.watch, watch == .samples || !usesGyroscope,
            "(\(watch.rawValue)) leaves out the samples of rest, which rotations and linear_acceleration need")
        list.require(
            \.wake, !wake || watch != .samples, "needs the chip: set \(\Self.watch) to \"chip\" or \"auto\"",
            others: [\.watch])
        list.requirePositive(\.thresholdG, thresholdG)
        list.requirePositive(\.releaseG, effectiveReleaseG, others: [\.thresholdG])
        list.require(
            \.releaseG, effectiveReleaseG <= thresholdG,
            "(\(effectiveReleaseG)) is above \(\Self.thresholdG) (\(thresholdG))", others: [\.thresholdG])
        list.requirePositive(\.shakeG, shakeG)
        list.requirePositive(\.freeFallG, freeFallG)
        list.require(\.freeFallG, freeFallG < 1, "(\(freeFallG)) is not below 1 g: rest would count as free fall")
        list.requirePositive(\.shockG, shockG)
        list.require(\.shockG, shockG > 1, "(\(shockG)) is not above 1 g: rest would count as a shock")
        list.requirePositive(\.rotationDegreesPerSecond, rotationDegreesPerSecond)
        list.requirePositive(
            \.rotationReleaseDegreesPerSecond, effectiveRotationRelease, others: [\.rotationDegreesPerSecond])
        list.require(
            \.rotationReleaseDegreesPerSecond, effectiveRotationRelease <= rotationDegreesPerSecond,
            "(\(effectiveRotationRelease)) is above \(\Self.rotationDegreesPerSecond) (\(rotationDegreesPerSecond))",
            others: [\.rotationDegreesPerSecond])
        list.requireNotNegative(\.minimumDuration, minimumDuration)
        list.requireNotNegative(\.quiet, quiet)
        list.requireNotNegative(\.shakeRefractory, shakeRefractory)
        list.requireNotNegative(\.freeFallDuration, freeFallDuration)
        list.requireNotNegative(\.shockRefractory, shockRefractory)
        list.requireNotNegative(\.shockWindow, shockWindow)
        list.requirePositive(\.gravityTimeConstant, gravityTimeConstant)
        list.requirePositive(\.gapLimit, gapLimit)
        list.requireNotNegative(\.updateInterval, updateInterval)
    }
}

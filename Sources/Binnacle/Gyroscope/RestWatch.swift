import Glibc
public import SensorGeometry

/// Decides whether the device is at rest, from the noise of the rates and of the acceleration.
///
/// A boat that turns slowly and steadily is as quiet as one that lies still. It is told from rest by the offset once that is
/// known, and by the level field, which turns with it, before.
@usableFromInline package struct RestWatch {
    /// The smoothed rate, in rad/s.
    @inlinable package var rate: Vector3 { smoothedRate.value }
    /// The smoothed acceleration, in m/s².
    var acceleration: Vector3 { smoothedAcceleration.value }
    package private(set) var isAtRest = false
    /// Whether it was since the start.
    package private(set) var wasAtRest = false
    /// How far the last acceleration is from the smoothed one, in m/s².
    private(set) var accelerationDeparture = 0.0

    @usableFromInline var smoothedRate: LowPass<Vector3>
    private var smoothedAcceleration: LowPass<Vector3>
    private var smoothedField: LowPass<Vector3>
    private var hasField = false
    private var seconds = 0.0
    /// The level part of the field, a unit vector, when the rest began.
    private var levelField: Vector3?
    private let settings: FusionSettings
    private let rateLimit: Double
    private let largestOffset: Double

    private static let radian = Double.pi / 180
    private static let turnCosine = cos(radian)
    /// From this standard deviation of the offset about the vertical on, in °/s, a turn may hide behind it.
    private static let hidingSigma = 0.1
    private static let unknownSigma = 0.3

    init(_ settings: FusionSettings) {
        self.settings = settings
        rateLimit = settings.restRate * Self.radian
        largestOffset = settings.largestOffset * Self.radian
        smoothedRate = LowPass(timeConstantSeconds: settings.restSmoothingSeconds)
        smoothedAcceleration = LowPass(timeConstantSeconds: settings.restSmoothingSeconds)
        smoothedField = LowPass(timeConstantSeconds: settings.restSmoothingSeconds)
    }

    mutating func addRate(_ sample: Vector3, seconds: Double) {
        smoothedRate.update(sample, seconds: seconds)
        let departure = sample - rate
        let largest = max(abs(rate.x), abs(rate.y), abs(rate.z))
        if dot(departure, departure) >= rateLimit * rateLimit || largest > largestOffset { end() }
    }

    mutating func addField(_ sample: Vector3, seconds: Double) {
        guard settings.guardsAgainstSteadyTurns else { return }
        hasField = true
        smoothedField.update(sample, seconds: seconds)
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
        smoothedAcceleration.update(sample, seconds: step)
        accelerationDeparture = length(sample - acceleration)
        guard accelerationDeparture < settings.restAcceleration else {
            end()
            return
        }
        var needed = settings.restSeconds
        if settings.guardsAgainstSteadyTurns {
            let sigma = offset.sigmaDegrees(along: up)
            if isOffsetLearned, abs(dot(up, rate - offset.value)) > (0.1 + 3 * sigma) * Self.radian {
                end()
                return
            }
            if sigma > Self.hidingSigma || offset.meanVariance > Self.unknownSigma * Self.unknownSigma {
                needed = settings.unknownRestSeconds
                if hasTurned() {
                    end()
                    return
                }
            }
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
        isAtRest = false
        levelField = nil
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
        return dot(direction, levelField) < Self.turnCosine
    }
}

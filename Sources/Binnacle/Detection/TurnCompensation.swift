import Kernels
import SensorGeometry

/// What a ``MotionManager`` keeps of its gyroscope: the orientation of six axes, which says where gravity is while the device turns.
struct TurnCompensation {
    private var fusion = SixAxisFusion()
    private let gyroscope: SampleStream
    /// The gyroscope of which the fusion has learned.
    private var device: MountedSensor?
    private let settings: MotionSettings
    /// When the first acceleration came, or the first one after an interruption.
    private var startNanoseconds: Int64?
    private var lastRateNanoseconds: Int64?
    /// Whether the delegate was told that there are no rates.
    private var isFailureTold = false

    /// A gyroscope that was opened later than the accelerometer, or starts slowly, is not missing before this time.
    private static let startLimitNanoseconds: Int64 = 5_000_000_000
    private static let silenceNanoseconds: Int64 = 1_000_000_000

    init(_ gyroscope: SampleStream, settings: MotionSettings) {
        self.gyroscope = gyroscope
        self.settings = settings
    }

    /// What is known of the gyroscope; `nil` while there is none.
    var state: GyroscopeState? {
        guard isFed else { return nil }
        return gyroscope.sensor.gyroscopeState(
            fusion.memory, isLearned: fusion.hasLearnedOffset, isAtRest: fusion.rest.isAtRest)
    }

    /// Begins with what an earlier run has learned of the gyroscope, and forgets what this one has of another.
    private mutating func recall() {
        guard gyroscope.sensor.gyroscopeDevice != device else { return }
        device = gyroscope.sensor.gyroscopeDevice
        fusion = SixAxisFusion(memory: gyroscope.sensor.recalledGyroscope)
    }

    var isFed: Bool { lastRateNanoseconds != nil }

    /// Takes a rate in rad/s; returns the square of the rate without the gyroscope's offset, in (rad/s)².
    mutating func update(rate: SIMD3<Float>, at time: Int64) -> Float {
        if lastRateNanoseconds == nil {
            recall()
            fusion.setGyroscope(of: gyroscope.sensor)
        }
        lastRateNanoseconds = time
        isFailureTold = false
        fusion.update(gyroscope: rate, at: time)
        let turning = Vector3(rate) - fusion.offset.value
        return Float(dot(turning, turning))
    }

    /// Takes an acceleration in m/s².
    ///
    /// - Returns: The square of the acceleration without gravity, in (m/s²)²; `nil` while the rates do not say where gravity is.
    mutating func update(acceleration: SIMD3<Float>, at time: Int64) -> Float? {
        if startNanoseconds == nil { startNanoseconds = time }
        guard isFed else { return nil }
        fusion.update(acceleration: acceleration, at: time)
        guard let gravity = fusion.gravity(at: time) else { return nil }
        let own = Vector3(acceleration) - gravity
        return Float(dot(own, own))
    }

    /// Notices at an acceleration that there are no rates; returns what the delegate is to be told, once.
    mutating func missRate(at time: Int64) -> TurnFailure? {
        guard !isFailureTold else { return nil }
        if let last = lastRateNanoseconds {
            guard isGap(from: last, to: time, limit: Self.silenceNanoseconds) else { return nil }
            isFailureTold = true
            return TurnFailure(.silent, settings)
        }
        guard let startNanoseconds, isGap(from: startNanoseconds, to: time, limit: Self.startLimitNanoseconds) else {
            return nil
        }
        isFailureTold = true
        return TurnFailure(.missing, settings)
    }

    /// Begins again, because there are no rates or their stamps say nothing; the offset is kept.
    ///
    /// - Parameter isTold: Whether the delegate knows already that there are none.
    mutating func interrupt(isTold: Bool) {
        startNanoseconds = nil
        lastRateNanoseconds = nil
        isFailureTold = isTold
        fusion.restart()
    }
}

/// Why a gyroscope that the settings need does not serve, and what is done without it.
struct TurnFailure: SampleFailure, Equatable, CustomStringConvertible {
    /// What is wrong with it.
    enum Reason { case missing, silent }

    let description: String
    /// Whether it was found at a sample, and not at the start of detection.
    let isAtSample: Bool

    init(_ reason: Reason, _ settings: MotionSettings, isAtSample: Bool = true) {
        self.isAtSample = isAtSample
        let until = reason == .missing ? "there is one" : "it is back"
        var effects: [String] = []
        if settings.usesLinearAcceleration {
            effects.append("motion is found by user acceleration, which a turn changes as well, until \(until)")
        }
        if settings.features.contains(.rotation) { effects.append("no rotation is found until \(until)") }
        description =
            (reason == .missing ? "no gyroscope: " : "no gyroscope sample for a second: ")
            + effects.joined(separator: ", and ")
    }
}

import Glibc
package import SensorGeometry

/// Finds the orientation from a gyroscope and an accelerometer, each with rates and stamps of its own.
///
/// It is level, with a heading that drifts. So it says where gravity is while the device turns.
///
/// The structure is that of VQF (D. Laidig, T. Seel, Information Fusion 91, 2023, doi:10.1016/j.inffus.2022.10.014): the rates are
/// integrated, and the accelerometer corrects the inclination alone. The equations are written from their description; what differs
/// from the publication stands in ``FusionSettings``.
///
/// A sample of the accelerometer whose stamp the gyroscope has not reached waits; a late one is turned by the orientation at its own
/// stamp. Nothing is allocated after the start.
@usableFromInline package struct SixAxisFusion {
    package private(set) var settings: FusionSettings

    // The orientation in two parts: the device in a frame that only drifts, and that frame in a level one.
    @usableFromInline var integrated = Quaternion.identity
    @usableFromInline package internal(set) var inclination = Quaternion.identity

    // A computed property of these would copy the whole fusion for each use in another module.
    package private(set) var offset: RateOffset
    package private(set) var rest: RestWatch
    private var range: RateRange
    package private(set) var history = OrientationHistory()
    /// The accelerations that wait for a rate.
    package private(set) var waiting = WaitingSamples()

    // The gyroscope.
    package private(set) var rateTime: Int64?
    private var lastRate = Vector3.zero
    /// The rate without the offset, in rad/s, in the device's frame.
    package private(set) var rate = Vector3.zero
    /// What the rates are multiplied by.
    package var scale: Double
    private var pattern = StepPattern()
    private var gap = RateGap()
    package private(set) var ageSeconds = 0.0
    package private(set) var isSaturated = false
    /// Whether the offset was learned at rest, now or in an earlier run.
    package private(set) var hasLearnedOffset: Bool
    /// The offset until the rest that is under way.
    private var usedOffset: Vector3

    // The accelerometer. The filters work where the device's turning is taken out, so they can be slow without being late.
    package private(set) var accelerationTime: Int64?
    /// The last step of the accelerometer, in seconds; 0 before the second sample.
    private var accelerationSeconds = 0.0
    private var levelClock: LowPassClock
    /// The acceleration as it is measured, in m/s², smoothed in the frame that only drifts.
    package private(set) var levelAcceleration = LowPassState<Vector3>()
    private var levelFrame = (LowPassState<Vector3>(), LowPassState<Vector3>(), LowPassState<Vector3>())
    private var levelOffset = LowPassState<SIMD2<Double>>()
    package private(set) var up = Vector3(0, 0, 1)
    /// How well the offset about the vertical is known, in °/s.
    package private(set) var offsetSigma: Double
    /// What a sensor repeats that measures nothing, which is left out.
    package private(set) var repeated = RepeatedSamples()
    /// How often the orientation has begun again, and how often of these at rest, where the device did not turn meanwhile.
    package private(set) var restarts = (all: 0, atRest: 0)
    /// The smoothed acceleration before a gap in rest: if it differs after it, the device was moved.
    private var accelerationBeforeGap: Vector3?

    /// A step of more usual ones has lost a sample; from the second one on it is a gap.
    private static let missingSteps = 1.6
    private static let gapSteps = 2.5
    private static let longestGapInMotion = StepPattern.longestSeconds
    /// In rad, 9°: a turn in a gap that may be wrong by more is too much to go on.
    private static let largestUnknownTurn = 9 * Double.pi / 180
    /// In rad/s, 3°/s: slower is rest on both sides of a gap.
    private static let restRate = 3 * Double.pi / 180
    /// After longer gaps at rest the heading may be another one.
    package static let longGap = 1.0
    /// Stamps that step back further than this begin again; less is a disorder of single samples.
    private static let longestStepBack = 0.5
    /// So long it takes to learn in motion what tilts the level.
    private static let motionLearningSeconds = 30.0
    /// For how long a rate says what follows it.
    private static let longestOutlook = 0.25
    /// In °/s: from here on an offset counts as known.
    private static let knownSigma = 0.1
    /// In rad/s, 0.5°/s.
    private static let largestOffsetStep = 0.5 * Double.pi / 180

    /// Creates a fusion without a sample, with what an earlier run has learned.
    package init(settings: FusionSettings = FusionSettings(), memory: FusionMemory? = nil) {
        self.settings = settings
        offset = RateOffset(settings, memory: memory)
        rest = RestWatch(settings)
        range = RateRange(settings.gyroscopeRange)
        hasLearnedOffset = (memory?.sigmaDegrees.max() ?? settings.startSigma) < settings.startSigma
        usedOffset = offset.value
        levelClock = LowPassClock(timeConstantSeconds: settings.inclinationSeconds)
        offsetSigma = offset.sigmaDegrees(along: Vector3(0, 0, 1))
        scale = settings.learnsSensors ? memory?.errors?.scaleChoice(startSigma: settings.scaleSigma)?.scale ?? 1 : 1
    }

    // MARK: - What is known

    /// The orientation: level, with a heading that drifts.
    @inlinable @inline(__always) package var orientation: Quaternion { inclination * integrated }
    /// Gravity in m/s², smoothed, in the frame that only drifts.
    package var driftingGravity: Vector3 { levelAcceleration.value - driftingFrame * accelerationOffset }
    /// The rotation from the device's frame to that one, smoothed as well.
    package var driftingFrame: Matrix3 { inclination.conjugate.matrix * smoothedFrame }
    private var smoothedFrame: Matrix3 { Matrix3(levelFrame.0.value, levelFrame.1.value, levelFrame.2.value) }
    /// What the accelerometer measures where there is no force, in m/s² in the device's frame, as far as turns have shown it.
    package var accelerationOffset = Vector3.zero
    /// How long gravity is, smoothed, in m/s².
    package private(set) var gravityLength = 0.0

    /// Gravity as a sample of the accelerometer contains it, in m/s², in the device's frame: its mean over some seconds in the frame in
    /// which the device's turning is taken out, so that a turn neither changes it nor delays it.
    ///
    /// It stands along the vertical of ``orientation``, with the length that this accelerometer gives to it.
    ///
    /// - Parameter time: The sample's stamp. The device is taken to turn on, as it did at the gyroscope's last sample, for a quarter of
    ///   a second.
    /// - Returns: Gravity; `nil` while an offset may tilt it, or without a rate for so long.
    func gravity(at time: Int64) -> Vector3? { isLevelSteady ? shownGravity(at: time) : nil }

    /// As ``gravity(at:)``, also while an offset may tilt it.
    package func shownGravity(at time: Int64) -> Vector3? {
        guard let rateTime, accelerationTime != nil else { return nil }
        let ahead = Units.seconds(from: rateTime, to: time) - accelerationLag
        if ahead <= 0 {
            let middle = time - Int64((accelerationLag * 1e9).rounded())
            return history.rotation(at: middle)?.conjugate.rotate(levelAcceleration.value)
        }
        guard ahead <= Self.longestOutlook else { return nil }
        let turned = integrated * Quaternion(rate: rate, seconds: ahead)
        return turned.conjugate.rotate(levelAcceleration.value)
    }

    /// How far the acceleration of a stamp is behind the orientation of that stamp, in seconds.
    ///
    /// A rate turns the orientation for the whole step before its stamp. Chips that average over a step do so with the acceleration as
    /// well, which is that of the middle of the step; those that sample at the stamp have an orientation that is half a step ahead.
    private var accelerationLag: Double {
        settings.gyroscopeReportsOnChange ? 0 : min(pattern.usualSeconds, accelerationSeconds) / 2
    }

    /// Whether an offset does not tilt the mean of the acceleration any more: it was learned at rest, or in motion for some time.
    private var isLevelSteady: Bool {
        (hasLearnedOffset || ageSeconds >= Self.motionLearningSeconds) && levelAcceleration.value != .zero
    }

    /// What is worth keeping of the gyroscope's offset.
    package var memory: FusionMemory {
        let variance = offset.covariance.diagonal
        return FusionMemory(
            offset: offset.value,
            sigmaDegrees: 0.01 * Vector3(variance.x.squareRoot(), variance.y.squareRoot(), variance.z.squareRoot()))
    }

    // MARK: - Samples

    /// Takes what the opened device of a sensor says about its gyroscope.
    package mutating func setGyroscope(of sensor: Sensor) {
        if sensor.gyroscopeRange != settings.gyroscopeRange { range = RateRange(sensor.gyroscopeRange) }
        settings.gyroscopeRange = sensor.gyroscopeRange
        settings.gyroscopeReportsOnChange = sensor.gyroscopeReportsOnChange
    }

    /// Takes a rate in rad/s, and the accelerations that have waited for it.
    package mutating func update(gyroscope sample: SIMD3<Float>, at time: Int64) {
        guard advance(gyroscope: sample, at: time) != nil else { return }
        while let first = waiting.firstTimeNanoseconds, first <= time { _ = processFirstWaiting() }
    }

    /// Takes a rate in rad/s.
    ///
    /// - Returns: What it has done; `nil` when it counts for nothing. The accelerations that have waited for it are the caller's to
    ///   take, with ``processFirstWaiting()``.
    package mutating func advance(gyroscope sample: SIMD3<Float>, at time: Int64) -> RateStep? {
        let measured = Vector3(sample)
        guard measured.isFinite else { return nil }
        guard let last = rateTime else {
            begin(sample, at: time)
            return RateStep()
        }
        let distance = Units.seconds(from: last, to: time)
        guard distance > 0 else {
            guard distance < -Self.longestStepBack else { return nil }
            restart()
            begin(sample, at: time)
            return RateStep(isRestart: true)
        }
        if !settings.gyroscopeReportsOnChange,
            !repeated.takes(rate: measured, turning: length(measured - offset.value), seconds: distance)
        {
            return nil
        }
        var mean = settings.gyroscopeReportsOnChange ? lastRate : measured
        let (real, steps) = pattern.add(distance)
        let seconds = settings.gyroscopeReportsOnChange ? distance : real
        var step = RateStep(seconds: seconds)
        // In a shorter step a slope would be noise, and the mean no rate.
        let isShort = steps < StepPattern.shortSteps
        if steps > Self.gapSteps {
            let ends = (length(lastRate - offset.value), length(measured - offset.value))
            let isResting = max(ends.0, ends.1) < Self.restRate
            let unknown = RateGap.unknownShare(seconds: seconds) * max(ends.0, ends.1) * seconds
            let isBridgeable = seconds <= Self.longestGapInMotion && unknown <= Self.largestUnknownTurn
            guard isResting || isBridgeable || settings.gyroscopeReportsOnChange && seconds <= Self.longGap else {
                offset.age(seconds)
                restart()
                begin(sample, at: time)
                return RateStep(isRestart: true)
            }
            if !settings.gyroscopeReportsOnChange { step.gap = bridge(seconds, to: measured) }
        }
        if seconds > Self.longestGapInMotion, !settings.gyroscopeReportsOnChange {
            // At rest on both sides; what the noise of two samples would turn in that time is no turn.
            mean = offset.value
            gap = RateGap()
        } else if !settings.gyroscopeReportsOnChange {
            // Of regular steps each counts with the rate at its end. Summed up, that is the mean of both ends and half a usual step
            // ahead; so it has to be for steps of any length, or the difference would stay.
            mean += (lastRate - measured) * ((1 - pattern.usualSeconds / seconds) / 2)
            let rotation =
                steps > Self.missingSteps
                ? gap.turn(from: lastRate - offset.value, to: measured - offset.value, seconds: seconds)
                : gap.correction(slope: isShort ? nil : (measured - lastRate) / seconds)
            if rotation != .zero { integrated = integrated * Quaternion(rate: rotation, seconds: 1) }
        }
        isSaturated = range.update(sample)
        rateTime = time
        lastRate = measured
        ageSeconds += seconds
        rest.addRate(measured, seconds: seconds)
        let turning = (mean - offset.value) * scale
        rate = isShort ? (measured - offset.value) * scale : turning
        integrated = (integrated * Quaternion(rate: turning, seconds: seconds)).normalized
        history.append(integrated, at: time)
        return step
    }

    /// Takes the first rate.
    private mutating func begin(_ sample: SIMD3<Float>, at time: Int64) {
        let measured = Vector3(sample)
        pattern.interrupt()
        rateTime = time
        lastRate = measured
        _ = range.update(sample)
        rest.addRate(measured, seconds: 0)
        rate = (measured - offset.value) * scale
        history.append(integrated, at: time)
    }

    /// Takes a specific force in m/s².
    ///
    /// - Returns: What it has done; `nil` while it waits, and when it counts for nothing.
    @discardableResult
    package mutating func update(acceleration sample: SIMD3<Float>, at time: Int64) -> LevelStep? {
        let measured = Vector3(sample)
        guard measured.isFinite, measured != .zero else { return nil }
        guard let rateTime, time <= rateTime else {
            waiting.append(measured, at: time)
            return nil
        }
        return process(measured, at: time)
    }

    /// Takes the first of ``waiting``; there is one.
    package mutating func processFirstWaiting() -> LevelStep? {
        let time = waiting.firstTimeNanoseconds ?? 0
        return process(waiting.removeFirst(), at: time)
    }

    /// Takes a field, which tells a slow steady turn from rest.
    package mutating func addField(_ sample: Vector3, seconds: Double) {
        rest.addField(sample, seconds: seconds)
    }

    /// Learns a part of the offset, in rad/s, along a direction in the device's frame, with its standard deviation; not at rest, which
    /// shows all of it.
    package mutating func learnOffset(_ rate: Double, along direction: Vector3, sigma: Double) {
        guard !rest.isAtRest else { return }
        offset.learn(rate, along: direction, sigma: sigma, isNew: !hasLearnedOffset)
    }

    /// Begins again, because samples are missing; the offset is kept.
    package mutating func restart() {
        rest.reset()
        waiting.removeAll()
        rateTime = nil
        gap = RateGap()
        ageSeconds = 0
        isSaturated = false
        accelerationTime = nil
        history.removeAll()
        restartOrientation()
    }

    /// Begins again at rest, because the offset has turned out to be another one: the level drifted with it until now.
    private mutating func restartAtRest(_ time: Int64) {
        history.removeAll()
        restartOrientation()
        restarts.atRest += 1
        history.append(integrated, at: time)
        // A field may come before the next acceleration, and has to be level as well.
        _ = level(rest.acceleration, rotation: integrated, seconds: 0)
    }

    private mutating func restartOrientation() {
        restarts.all += 1
        repeated.interrupt()
        integrated = .identity
        inclination = .identity
        levelClock.reset()
        levelAcceleration = LowPassState()
        levelFrame = (LowPassState(), LowPassState(), LowPassState())
        levelOffset = LowPassState()
        accelerationBeforeGap = nil
    }

    // MARK: - The gyroscope

    private mutating func bridge(_ seconds: Double, to measured: Vector3) -> RateStep.Gap {
        offset.age(seconds)
        if seconds > Self.longestGapInMotion { accelerationBeforeGap = rest.acceleration }
        return RateStep.Gap(
            rate: length((lastRate + measured) / 2 - offset.value), change: length(measured - lastRate))
    }

    // MARK: - The accelerometer

    private mutating func process(_ a: Vector3, at time: Int64) -> LevelStep? {
        guard let rotation = history.rotation(at: time) else { return nil }
        var seconds = 0.0
        if let accelerationTime {
            seconds = Units.seconds(from: accelerationTime, to: time)
            guard seconds > 0 else { return nil }
        }
        guard repeated.takes(acceleration: a, rotation: rotation, turning: length(rate), seconds: seconds) else {
            return nil
        }
        accelerationTime = time
        accelerationSeconds = seconds
        if let before = accelerationBeforeGap {
            accelerationBeforeGap = nil
            if length(a - before) >= settings.restAcceleration {
                restart()
                return .restart
            }
        }
        rest.addAcceleration(a, step: seconds, up: up, offset: offset, isOffsetLearned: hasLearnedOffset)
        // Behind a silence one sample, which may be that of a blow, must not stand for all of it: the gyroscope has gone on.
        let drifting = level(a, rotation: rotation, seconds: min(seconds, RestWatch.longestStep))
        if settings.restartsWithOffset, rest.isAtRest, hasOffsetMoved() {
            let before = orientation
            restartAtRest(rateTime ?? time)
            return .restartAtRest(from: before)
        }
        return .level(acceleration: a, rotation: rotation, drifting: drifting, seconds: seconds)
    }

    /// Corrects the inclination by an acceleration; returns it in the frame that only drifts.
    @inline(__always)
    private mutating func level(_ a: Vector3, rotation: Quaternion, seconds: Double) -> Vector3 {
        let drifting = rotation.rotate(a)
        levelClock.advance(seconds)
        levelAcceleration.update(drifting, levelClock)
        let raised = inclination.rotate(levelAcceleration.value) - smoothedFrame * accelerationOffset
        gravityLength = length(raised)
        let error = raised / gravityLength
        inclination = (Self.leveling(error) * inclination).normalized
        estimateOffset(error, frame: (inclination * rotation).matrix, seconds: seconds)
        return drifting
    }

    /// Whether the offset that was found at rest is far from the one that was used until now.
    private mutating func hasOffsetMoved() -> Bool {
        guard offset.isKnown(within: Self.knownSigma) else { return false }
        let hasMoved = length(offset.value - usedOffset) > Self.largestOffsetStep
        // A few percent of the step are still to come.
        if hasMoved { offset.jump(to: rest.rate) }
        usedOffset = offset.value
        return hasMoved
    }

    /// The smallest turn that brings a unit vector up.
    private static func leveling(_ error: Vector3) -> Quaternion {
        let w = ((1 + max(error.z, -1)) / 2).squareRoot()
        guard w >= 1e-6 else { return Quaternion(w: 0, x: 1, y: 0, z: 0) }
        return Quaternion(w: w, x: error.y / (2 * w), y: -error.x / (2 * w), z: 0)
    }

    private mutating func estimateOffset(_ error: Vector3, frame: Matrix3, seconds: Double) {
        levelFrame.0.update(frame.x, levelClock)
        levelFrame.1.update(frame.y, levelClock)
        levelFrame.2.update(frame.z, levelClock)
        levelOffset.update(SIMD2(dot(frame.x, offset.value), dot(frame.y, offset.value)), levelClock)
        up = frame.z
        defer { offsetSigma = offset.sigmaDegrees(along: up) }
        guard seconds > 0 else { return }
        offset.age(seconds)
        if rest.isAtRest {
            offset.learn(atRest: rest.rate, seconds: seconds)
            if offset.isKnown(within: Self.knownSigma) { hasLearnedOffset = true }
        } else if ageSeconds >= settings.motionEstimateFromSeconds {
            let smoothed = smoothedFrame
            let corrected = Vector3(
                -error.y / seconds + levelOffset.value.x, error.x / seconds + levelOffset.value.y, 0)
            offset.learn(inMotion: corrected - smoothed * offset.value, frame: smoothed, seconds: seconds)
        }
    }
}

/// What a rate has done in a ``SixAxisFusion``.
package struct RateStep {
    /// The time since the rate before; 0 for the first one.
    package var seconds = 0.0
    /// Whether the orientation has begun again, because rates are missing.
    package var isRestart = false
    /// The gap that it ends; `nil` where none was bridged.
    package var gap: Gap?

    /// A time without rates, over which the mean of those at both ends was integrated.
    package struct Gap {
        /// That mean, in rad/s.
        package let rate: Double
        /// By how much the rates at both ends differ, in rad/s.
        package let change: Double
    }
}

/// What an acceleration has done in a ``SixAxisFusion``.
package enum LevelStep {
    /// The orientation has begun again, because the device was moved in a gap.
    case restart
    /// The orientation has begun again at rest, because the offset is another one; what it was until then.
    case restartAtRest(from: Quaternion)
    /// The level was corrected: the acceleration in the device's frame and, by the rotation, in the frame that only drifts, both in
    /// m/s², and the time since the last one.
    case level(acceleration: Vector3, rotation: Quaternion, drifting: Vector3, seconds: Double)
}

import Glibc
package import SensorGeometry

/// Finds the orientation from a gyroscope, an accelerometer and a magnetometer, each with rates and stamps of its own.
///
/// The structure is that of VQF (D. Laidig, T. Seel, Information Fusion 91, 2023, doi:10.1016/j.inffus.2022.10.014): the rates are
/// integrated, the accelerometer corrects the inclination alone, and the magnetometer corrects one number, the heading. So a magnet
/// cannot tilt the horizon, and the orientation of six axes comes with it. The equations are written from their
/// description; what differs from the publication stands in ``FusionSettings``.
///
/// A sample of the accelerometer or the magnetometer whose stamp the gyroscope has not reached waits; a late one is turned by the
/// orientation at its own stamp. Nothing is allocated after the start.
package struct Fusion {
    package private(set) var settings: FusionSettings

    // The orientation in three parts: the device in a frame that only drifts, that frame in a level one, and the level one's
    // heading, counter-clockwise in radians.
    private var integrated = Quaternion.identity
    private var inclination = Quaternion.identity
    private var delta = 0.0

    private var offset: RateOffset
    private var rest: RestWatch
    private var field: FieldReference
    private var accuracy: FusionAccuracy
    private var model: FieldModel
    private var axisCheck = AxisCheck()
    private var range: RateRange
    private var history = OrientationHistory()
    private var waitingAccelerations = WaitingSamples()
    private var waitingFields = WaitingSamples()

    // The gyroscope.
    private var rateTime: Int64?
    private var lastRate = Vector3.zero
    /// The rate without the offset, in rad/s, in the device's frame.
    package private(set) var rate = Vector3.zero
    private var usualStepSeconds = 0.0
    private var gap = RateGap()
    private var ageSeconds = 0.0
    private var isSaturated = false
    /// Whether the offset was learned at rest, now or in an earlier run.
    private(set) var hasLearnedOffset: Bool
    /// Whether there is something worth keeping.
    var hasLearned: Bool { hasLearnedOffset || settings.learnsSensors && model.hasLearned }
    /// The offset until the rest that is under way.
    private var usedOffset: Vector3

    // The accelerometer. The filters work where the device's turning is taken out, so they can be slow without being late.
    private var accelerationTime: Int64?
    private var levelClock: LowPassClock
    private var levelAcceleration = LowPassState<Vector3>()
    private var levelFrame = (LowPassState<Vector3>(), LowPassState<Vector3>(), LowPassState<Vector3>())
    private var levelOffset = LowPassState<SIMD2<Double>>()
    private var up = Vector3(0, 0, 1)
    private var offsetSigma: Double
    /// The smoothed acceleration before a gap in rest: if it differs after it, the device was moved.
    private var accelerationBeforeGap: Vector3?

    // The magnetometer.
    private var fieldTime: Int64?
    /// The last field that differed from the one before, and the rotation then.
    private var lastField = (value: Vector3.zero, rotation: Quaternion.identity)
    private var headingGain: ExponentialGain
    private var rejectionSeconds: Double
    private var startGain = 1.0
    private var isHeadingUnsure = false
    private var secondsWithoutCorrection = 0.0
    /// The iron that is taken from the field: none while a calibration has taken it.
    private var iron = Vector3.zero
    /// The variance of what is left of it along a level axis, that of its part to the east, and the one with which the heading was
    /// found.
    private var ironVariance: Double
    private var eastVariance: Double
    private var headingVariance: Double
    /// The iron with which the undisturbed field was learned.
    private var fieldIron = Vector3.zero

    /// A step of more usual ones has lost a sample; from the second one on it is a gap.
    private static let missingSteps = 1.6
    private static let gapSteps = 2.5
    private static let longestGapInMotion = 0.5
    /// In rad, 9°: a turn in a gap that may be wrong by more is too much to go on.
    private static let largestUnknownTurn = 9 * Double.pi / 180
    /// In rad/s, 3°/s: slower is rest on both sides of a gap.
    private static let restRate = 3 * Double.pi / 180
    /// After longer gaps at rest the heading is compared with the field.
    private static let longGap = 1.0
    /// Stamps that step back further than this begin again; less is a disorder of single samples.
    private static let longestStepBack = 0.5
    /// A sensor is silent after this time.
    private static let silence = 1.0
    private static let settlingSeconds = 5.0
    /// In rad, 3°: no field stays the same to the last bit in such a turn.
    private static let leastRepeatedTurn = 0.05
    /// So long it takes to learn in motion what tilts the level.
    private static let motionLearningSeconds = 30.0
    /// For how long a rate says what follows it.
    private static let longestOutlook = 0.25
    /// In °/s: from here on an offset counts as known.
    private static let knownSigma = 0.1
    /// In µT: the standard deviation of the iron on an axis that a good calibration may leave.
    private static let calibratedIron = 3.0
    /// In µT: iron that is known better does not make older corrections of the heading worse.
    private static let settledIron = 0.5
    /// The share of the field by which the iron may move until the undisturbed field is another one.
    private static let fieldIronShare = 0.05
    /// In rad/s, 0.5°/s.
    private static let largestOffsetStep = 0.5 * Double.pi / 180

    /// Creates a fusion without a sample, with what an earlier run has learned.
    package init(settings: FusionSettings = FusionSettings(), memory: FusionMemory? = nil) {
        self.settings = settings
        offset = RateOffset(settings, memory: memory)
        rest = RestWatch(settings)
        field = FieldReference(settings, reference: memory?.field.map { SIMD2($0.strength, $0.dipDegrees) })
        range = RateRange(settings.gyroscopeRange)
        hasLearnedOffset = (memory?.sigmaDegrees.max() ?? settings.startSigma) < settings.startSigma
        usedOffset = offset.value
        levelClock = LowPassClock(timeConstantSeconds: settings.inclinationSeconds)
        offsetSigma = offset.sigmaDegrees(along: Vector3(0, 0, 1))
        // After a calibration a field that does not turn as the gyroscope does is not explained by iron.
        model = FieldModel(
            ironSigma: settings.isFieldCalibrated ? Self.calibratedIron : settings.ironSigma,
            scaleSigma: settings.learnsSensors ? settings.scaleSigma : 0,
            known: settings.learnsSensors ? memory?.errors.map(settings.usable) : nil)
        accuracy = FusionAccuracy(scaleSigma: model.scaleSigma)
        ironVariance = settings.isFieldCalibrated ? 0 : model.ironVariance
        iron = settings.isFieldCalibrated ? .zero : model.iron
        fieldIron = iron
        (eastVariance, headingVariance) = (ironVariance, ironVariance)
        headingGain = ExponentialGain(timeConstantSeconds: settings.headingSeconds)
        rejectionSeconds = memory?.field == nil ? settings.longestRejectionSeconds : 0
    }

    // MARK: - What is known

    /// The orientation without the magnetometer: level, with a heading that drifts.
    package var sixAxisOrientation: Quaternion { inclination * integrated }
    /// The orientation: from the device's frame to east, magnetic north and up.
    package var orientation: Quaternion { Quaternion(aboutVertical: delta) * sixAxisOrientation }
    /// How far a level axis' heading may be off, in degrees: about nine of ten errors are smaller.
    package var accuracyDegrees: Double { accuracy.degrees(dipDegrees: field.reference?.y ?? field.now.y) }
    /// How fast the heading grows, clockwise, in °/s.
    package var turnRateDegrees: Double { -dot(sixAxisOrientation.matrix.z, rate) * 180 / .pi }
    /// How well the offset about the vertical is known, in °/s.
    package var verticalOffsetSigmaDegrees: Double { offsetSigma }
    /// What a wrong axis of the gyroscope looks like; `nil` while all turns agree with the compass.
    package var axisFinding: AxisFinding? { axisCheck.finding }
    /// For how long the magnetometer has not corrected the heading.
    package var secondsOnGyroscopeAlone: Double { secondsWithoutCorrection }

    /// The gyroscope's offset in rad/s.
    package var offsetRadiansPerSecond: Vector3 { offset.value }
    /// Whether the device is at rest.
    package var isAtRest: Bool { rest.isAtRest }
    /// Whether the field is not the undisturbed one, or that is not known yet.
    package var isDisturbed: Bool { field.isDisturbed }
    /// The strength of the field, smoothed, in its unit.
    package var fieldStrength: Double { field.now.x }
    /// The dip of the field, smoothed, in degrees.
    package var dipDegrees: Double { field.now.y }

    /// Gravity as the accelerometer shows it at a moment, in m/s², in the device's frame: its mean over some seconds in the frame in
    /// which the device's turning is taken out, so that a turn neither changes it nor delays it.
    ///
    /// It stands along the vertical of ``sixAxisOrientation``, with the length that this accelerometer gives to it.
    ///
    /// - Parameter time: A stamp. The device is taken to turn on, as it did at the gyroscope's last sample, for a quarter of a second.
    /// - Returns: Gravity; `nil` while an offset may tilt it, or without a rate for so long.
    func gravity(at time: Int64) -> Vector3? {
        guard let rateTime, accelerationTime != nil, isLevelSteady else { return nil }
        let ahead = Units.seconds(from: rateTime, to: time)
        if ahead <= 0 { return history.rotation(at: time)?.conjugate.rotate(levelAcceleration.value) }
        guard ahead <= Self.longestOutlook else { return nil }
        let turned = integrated * Quaternion(rate: rate, seconds: ahead)
        return turned.conjugate.rotate(levelAcceleration.value)
    }

    /// Whether an offset does not tilt the mean of the acceleration any more: it was learned at rest, or in motion for some time.
    private var isLevelSteady: Bool {
        (hasLearnedOffset || ageSeconds >= Self.motionLearningSeconds) && levelAcceleration.value != .zero
    }

    /// What is worth keeping.
    package var memory: FusionMemory {
        let variance = offset.covariance.diagonal
        return FusionMemory(
            offset: offset.value,
            sigmaDegrees: 0.01 * Vector3(variance.x.squareRoot(), variance.y.squareRoot(), variance.z.squareRoot()),
            field: isIronKnown ? field.reference.map { ($0.x, $0.y) } : nil,
            errors: settings.learnsSensors && model.hasLearned ? settings.usable(model.errors) : nil)
    }

    /// Why there is no heading at the gyroscope's last sample; `nil` when there is one.
    package var fault: FusionFault? { fault(accuracyDegrees: accuracyDegrees) }

    // A call would copy the fusion, all of it.
    @inline(__always)
    private func fault(accuracyDegrees: Double) -> FusionFault? {
        guard let rateTime else { return .gyroscopeMissing }
        guard let accelerationTime, isRecent(accelerationTime, rateTime) else { return .accelerometerMissing }
        guard fieldTime != nil, startGain < 1 else { return .fieldMissing }
        if isSaturated { return .saturated }
        if axisCheck.finding != nil || axisCheck.isDoubted { return .axesWrong }
        if accuracyDegrees > settings.accuracyLimit ?? 180, !isIronKnown { return .ironUnknown }
        if field.horizontal < settings.leastLevelField { return .fieldVertical }
        guard rest.wasAtRest || ageSeconds >= Self.settlingSeconds else { return .settling }
        // Written so that NaN fails as well.
        guard accuracyDegrees <= settings.accuracyLimit ?? 180 else { return .inaccurate }
        return nil
    }

    private func isRecent(_ time: Int64, _ now: Int64) -> Bool { Units.seconds(from: time, to: now) <= Self.silence }

    // MARK: - Samples

    /// Takes what a device that was opened says about its gyroscope.
    ///
    /// - Parameters:
    ///   - range: The largest rate that it measures, in rad/s; `nil` when it is not known.
    ///   - reportsOnChange: Whether its rate holds until the next report.
    package mutating func setGyroscope(range: Float?, reportsOnChange: Bool) {
        if range != settings.gyroscopeRange { self.range = RateRange(range) }
        settings.gyroscopeRange = range
        settings.gyroscopeReportsOnChange = reportsOnChange
    }

    /// Takes a rate in rad/s.
    package mutating func update(gyroscope sample: SIMD3<Float>, at time: Int64) {
        let measured = Vector3(sample)
        guard measured.isFinite else { return }
        guard let last = rateTime else {
            rateTime = time
            lastRate = measured
            _ = range.update(sample)
            rest.addRate(measured, seconds: 0)
            rate = (measured - offset.value) * model.scale
            history.append(integrated, at: time)
            releaseWaiting(time)
            return
        }
        let seconds = Units.seconds(from: last, to: time)
        guard seconds > 0 else {
            guard seconds < -Self.longestStepBack else { return }
            restart()
            update(gyroscope: sample, at: time)
            return
        }
        var mean = settings.gyroscopeReportsOnChange ? lastRate : measured
        let steps = steps(seconds)
        if steps > Self.gapSteps {
            let ends = (length(lastRate - offset.value), length(measured - offset.value))
            let isResting = max(ends.0, ends.1) < Self.restRate
            let unknown = FusionAccuracy.unknownShare(ofGap: seconds) * max(ends.0, ends.1) * seconds
            let isShort = seconds <= Self.longestGapInMotion && unknown <= Self.largestUnknownTurn
            guard isResting || isShort || settings.gyroscopeReportsOnChange && seconds <= Self.longGap else {
                offset.age(seconds)
                restart()
                update(gyroscope: sample, at: time)
                return
            }
            if !settings.gyroscopeReportsOnChange { bridge(seconds, to: measured) }
        }
        if seconds > Self.longestGapInMotion, !settings.gyroscopeReportsOnChange {
            // At rest on both sides; what the noise of two samples would turn in that time is no turn.
            mean = offset.value
            gap = RateGap()
        } else if !settings.gyroscopeReportsOnChange {
            // Of regular steps each counts with the rate at its end. Summed up, that is the mean of both ends and half a usual step
            // ahead; so it has to be for steps of any length, or the difference would stay.
            mean += (lastRate - measured) * ((1 - usualStepSeconds / seconds) / 2)
            let rotation =
                steps > Self.missingSteps
                ? gap.turn(from: lastRate - offset.value, to: measured - offset.value, seconds: seconds)
                : gap.correction(slope: (measured - lastRate) / seconds)
            if rotation != .zero { integrated = integrated * Quaternion(rate: rotation, seconds: 1) }
        }
        isSaturated = range.update(sample)
        rateTime = time
        lastRate = measured
        ageSeconds += seconds
        rest.addRate(measured, seconds: seconds)
        rate = (mean - offset.value) * model.scale
        integrated = (integrated * Quaternion(rate: rate, seconds: seconds)).normalized
        let size = length(rate)
        accuracy.addRate(size, vertical: dot(up, rate), offsetSigma: offsetSigma, seconds: seconds)
        if isSaturated {
            accuracy.addSaturated(size, seconds: seconds)
            model.interrupt()
            axisCheck.interrupt()
        }
        secondsWithoutCorrection += seconds
        history.append(integrated, at: time)
        if waitingAccelerations.count > 0 || waitingFields.count > 0 { releaseWaiting(time) }
    }

    /// Takes a rate in rad/s, and finds what is known then.
    ///
    /// It changes the fusion also where it only reads: what is read from a property of an object is copied first, all of it.
    mutating func find(gyroscope sample: SIMD3<Float>, at time: Int64) -> FusionFinding {
        update(gyroscope: sample, at: time)
        let accuracyDegrees = accuracyDegrees
        return FusionFinding(
            fault: fault(accuracyDegrees: accuracyDegrees), axes: axisFinding, orientation: orientation,
            fieldStrength: fieldStrength, horizontalField: field.horizontal, verticalField: field.vertical,
            accuracyDegrees: accuracyDegrees, turnRateDegrees: turnRateDegrees, iron: iron,
            ironSigma: ironVariance.squareRoot())
    }

    /// Takes a specific force in m/s².
    package mutating func update(acceleration sample: SIMD3<Float>, at time: Int64) {
        let measured = Vector3(sample)
        guard measured.isFinite, measured != .zero else { return }
        guard let rateTime, time <= rateTime else {
            waitingAccelerations.append(measured, at: time)
            return
        }
        process(acceleration: measured, at: time)
    }

    /// Takes a field, in any unit.
    package mutating func update(field sample: SIMD3<Float>, at time: Int64) {
        let measured = Vector3(sample)
        guard measured.isFinite, measured != .zero else { return }
        guard let rateTime, time <= rateTime else {
            waitingFields.append(measured, at: time)
            return
        }
        process(field: measured, at: time)
    }

    /// Begins again, because samples are missing; the offset and the field are kept.
    package mutating func restart() {
        rest.reset()
        field.interrupt()
        waitingAccelerations.removeAll()
        waitingFields.removeAll()
        rateTime = nil
        gap = RateGap()
        ageSeconds = 0
        isSaturated = false
        accelerationTime = nil
        fieldTime = nil
        history.removeAll()
        restartOrientation()
    }

    /// Begins again at rest, because the offset has turned out to be another one: level and heading drifted with it until now.
    private mutating func restartAtRest(_ time: Int64) {
        field.relearn()
        history.removeAll()
        restartOrientation()
        history.append(integrated, at: time)
    }

    private mutating func restartOrientation() {
        lastField.value = .zero
        integrated = .identity
        inclination = .identity
        delta = 0
        levelClock.reset()
        levelAcceleration = LowPassState()
        levelFrame = (LowPassState(), LowPassState(), LowPassState())
        levelOffset = LowPassState()
        accuracy = FusionAccuracy(scaleSigma: accuracy.scaleSigma)
        model.interrupt()
        axisCheck.interrupt()
        accelerationBeforeGap = nil
        startGain = 1
        isHeadingUnsure = false
        rejectionSeconds = field.reference == nil ? settings.longestRejectionSeconds : 0
        secondsWithoutCorrection = 0
    }

    // MARK: - The gyroscope

    /// How many usual steps a step is long; learns the usual one.
    private mutating func steps(_ seconds: Double) -> Double {
        guard usualStepSeconds > 0 else {
            usualStepSeconds = min(seconds, Self.longestGapInMotion)
            return seconds / usualStepSeconds
        }
        defer {
            // A gap counts as twice the usual step, so that a rate that falls is learned as well.
            usualStepSeconds += (min(seconds, 2 * usualStepSeconds) - usualStepSeconds) * 0.02
        }
        return seconds / usualStepSeconds
    }

    private mutating func bridge(_ seconds: Double, to measured: Vector3) {
        offset.age(seconds)
        accuracy.addGap(
            rate: length((lastRate + measured) / 2 - offset.value), change: length(measured - lastRate),
            seconds: seconds)
        model.interrupt()
        axisCheck.interrupt()
        guard seconds > Self.longestGapInMotion else { return }
        accelerationBeforeGap = rest.acceleration
        isHeadingUnsure = isHeadingUnsure || seconds > Self.longGap
    }

    private mutating func releaseWaiting(_ time: Int64) {
        while true {
            let (up, north) = (waitingAccelerations.firstTimeNanoseconds, waitingFields.firstTimeNanoseconds)
            if let up, up <= time, north.map({ up <= $0 }) ?? true {
                process(acceleration: waitingAccelerations.removeFirst(), at: up)
            } else if let north, north <= time {
                process(field: waitingFields.removeFirst(), at: north)
            } else {
                return
            }
        }
    }

    // MARK: - The accelerometer

    private mutating func process(acceleration a: Vector3, at time: Int64) {
        guard let rotation = history.rotation(at: time) else { return }
        var seconds = 0.0
        if let accelerationTime {
            seconds = Units.seconds(from: accelerationTime, to: time)
            guard seconds > 0 else { return }
        }
        accelerationTime = time
        if let before = accelerationBeforeGap {
            accelerationBeforeGap = nil
            if length(a - before) >= settings.restAcceleration {
                restart()
                return
            }
        }
        rest.addAcceleration(a, step: seconds, up: up, offset: offset, isOffsetLearned: hasLearnedOffset)
        let drifting = rotation.rotate(a)
        accuracy.addAcceleration(SIMD2(drifting.x, drifting.y), seconds: seconds)
        levelClock.advance(seconds)
        levelAcceleration.update(drifting, levelClock)
        let raised = inclination.rotate(levelAcceleration.value)
        let error = raised / length(raised)
        inclination = (Self.leveling(error) * inclination).normalized
        estimateOffset(error, frame: (inclination * rotation).matrix, seconds: seconds)
        if settings.restartsWithOffset, rest.isAtRest, hasOffsetMoved() {
            restartAtRest(rateTime ?? time)
            return
        }
        axisCheck.addAcceleration(
            a, rest: rest, history: history, isIronKnown: isIronKnown, at: time, seconds: seconds)
    }

    /// Whether what is left of the iron is too little to make a turn of the field look like another one.
    private var isIronKnown: Bool {
        ironVariance < LearnedIron.knownShare * LearnedIron.knownShare * field.now.x * field.now.x
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
            let smoothed = Matrix3(levelFrame.0.value, levelFrame.1.value, levelFrame.2.value)
            let corrected = Vector3(
                -error.y / seconds + levelOffset.value.x, error.x / seconds + levelOffset.value.y, 0)
            offset.learn(inMotion: corrected - smoothed * offset.value, frame: smoothed, seconds: seconds)
        }
    }

    // MARK: - The magnetometer

    private mutating func process(field m: Vector3, at time: Int64) {
        guard accelerationTime != nil,
            let rotation = history.rotation(at: Units.later(time, by: -model.delayNanoseconds))
                ?? history.rotation(at: time)
        else { return }
        var seconds = 0.0
        if let fieldTime {
            seconds = Units.seconds(from: fieldTime, to: time)
            guard seconds > 0 else { return }
        }
        if m == lastField.value {
            // A magnetometer whose noise repeats to the last bit while the device turns has not measured again.
            guard (lastField.rotation.conjugate * rotation).angle < Self.leastRepeatedTurn else { return }
        } else {
            lastField = (m, rotation)
        }
        fieldTime = time
        if seconds > Self.silence {
            field.interrupt()
            model.interrupt()
            seconds = Self.silence
        }
        // An offset that is not known yet looks like a turn.
        if settings.learnsSensors, hasLearnedOffset || ageSeconds >= settings.motionEstimateFromSeconds,
            model.update(
                rotation.rotate(m), rotation: rotation, rate: length(rate), offsetSigma: offsetSigma, step: seconds)
        {
            learn(rotation)
        }
        let m = m - iron
        let level = inclination.rotate(rotation.rotate(m))
        rest.addField(m, seconds: seconds)
        field.update(level, strength: length(m), rate: length(rest.rate) * 180 / .pi, seconds: seconds)
        axisCheck.addField(m, seconds: seconds)
        if field.isFirst, settings.firstFieldEndsRejection { rejectionSeconds = 0 }
        correctHeading(Self.wrapped(atan2(level.x, level.y) - delta), seconds: seconds)
    }

    /// Records what the model of the field has learned.
    private mutating func learn(_ rotation: Quaternion) {
        accuracy.addTurn(
            inclination.rotate(model.turn), scaleSigma: model.scaleSigma, seconds: model.turnSeconds,
            inclinationSeconds: settings.inclinationSeconds)
        accuracy.addMovement(misfit: model.recentMisfit, lag: model.rateLag, rate: length(rate))
        axisCheck.addMovement(
            misfit: model.misfit, gravity: length(levelAcceleration.value) / Gravity.standard,
            scaleError: abs(model.scale - 1) - 2 * model.scaleSigma, seconds: model.turnSeconds)
        guard !settings.isFieldCalibrated else { return }
        iron = model.iron
        let level = (inclination * rotation).conjugate
        eastVariance = model.ironVariance(along: level.rotate(Vector3(cos(delta), sin(delta), 0)))
        let northVariance = model.ironVariance(along: level.rotate(Vector3(-sin(delta), cos(delta), 0)))
        ironVariance = (eastVariance + northVariance) / 2
        if length(iron - fieldIron) > Self.fieldIronShare * max(field.now.x, 1) {
            fieldIron = iron
            field.relearn()
        }
    }

    private mutating func correctHeading(_ disagreement: Double, seconds: Double) {
        if isHeadingUnsure, !field.isDisturbed {
            isHeadingUnsure = false
            // The device may have been turned about the vertical in the gap, which the acceleration does not show.
            let expected = max(3 * accuracy.sigma, 5) * .pi / 180
            if abs(disagreement) > expected {
                startGain = 1
                accuracy.restartHeading()
            }
        }
        var gain = headingGain.update(seconds)
        // A heading from before the iron was known is worse than a field that is disturbed, or only seems so.
        let isFromUnknownIron = headingVariance > 4 * (ironVariance + Self.settledIron * Self.settledIron)
        if isFromUnknownIron {
            rejectionSeconds = 0
        } else if field.isDisturbed {
            if rejectionSeconds <= settings.longestRejectionSeconds {
                rejectionSeconds += seconds
                gain = 0
            } else {
                gain /= settings.rejectionFactor
            }
        } else {
            rejectionSeconds = max(rejectionSeconds - settings.rejectionFactor * seconds, 0)
        }
        if startGain > 0 {
            gain = max(gain, startGain)
            startGain = startGain / (startGain + 1)
            if startGain * settings.headingSeconds < seconds { startGain = 0 }
        }
        if let plausible = settings.plausibleField, !plausible.contains(field.now.x) { gain = 0 }
        gain = weighted(gain)
        delta = Self.wrapped(delta + gain * disagreement)
        if gain > 0 { secondsWithoutCorrection = 0 }
        accuracy.addCorrection(
            gain, disagreement: disagreement * 180 / .pi, field: field.now,
            horizontalField: field.horizontal, reference: field.reference, isDisturbed: field.isDisturbed,
            error: settings.fieldError, ironVariance: eastVariance, seconds: seconds)
    }

    /// The gain of a correction in a mean in which each correction counts by its variance: it is large where the iron has become known
    /// since, and small where it has not been learned again.
    private mutating func weighted(_ gain: Double) -> Double {
        guard gain > 0, headingVariance != ironVariance else { return gain }
        let floor = Self.settledIron * Self.settledIron
        let ratio = (headingVariance + floor) / (ironVariance + floor)
        let gain = ratio / (1 / gain - 1 + ratio)
        headingVariance += gain * (ironVariance - headingVariance)
        accuracy.forgetDisagreement(gain)
        return gain
    }

    private static func wrapped(_ angle: Double) -> Double {
        guard abs(angle) > .pi else { return angle }
        return angle - 2 * .pi * (angle / (2 * .pi)).rounded()
    }
}

/// Why the fusion has no heading.
package enum FusionFault: Sendable, Equatable, CaseIterable {
    case gyroscopeMissing
    case accelerometerMissing
    /// There never was a magnetometer sample.
    case fieldMissing
    /// The field has no level part.
    case fieldVertical
    /// The rate is at the end of the gyroscope's range.
    case saturated
    /// The turns of the gyroscope are not those of the compass.
    case axesWrong
    /// Too little was turned to show the iron of a magnetometer that was not calibrated.
    case ironUnknown
    /// The first seconds, without a rest.
    case settling
    /// The heading may be off by more than the limit.
    case inaccurate
}

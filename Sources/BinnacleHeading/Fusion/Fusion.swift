package import Binnacle
import Glibc
import SensorGeometry

/// Finds the orientation from a gyroscope, an accelerometer and a magnetometer, each with rates and stamps of its own.
///
/// The structure is that of VQF (D. Laidig, T. Seel, Information Fusion 91, 2023, doi:10.1016/j.inffus.2022.10.014): to the level of a
/// ``SixAxisFusion`` the magnetometer adds one number, the heading. So a magnet cannot tilt the horizon. The equations are written from
/// their description; what differs from the publication stands in ``FusionSettings``.
///
/// A sample of the accelerometer or the magnetometer whose stamp the gyroscope has not reached waits; a late one is turned by the
/// orientation at its own stamp. Nothing is allocated after the start.
package struct Fusion {
    // The orientation in two parts: the device in a level frame, and that frame's heading, counter-clockwise in radians.
    private var sixAxes: SixAxisFusion
    private var delta = 0.0

    private let settings: FusionSettings
    private var field: FieldReference
    private var accuracy: FusionAccuracy
    private var model: FieldModel
    private var fieldTurn = FieldTurn()
    private var roomTurn = RoomTurn()
    private var headingDrift = HeadingDrift()
    private var ironWitness = IronWitness()
    private var lastRate = SIMD3<Float>.zero
    /// The rate at the last step of the model, and for how long each axis has kept its value.
    private var repeated = (rate: SIMD3<Float>.zero, seconds: Vector3.zero)
    private var gravity = GravityModel()
    private var axisCheck = AxisCheck()
    private var waitingFields = WaitingSamples()
    private var frozenAcceleration = FrozenAxis()
    private var frozenField = FrozenAxis()

    // The magnetometer.
    private var fieldTime: Int64?
    /// The last field that differed from the one before, and the rotation then.
    private var lastField = (value: Vector3.zero, rotation: Quaternion.identity)
    private var headingGain: ExponentialGain
    private var rejectionSeconds: Double
    private var startGain = 1.0
    /// Whether an undisturbed field has corrected the heading since it was found.
    private var isHeadingUndisturbed = false
    private var isHeadingUnsure = false
    private var secondsWithoutCorrection = 0.0
    /// The iron that is taken from the field: none while a calibration has taken it.
    private var iron = Vector3.zero
    /// The variance of what is left of it along a level axis, that of its part to the east, and the one with which the heading was
    /// found.
    private var ironVariance: Double
    private var eastVariance: Double
    private var headingVariance: Double
    /// The iron that was known before, and whether turns show that it is another one now.
    private var expectedIron: Vector3?
    package private(set) var isIronOther = false
    /// Whether an earlier run has learned the iron and nothing of this gyroscope.
    private let hasRecalledIronAlone: Bool
    /// The iron with which the undisturbed field was learned.
    private var fieldIron = Vector3.zero
    /// The iron with which the heading was found.
    private var headingIron = Vector3.zero
    /// In µT²: by how much iron that has changed of late may still be off on a level axis.
    private var ironUnrest = 0.0

    /// A sensor is silent after this time.
    private static let silence = 1.0
    private static let settlingSeconds = 5.0
    private static let repeatedSeconds = 1.0
    /// In rad/s, 20°/s.
    private static let leastSpeed = 0.35
    /// In rad, 3°: no field stays the same to the last bit in such a turn.
    private static let leastRepeatedTurn = 0.05
    /// In µT: the standard deviation of the iron on an axis that a good calibration may leave.
    private static let calibratedIron = 3.0
    /// With a smaller probability of iron a calibration counts as right.
    private static let leastShare = 0.01
    /// In µT: iron that is known better does not make older corrections of the heading worse.
    private static let settledIron = 0.5
    /// The share of its change by which the iron is still off, and in how many seconds of movement that passes.
    private static let (unrestShare, ironRestSeconds) = (0.1, 10.0)
    /// In m/s²: a smaller change of what is taken from the acceleration changes no heading.
    private static let levelChange = 0.1
    /// The share of the field by which iron differs that the device did not have, and of g by which gravity's mean may differ beside it.
    private static let (otherIronShare, gravityShare) = (0.15, 0.02)
    /// The share of the field that the iron's standard deviation may be for it to be what is expected from then on.
    private static let settledShare = 0.02
    /// In standard deviations.
    private static let clearSigmas = 3.0
    /// The share of the field by which the iron may move until the undisturbed field is another one.
    private static let fieldIronShare = 0.05
    /// In radians, and of what is stated: a disagreement at rest that the drift of the gyroscope does not explain.
    private static let (clearDisagreement, clearAccuracies) = (10 * Double.pi / 180, 2.5)

    /// Creates a fusion without a sample, with what an earlier run has learned.
    package init(settings: FusionSettings = FusionSettings(), memory: FusionMemory? = nil) {
        self.settings = settings
        hasRecalledIronAlone = memory?.errors?.isScaleKnown == false
        sixAxes = SixAxisFusion(settings: settings, memory: memory)
        field = FieldReference(settings, reference: memory?.field.map { SIMD2($0.strength, $0.dipDegrees) })
        // After a calibration a field that does not turn as the gyroscope does is not explained by iron.
        model = FieldModel(
            ironSigma: settings.isFieldCalibrated ? Self.calibratedIron : settings.ironSigma,
            scaleSigma: settings.learnsSensors ? settings.scaleSigma : 0, noise: settings.fieldNoise,
            known: settings.learnsSensors ? memory?.errors.map(settings.usable) : nil)
        accuracy = FusionAccuracy(
            scaleSigma: model.scaleSigma, isSeen: settings.learnsSensors && memory?.errors?.isScaleKnown ?? false,
            tiltError: settings.tiltError)
        ironVariance = settings.isFieldCalibrated ? 0 : model.ironVariance
        iron = settings.isFieldCalibrated ? .zero : model.iron
        fieldIron = iron
        (eastVariance, headingVariance) = (ironVariance, ironVariance)
        headingGain = ExponentialGain(timeConstantSeconds: settings.headingSeconds)
        rejectionSeconds = memory?.field == nil ? settings.longestRejectionSeconds : 0
        sixAxes.scale = model.scale
        expectedIron = settings.isFieldCalibrated || isIronKnownOnAllAxes ? iron : nil
    }

    /// Forgets the magnetometer, because there is another one; the level and what is known of the gyroscope stay.
    ///
    /// - Parameter known: What an earlier run has learned of the other one.
    package mutating func replaceMagnetometer(_ known: FusionMemory?) {
        let before = self
        var own = memory
        let errors = model.errors
        // What was recalled and not measured again yet is no less known.
        if own.errors == nil, settings.learnsSensors, errors.scaleSigma < settings.scaleSigma {
            own.errors = .scale(errors.scale, sigma: errors.scaleSigma)
        }
        self = Fusion(settings: settings, memory: own.with(magnetometer: known))
        (sixAxes, gravity) = (before.sixAxes, before.gravity)
        sixAxes.scale = model.scale
    }

    // MARK: - What is known

    /// The orientation without the magnetometer: level, with a heading that drifts.
    package var sixAxisOrientation: Quaternion { sixAxes.orientation }
    /// The orientation: from the device's frame to east, magnetic north and up.
    package var orientation: Quaternion { Quaternion(aboutVertical: delta) * sixAxisOrientation }
    /// How far a level axis' heading may be off, in degrees: about nine of ten errors are smaller.
    package var accuracyDegrees: Double {
        let own = accuracy.degrees(dipDegrees: field.reference?.y ?? field.now.y)
        return min(own + abs(roomTurn.followed) * 180 / .pi, 180)
    }
    /// How well the offset about the vertical is known, in °/s.
    package var verticalOffsetSigmaDegrees: Double { sixAxes.offsetSigma }
    /// What a wrong axis of the gyroscope looks like; `nil` while all turns agree with the compass.
    package var axisFinding: AxisFinding? { sixAxes.repeated.isRateFrozen ? .frozen : axisCheck.finding }
    /// For how long the magnetometer has not corrected the heading.
    package var secondsOnGyroscopeAlone: Double { secondsWithoutCorrection }

    /// Whether the device is at rest.
    package var isAtRest: Bool { sixAxes.rest.isAtRest }
    /// Whether there is something worth keeping.
    package var hasLearned: Bool { sixAxes.hasLearnedOffset || settings.learnsSensors && model.hasLearned }
    /// The dip of the field, smoothed, in degrees.
    package var dipDegrees: Double { field.now.y }

    /// What is worth keeping.
    package var memory: FusionMemory {
        var memory = sixAxes.memory
        memory.field = isIronKnown && field.isDipKnown ? field.reference.map { ($0.x, $0.y) } : nil
        guard settings.learnsSensors, model.hasLearned else { return memory }
        let errors = settings.usable(model.errors)
        // That the iron is known does not say that this gyroscope was ever seen to turn rightly.
        memory.errors =
            hasRecalledIronAlone && errors.scaleSigma > settings.scaleSigma / 2
            ? SensorErrors.iron(errors.iron, sigma: errors.ironSigma) : errors
        return memory
    }

    /// Why there is no heading at the gyroscope's last sample; `nil` when there is one.
    package var fault: FusionFault? { fault(accuracyDegrees: accuracyDegrees) }

    // A call would copy the fusion, all of it.
    @inline(__always)
    private func fault(accuracyDegrees: Double) -> FusionFault? {
        guard let rateTime = sixAxes.rateTime else { return .gyroscopeMissing }
        if sixAxes.repeated.isRateFrozen { return .axesWrong }
        guard let accelerationTime = sixAxes.accelerationTime, isRecent(accelerationTime, rateTime) else {
            return sixAxes.repeated.isAccelerationFrozen ? .accelerometerFrozen : .accelerometerMissing
        }
        guard fieldTime != nil, startGain < 1 else { return .fieldMissing }
        if sixAxes.isSaturated { return .saturated }
        if frozenAcceleration.isFrozen { return .accelerometerFrozen }
        if frozenField.isFrozen { return .fieldFrozen }
        if axisCheck.isMagnetometerMisaligned { return .fieldAxesWrong }
        if axisCheck.finding != nil || axisCheck.isDoubted || ironWitness.isContradicted { return .axesWrong }
        if accuracyDegrees > settings.accuracyLimit ?? 180, !isIronKnown { return .ironUnknown }
        if field.horizontal < settings.leastLevelField { return .fieldVertical }
        // A rest shows the offset within a second; until then it has tilted the level.
        guard
            sixAxes.rest.wasAtRest && sixAxes.hasLearnedOffset || sixAxes.ageSeconds >= Self.settlingSeconds
        else { return .settling }
        // Written so that NaN fails as well.
        guard accuracyDegrees <= settings.accuracyLimit ?? 180 else { return .inaccurate }
        return nil
    }

    private func isRecent(_ time: Int64, _ now: Int64) -> Bool { Units.seconds(from: time, to: now) <= Self.silence }

    // MARK: - Samples

    /// Takes what the opened device of a sensor says about its gyroscope.
    package mutating func setGyroscope(of sensor: Sensor) { sixAxes.setGyroscope(of: sensor) }

    /// Takes a rate in rad/s.
    package mutating func update(gyroscope sample: SIMD3<Float>, at time: Int64) {
        lastRate = sample
        guard let step = sixAxes.advance(gyroscope: sample, at: time) else { return }
        if step.isRestart { restartField() }
        if let gap = step.gap {
            accuracy.addGap(rate: gap.rate, change: gap.change, seconds: step.seconds)
            interruptTurns()
            isHeadingUnsure = isHeadingUnsure || step.seconds > SixAxisFusion.longGap
        }
        if step.seconds > 0 {
            let size = length(sixAxes.rate)
            accuracy.addRate(
                size, vertical: dot(sixAxes.up, sixAxes.rate), offsetSigma: sixAxes.offsetSigma, seconds: step.seconds)
            if sixAxes.isSaturated {
                accuracy.addSaturated(size, seconds: step.seconds)
                interruptTurns()
                // A turn that was not measured looks like an offset.
                gravity.forget()
            }
            secondsWithoutCorrection += step.seconds
        }
        if sixAxes.waiting.count > 0 || waitingFields.count > 0 { releaseWaiting(time) }
    }

    /// Takes a rate in rad/s, and finds what is known then.
    ///
    /// It changes the fusion also where it only reads: what is read from a property of an object is copied first, all of it.
    mutating func find(gyroscope sample: SIMD3<Float>, at time: Int64) -> FusionFinding {
        update(gyroscope: sample, at: time)
        let accuracyDegrees = accuracyDegrees
        // Not by way of ``orientation``: its call would copy as much.
        let level = sixAxes.orientation
        return FusionFinding(
            fault: fault(accuracyDegrees: accuracyDegrees), axes: axisFinding,
            orientation: Quaternion(aboutVertical: delta) * level, fieldStrength: field.now.x,
            horizontalField: field.horizontal, verticalField: field.vertical, accuracyDegrees: accuracyDegrees,
            rate: sixAxes.rate, iron: iron, ironSigma: ironVariance.squareRoot(), isIronOther: isIronOther)
    }

    /// Finds what is known of the movement at the last rate; `nil` without a vertical.
    ///
    /// It is mutating for the reason of ``find(gyroscope:at:)``.
    mutating func motion() -> FusedMotion? {
        guard let rateTime = sixAxes.rateTime, let accelerationTime = sixAxes.accelerationTime,
            isRecent(accelerationTime, rateTime)
        else { return nil }
        return FusedMotion(
            orientation: sixAxes.orientation, rate: sixAxes.rate, driftingGravity: sixAxes.driftingGravity,
            offsetSigma: sixAxes.offsetSigma, scaleSigma: model.scaleSigma, isSaturated: sixAxes.isSaturated,
            restarts: sixAxes.restarts)
    }

    /// ``SixAxisFusion/shownGravity(at:)``; mutating for the reason of ``find(gyroscope:at:)``.
    mutating func shownGravity(at time: Int64) -> Vector3? { sixAxes.shownGravity(at: time) }

    /// Takes a specific force in m/s².
    package mutating func update(acceleration sample: SIMD3<Float>, at time: Int64) {
        record(sixAxes.update(acceleration: sample, at: time), at: time)
    }

    /// Takes a field, in any unit.
    package mutating func update(field sample: SIMD3<Float>, at time: Int64) {
        let measured = Vector3(sample)
        guard measured.isFinite, measured != .zero else { return }
        guard let rateTime = sixAxes.rateTime, time <= rateTime else {
            waitingFields.append(measured, at: time)
            return
        }
        process(field: measured, at: time)
    }

    /// Begins again, because samples are missing; the offset and the field are kept.
    package mutating func restart() {
        sixAxes.restart()
        restartField()
    }

    private mutating func restartField() {
        field.interrupt()
        waitingFields.removeAll()
        fieldTime = nil
        restartHeading()
    }

    /// Forgets what was compared over a turn, because a part of it was not measured, or the frame is another one.
    private mutating func interruptTurns() {
        model.interrupt()
        fieldTurn.interrupt()
        roomTurn.interrupt()
        headingDrift.interrupt()
        gravity.interrupt()
        axisCheck.interrupt()
    }

    private mutating func restartHeading() {
        lastField.value = .zero
        delta = 0
        accuracy.restart()
        frozenAcceleration.interrupt()
        frozenField.interrupt()
        interruptTurns()
        startGain = 1
        isHeadingUndisturbed = false
        isHeadingUnsure = false
        rejectionSeconds = field.reference == nil ? settings.longestRejectionSeconds : 0
        secondsWithoutCorrection = 0
    }

    /// Begins again at rest, because the level was wrong until now.
    private mutating func restart(from before: Quaternion) {
        guard isIronKnown, field.isOtherStrength else {
            field.relearn()
            return restartHeading()
        }
        // A magnet is near: no level changes the strength.
        field.relearnDip()
        if isHeadingUndisturbed, !isHeadingUnsure, accuracyDegrees <= settings.accuracyLimit ?? 180 {
            restartLevel(from: before)
        } else {
            restartHeading()
        }
    }

    /// Begins with another level and the heading of before, because the device is at rest.
    private mutating func restartLevel(from before: Quaternion) {
        let change = before * sixAxisOrientation.conjugate
        delta = Self.wrapped(delta + 2 * atan2(change.z, change.w))
        accuracy.restartLevel()
        let turn = (change.z * change.z + change.w * change.w).squareRoot()
        // The dip with which the heading was found, not that of the magnet.
        accuracy.addTilt(2 * acos(min(turn, 1)), dipDegrees: field.reference?.y ?? dipDegrees)
        (startGain, rejectionSeconds) = (0, 0)
        lastField.value = .zero
        frozenAcceleration.interrupt()
        frozenField.interrupt()
        interruptTurns()
    }

    private mutating func releaseWaiting(_ time: Int64) {
        while true {
            let (up, north) = (sixAxes.waiting.firstTimeNanoseconds, waitingFields.firstTimeNanoseconds)
            if let up, up <= time, north.map({ up <= $0 }) ?? true {
                record(sixAxes.processFirstWaiting(), at: up)
            } else if let north, north <= time {
                process(field: waitingFields.removeFirst(), at: north)
            } else {
                return
            }
        }
    }

    // MARK: - The accelerometer

    /// Follows the level.
    private mutating func record(_ step: LevelStep?, at time: Int64) {
        switch step {
        case nil: break
        case .restart: restartField()
        case .restartAtRest(let before): restart(from: before)
        case .level(let acceleration, let rotation, let drifting, let seconds):
            frozenAcceleration.update(acceleration, rotation: rotation, isStill: isStill, at: time)
            accuracy.addAcceleration(
                SIMD2(drifting.x, drifting.y), mean: sixAxes.levelAcceleration.value,
                gravity: sixAxes.gravityLength / Gravity.standard,
                seconds: seconds)
            learnGravity(rotation, seconds)
            axisCheck.addAcceleration(
                acceleration, restRate: sixAxes.rest.rate, history: sixAxes.history,
                // Such iron turns the field about the vertical as a reversed axis may.
                isIronKnown: isIronKnown && !(settings.isFieldCalibrated && isIronFound),
                at: time, seconds: seconds)
        }
    }

    /// Shows the mean of the acceleration to the model of gravity, once it is one.
    private mutating func learnGravity(_ rotation: Quaternion, _ seconds: Double) {
        // In a rest nothing turns but the frame of the gyroscope, by what is wrong with its offset: an offset of the accelerometer would
        // turn with it. So it seems in a slow turn, too, where the offset has moved.
        guard gravity.advance(seconds: seconds, rate: rotation.rotate(sixAxes.rate)),
            sixAxes.ageSeconds > settings.motionEstimateFromSeconds, !sixAxes.rest.isAtRest, !sixAxes.rest.isSlowTurn
        else { return }
        // A wrong gyroscope turns gravity as well, and an axis that is frozen turns with the device.
        guard model.surprise < FusionAccuracy.usualSurprise, !frozenAcceleration.isFrozen else {
            if frozenAcceleration.isFrozen { gravity.forget() }
            gravity.interrupt()
            return
        }
        gravity.update(
            sixAxes.levelAcceleration.value, frame: sixAxes.driftingFrame, acceleration: accuracy.levelAcceleration,
            offsetSigma: sixAxes.offsetSigma, scaleSigma: model.scaleSigma)
        accuracy.levelError = gravity.error(across: sixAxes.up) / Gravity.standard
        let change = gravity.correction - sixAxes.accelerationOffset
        guard length(change) > Self.levelChange else { return }
        sixAxes.accelerationOffset = gravity.correction
        // The heading was found with another level: as if the field had been off to the east.
        let tilt = length(change - sixAxes.up * dot(sixAxes.up, change)) / Gravity.standard
        headingVariance += tilt * tilt * field.vertical * field.vertical
        accuracy.addTilt(tilt, dipDegrees: dipDegrees)
    }

    private var isOffsetLearned: Bool {
        sixAxes.hasLearnedOffset || sixAxes.ageSeconds >= settings.motionEstimateFromSeconds
    }

    /// Whether the device is at rest, or would seem to turn by an offset that is not known.
    private var isStill: Bool { sixAxes.rest.isAtRest || !isOffsetLearned }

    /// Whether what is left of the iron is too little to make a turn of the field look like another one.
    private var isIronKnown: Bool {
        settings.isFieldCalibrated
            || ironVariance < LearnedIron.knownShare * LearnedIron.knownShare * field.now.x * field.now.x
    }

    /// Whether there is iron that a calibration does not have, and explains how the field turns.
    private var isIronFound: Bool {
        model.ironProbability > Self.leastShare && model.surprise < FusionAccuracy.usualSurprise
    }

    // MARK: - The magnetometer

    private mutating func process(field m: Vector3, at time: Int64) {
        guard sixAxes.accelerationTime != nil,
            let rotation = sixAxes.history.rotation(at: Units.later(time, by: -model.delayNanoseconds))
                ?? sixAxes.history.rotation(at: time)
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
        frozenField.update(m, rotation: rotation, isStill: isStill, at: time)
        guard !frozenField.isFrozen else { return }
        if seconds > Self.silence {
            field.interrupt()
            model.interrupt()
            seconds = Self.silence
        }
        // An offset that is not known yet looks like a turn, and a field that stands still in one like iron.
        if sixAxes.rest.isOffsetDoubtful {
            model.interrupt()
        } else if settings.learnsSensors, isOffsetLearned,
            model.update(
                m, rotation: rotation, rate: length(sixAxes.rate), offsetSigma: sixAxes.offsetSigma,
                step: seconds)
        {
            learn(rotation)
        }
        // Where iron would explain a wrong gyroscope as well, the calibration's word counts.
        axisCheck.addField(settings.isFieldCalibrated ? m : m - iron, seconds: seconds)
        let m = m - iron
        let level = sixAxes.inclination.rotate(rotation.rotate(m))
        sixAxes.addField(m, seconds: seconds)
        let disagreement = Self.wrapped(atan2(level.x, level.y) - delta)
        field.update(
            level, strength: length(m), rate: length(sixAxes.rest.rate) * 180 / .pi,
            isTurned: isTurnedAtRest(disagreement), seconds: seconds)
        if field.isFirst, settings.firstFieldEndsRejection { rejectionSeconds = 0 }
        correctHeading(disagreement, seconds: seconds)
    }

    /// Records what the model of the field has learned.
    private mutating func learn(_ rotation: Quaternion) {
        sixAxes.scale = model.scale
        accuracy.addTurn(
            sixAxes.inclination.rotate(model.turn), scaleSigma: model.scaleSigma, seconds: model.turnSeconds,
            inclinationSeconds: settings.inclinationSeconds)
        compareTurn()
        compareRooms()
        ironWitness.update(model, at: fieldTime ?? 0)
        let gravity = sixAxes.gravityLength / Gravity.standard
        accuracy.addMovement(
            misfit: model.recentMisfit, surprise: model.surprise, gravity: gravity,
            isFieldConstant: fieldTurn.isConstant, isFieldSphere: ironWitness.isFieldSphere, lag: model.rateLag,
            rate: length(sixAxes.rate), seconds: model.turnSeconds)
        axisCheck.addMovement(
            misfit: model.misfit, gravity: gravity, scaleError: abs(model.scale - 1) - 2 * model.scaleSigma,
            fieldTurn: fieldTurn.angle, isRateFrozen: isRateFrozen(), isTurning: model.isTurning,
            seconds: model.turnSeconds)
        if settings.isFieldCalibrated, model.surprise > FusionAccuracy.usualSurprise { return }
        let share = settings.isFieldCalibrated ? model.ironProbability : 1
        compareIron()
        guard share > Self.leastShare || iron != .zero else { return }
        iron = share * model.iron
        let level = (sixAxes.inclination * rotation).conjugate
        func variance(_ x: Double, _ y: Double) -> Double {
            let axis = level.rotate(Vector3(x, y, 0))
            let along = dot(axis, model.iron)
            return share * (share * model.ironVariance(along: axis) + (1 - share) * along * along)
        }
        let least = Self.fieldIronShare * max(field.now.x, 1)
        if length(iron - fieldIron) > least {
            if length(cross(sixAxes.up, iron - fieldIron)) > least { roomTurn.interrupt(isOfDevice: true) }
            fieldIron = iron
            field.relearn()
        }
        ironUnrest -= ironUnrest * min(model.turnSeconds / Self.ironRestSeconds, 1)
        let change = iron - headingIron
        // What is learned without a calibration has its own variance.
        if settings.isFieldCalibrated, length(change) > least, isTurnRight() {
            let up = level.rotate(Vector3(0, 0, 1))
            // On a level axis.
            let square = (dot(change, change) - dot(change, up) * dot(change, up)) / 2
            headingVariance = max(headingVariance, square)
            ironUnrest = max(ironUnrest, Self.unrestShare * Self.unrestShare * square)
        }
        if !settings.isFieldCalibrated {
            let along = lastField.value - iron
            field.strengthSigma = model.ironVariance(along: along / max(length(along), 1e-9)).squareRoot()
        }
        eastVariance = variance(cos(delta), sin(delta)) + ironUnrest
        ironVariance = (eastVariance + variance(-sin(delta), cos(delta)) + ironUnrest) / 2
        if settings.isFieldCalibrated {
            // Without the iron that is taken from the field, the heading is off by all of it.
            let east = dot(iron, level.rotate(Vector3(cos(delta), sin(delta), 0)))
            eastVariance += ironWitness.doubt(of: model.iron, variance: model.ironVariance) * east * east
        }
    }

    /// Whether an axis of the gyroscope has repeated its value to the last bit for a second, while the others turn.
    ///
    /// A right one may: the device turns about one axis alone, and the steps of the sensor are coarse.
    private mutating func isRateFrozen() -> Bool {
        for axis in 0..<3 {
            repeated.seconds[axis] =
                lastRate[axis] == repeated.rate[axis] ? repeated.seconds[axis] + model.turnSeconds : 0
        }
        repeated.rate = lastRate
        return repeated.seconds.max() >= Self.repeatedSeconds && model.mean.speed > Self.leastSpeed
    }

    /// Compares the gyroscope's turn with what a field of the Earth's strength shows of it.
    private mutating func compareTurn() {
        let field = model.mean.field - model.mean.frame * iron
        let unknown = settings.isFieldCalibrated ? length(iron) : ironVariance.squareRoot()
        let strength = self.field.reference?.x ?? 0
        let departure = abs(length(field) - strength) / strength
        guard strength > 0, !isIronOther, unknown < LearnedIron.knownShare * strength,
            departure < settings.fieldStrengthShare
        else {
            fieldTurn.interrupt()
            return
        }
        let before = fieldTurn.angle
        fieldTurn.update(field, departure: departure, speed: model.mean.speed, seconds: model.turnSeconds)
        accuracy.addFieldTurn(from: before, to: fieldTurn.angle, dipDegrees: dipDegrees)
    }

    /// Notices that the field turns by more than the gyroscope's offset, unknown iron and movements of the level let it.
    private mutating func compareRooms() {
        let drift = sixAxes.offsetSigma * .pi / 180 * RoomTurn.beforeSeconds
        let horizontal = max(field.horizontal, 1e-9)
        let upright = (accuracy.vertical.square / 2).squareRoot() * abs(field.vertical)
        roomTurn.update(
            model.mean.field - model.mean.frame * iron, level: sixAxes.inclination,
            sigma: drift + (ironVariance.squareRoot() + upright) / horizontal, noise: model.noise / horizontal,
            speed: model.mean.speed, seconds: model.turnSeconds)
        if roomTurn.isTurning { headingDrift.interrupt() }
    }

    /// Whether the iron is known along each axis of the device, also along the one about which it was turned.
    private var isIronKnownOnAllAxes: Bool {
        let known = Self.settledShare * field.now.x
        return (0..<3).allSatisfy { axis in
            var direction = Vector3.zero
            direction[axis] = 1
            return model.ironVariance(along: direction) < known * known
        }
    }

    /// Whether the turns are those of a right gyroscope; a wrong one, whose turns no iron explains, shows any iron.
    ///
    /// Mutating, because a property would be given a copy of all of this, 9 kB, at each field.
    private mutating func isTurnRight() -> Bool {
        model.surprise < FusionAccuracy.usualSurprise && abs(model.scale - 1) < 2 * settings.scaleSigma
            && abs(sixAxes.gravityLength - Gravity.standard) < Self.gravityShare * Gravity.standard
    }

    /// Notices iron that is another one: the device was built in elsewhere, or a magnet was attached.
    private mutating func compareIron() {
        guard isTurnRight() else { return }
        if !settings.isFieldCalibrated, isIronKnownOnAllAxes, expectedIron == nil || isIronOther {
            expectedIron = model.iron
        }
        guard let expectedIron else { return }
        let change = model.iron - expectedIron
        let size = length(change)
        isIronOther =
            size > Self.otherIronShare * field.now.x
            && size > Self.clearSigmas * model.ironVariance(along: change / size).squareRoot()
    }

    /// Whether the field disagrees with the heading by much more than what is stated, while nothing turns the device.
    ///
    /// In movement a wrong gyroscope disagrees as well, and the field is right then.
    private func isTurnedAtRest(_ disagreement: Double) -> Bool {
        guard abs(disagreement) > Self.clearDisagreement, sixAxes.rest.isAtRest, startGain == 0, !isHeadingUnsure else {
            return false
        }
        return abs(disagreement) * 180 / .pi > Self.clearAccuracies * accuracy.degreesBefore(dipDegrees: dipDegrees)
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
            // While iron is learned, with which the undisturbed field changes, nothing else corrects an offset that is not known.
            let isRejected = field.reference != nil || sixAxes.hasLearnedOffset || !isTurnRight()
            if isRejected, rejectionSeconds <= settings.longestRejectionSeconds {
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
        if !field.isPlausible { gain = 0 }
        gain = weighted(gain)
        delta = Self.wrapped(delta + gain * disagreement)
        roomTurn.follow(-gain * disagreement, gain: gain)
        learnOffset(disagreement, correction: gain * disagreement, seconds: seconds)
        if gain > 0 {
            secondsWithoutCorrection = 0
            if !field.isDisturbed { isHeadingUndisturbed = true }
        }
        accuracy.addCorrection(
            gain, disagreement: disagreement * 180 / .pi, field: field.now, horizontalField: field.horizontal,
            verticalField: field.vertical, reference: field.reference, isDisturbed: field.isDisturbed,
            error: settings.fieldError, noise: settings.fieldNoise, averaged: settings.headingSeconds,
            ironVariance: eastVariance, seconds: seconds)
    }

    /// Learns the gyroscope's offset about the vertical.
    private mutating func learnOffset(_ disagreement: Double, correction: Double, seconds: Double) {
        guard settings.learnsOffsetFromField else { return }
        let isTrusted =
            !field.isDisturbed && startGain < 1 && isIronKnown && model.surprise < FusionAccuracy.usualSurprise
        guard
            let found = headingDrift.update(
                disagreement, correction: correction, isTrusted: isTrusted,
                field: (field.now.x, field.horizontal, iron, ironVariance.squareRoot()), up: sixAxes.up,
                rates: (
                    dot(sixAxes.up, sixAxes.offset.value), dot(sixAxes.up, sixAxes.rate), length(sixAxes.rate)
                ),
                step: seconds)
        else { return }
        sixAxes.learnOffset(found.rate, along: found.direction, sigma: found.sigma)
    }

    /// The gain of a correction in a mean in which each correction counts by its variance: it is large where the iron has become known
    /// since, and small where it has not been learned again.
    private mutating func weighted(_ gain: Double) -> Double {
        guard gain > 0, headingVariance != ironVariance else { return gain }
        let floor = Self.settledIron * Self.settledIron
        let ratio = (headingVariance + floor) / (ironVariance + floor)
        let gain = ratio / (1 / gain - 1 + ratio)
        headingVariance += gain * (ironVariance - headingVariance)
        headingIron += gain * (iron - headingIron)
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
    /// The gyroscope and the accelerometer turn alike, and the magnetometer otherwise.
    case fieldAxesWrong
    /// An axis of the accelerometer keeps its value while the device turns.
    case accelerometerFrozen
    /// An axis of the magnetometer keeps its value while the device turns.
    case fieldFrozen
    /// Too little was turned to show the iron of a magnetometer that was not calibrated.
    case ironUnknown
    /// The first seconds, without a rest.
    case settling
    /// The heading may be off by more than the limit.
    case inaccurate
}

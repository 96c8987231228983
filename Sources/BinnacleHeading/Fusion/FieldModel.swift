import Binnacle
import Glibc
import SensorGeometry

/// Learns, while the device turns, what its sensors are wrong by: hard iron, the gyroscope's scale, and the magnetometer's delay.
///
/// A magnetometer shows m = b + Rᵀ·h: the iron b turns with the device, the Earth's field h does not. In the frame I that the
/// gyroscope keeps by integration that is linear in both, m_I = R·m = h + R·b, and the difference of two attitudes is
/// m₀ − R·m₁ = (I − R)·b: any turn shows the iron, whatever its size. A scale that is wrong by e turns I itself, so that h seems to
/// turn, dh = −e·θ×h for a turn by θ; a magnetometer that is late by τ shows h turned by τ·ω. So a Kalman filter of eight states,
/// (h, b, e, τ), knows all of them with their covariance, and what was not turned through stays unknown: a turn about one axis shows
/// the iron across it alone.
///
/// The measurements are means over a tenth of a second, which is exact for h and b because both are linear in them.
struct FieldModel {
    /// The hard iron, in µT in the device's frame: what the magnetometer measures where there is no field.
    var iron: Vector3 { estimate.offset }
    /// What the rates are multiplied by, and its standard deviation.
    private(set) var scale = 1.0
    private(set) var scaleSigma = 0.0
    /// By how much the field is turned by an earlier orientation, because it is late.
    var delayNanoseconds: Int64 { Int64(appliedDelay * 1e9) }
    /// By how much later than the field the rates are, in seconds: no earlier orientation takes that out.
    var rateLag: Double { max(-estimate.state[7] - Self.harmlessDelay, 0) }
    /// The share of the last seconds' measurements that no iron and no scale explain.
    private(set) var misfit = 0.0
    /// That of the last second.
    private(set) var recentMisfit = 0.0
    /// The mean square of the last second's residuals, in units of what they usually are: below 1 while iron, scale and noise explain all.
    var surprise: Double { square / max(1, Self.noiseShare * noiseVariance / fieldVariance) }
    /// The probability that there is iron although a calibration has taken it, as of the last step.
    private(set) var ironProbability = 0.0
    /// The turn that the last step learned from, in the frame I in radians.
    private(set) var turn = Vector3.zero
    /// How long that step was.
    private(set) var turnSeconds = 0.0
    /// Whether the device turned in it so fast that a fit says something of turns.
    var isTurning: Bool { mean.speed > Self.turning }
    /// The means of that step: the field in the frame I and as it was measured, the rotation to I, and how fast the device turned, in
    /// rad/s.
    private(set) var mean = (field: Vector3.zero, measured: Vector3.zero, frame: Matrix3(diagonal: .zero), speed: 0.0)

    /// (h, b, e, τ).
    private var estimate = LinearEstimate()
    /// The mean square of the last second's residuals, in units of their standard deviation.
    private var square = 0.0
    /// The noise of a mean, as its variance on an axis in µT²: what a calibration has of it, or what was measured if that is more.
    private var noiseVariance: Double { max(statedNoise, measuredNoise) }
    /// Its standard deviation on an axis, in µT.
    var noise: Double { fieldVariance.squareRoot() }
    private var fieldVariance: Double { max(Self.leastFieldNoise * Self.leastFieldNoise, noiseVariance) }
    private let statedNoise: Double
    private var measuredNoise = 0.0
    /// The last two fields in the frame I without iron.
    private var fieldsBefore: (last: Vector3, earlier: Vector3?)?

    /// Whether the last step continued the ones before: it did not where there is another field at once.
    private(set) var isFieldKnown = false
    private var hasMeasured = false
    /// The mean direction of the field in the device's frame: as long as 1 while it was never turned, near 0 when all were seen.
    private var direction = Vector3.zero
    /// The variance of the iron that the shape of the magnetometer's errors leaves, in µT².
    private var shapeVariance = Self.unseenShape
    // What was taken since the last step.
    private var fieldSum = Vector3.zero
    private var measuredSum = Vector3.zero
    private var frameSum = Matrix3(diagonal: .zero)
    private var angleSum = 0.0
    private var count = 0.0
    private var seconds = 0.0
    /// The rotation at the last step; `nil` after an interruption.
    private var lastRotation: Quaternion?

    /// The time over which measurements are averaged: ten a second are as good as all, and cost nothing.
    private static let stepSeconds = 0.1
    /// µT²: nothing is known of the field before the first sample.
    private static let unknownVariance = 1e6
    /// The standard deviation of a mean over a tenth of a second, on an axis in µT.
    ///
    /// A sensor's noise is less; what iron in the room does over the width of a movement of the hand is not.
    private static let leastFieldNoise = 1.0
    /// In seconds: how far the delay varies, by rates and stamps of the two sensors; a turn makes it an error of the field.
    private static let delayNoise = 0.01
    /// In seconds: the frame I drifts by what is left of the gyroscope's offset as if that were another one after so long.
    private static let driftSeconds = 10.0
    /// In °/s: no offset is known better for so long.
    private static let leastOffsetSigma = 0.05
    /// Of each turn: what axes that are not at right angles, and scales that differ, turn I by (data sheets: 0.5 to 2 %, most of
    /// which a turn to and fro takes back).
    private static let misalignment = 0.005
    /// In µT/√s: the iron moves with temperature and currents by 1 µT in an hour.
    private static let ironDrift = 0.017
    /// In 1/√s: the scale moves by 0.1 % in an hour.
    private static let scaleDrift = 2e-5
    /// In seconds: by a shorter delay headings are no worse, as recordings with an optical reference and 15 ms show.
    private static let harmlessDelay = 0.02
    /// Of the field: soft iron, scales that differ and a slow sensor change a field by so much.
    ///
    /// Where all directions were seen that is no iron; where only one was, it cannot be told from iron.
    private static let shapeShare = 0.03
    /// That of a field of 50 µT of which one direction was seen, in µT².
    private static let unseenShape = (50 * shapeShare) * (50 * shapeShare)
    /// The square of the share of the field that the iron's standard deviation, of all axes, may be for the field to have a direction.
    private static let clearShare = 0.01
    /// In rad: the turns over which the direction is averaged.
    private static let directionTurn = 6.0
    /// In rad/s: no noise of a rate is thought larger.
    private static let fastest = 15.0
    /// Of the squares of residuals of three components one in ten is larger than the first, and one in 1,000 larger than the second
    /// (chi-square).
    private static let (oddSquare, largestSquare) = (6.25, 16.27)
    /// In µT: iron that is known no better is learned anyway.
    private static let knownIron = 10.0
    private static let misfitSeconds = 3.0
    /// The square of three components is three variances in the mean, and less than twice that in nearly each second.
    private static let noiseShare = 6.0
    /// In rad/s and seconds: noise is measured in slow movement, where the field's change between two means is the same as before.
    private static let (noiseSpeed, noiseSeconds) = (0.2, 10.0)
    /// In µT: such a movement and much noise change a field by less between three means; a gyroscope that shows no turn, by more.
    private static let slowChange = 8.0
    /// From this share of odd residuals on it is other iron.
    private static let largestMisfit = 0.3
    /// In rad/s: below it a fit says little of turns, and counts for the second as much.
    private static let (turning, slowShare) = (0.5, 0.2)
    /// The standard deviation of the delay, in seconds, before it is known: samples of hubs and drivers are late by so much.
    private static let delaySigma = 0.015

    /// The variances before anything was learned.
    private let startIronVariance: Double
    private let startScaleVariance: Double

    /// Creates a model.
    ///
    /// - Parameters:
    ///   - ironSigma: The standard deviation of the hard iron on each axis, in µT, of a device of which nothing is known.
    ///   - scaleSigma: That of the gyroscope's scale.
    ///   - noise: The magnetometer's, in µT/√Hz.
    ///   - known: What an earlier run has learned of the device.
    init(ironSigma: Double, scaleSigma: Double, noise: Double, known: SensorErrors? = nil) {
        statedNoise = noise * noise / (2 * Self.stepSeconds)
        startIronVariance = ironSigma * ironSigma
        startScaleVariance = scaleSigma * scaleSigma
        for axis in 3..<6 { estimate.covariance[axis][axis] = startIronVariance }
        estimate.covariance[6][6] = startScaleVariance
        estimate.covariance[7][7] = Self.delaySigma * Self.delaySigma
        if let known {
            if known.isIronKnown { shapeVariance = 0 }
            for axis in 0..<3 {
                estimate.state[3 + axis] = known.iron[axis]
                estimate.covariance[3 + axis][3 + axis] = min(
                    known.ironSigma[axis] * known.ironSigma[axis], startIronVariance)
            }
            estimate.state[6] = known.scale - 1
            estimate.covariance[6][6] = min(known.scaleSigma * known.scaleSigma, startScaleVariance)
        }
        chooseScale()
        updateIronProbability()
    }

    /// What was learned.
    var errors: SensorErrors {
        var sigma = Vector3.zero
        for axis in 0..<3 { sigma[axis] = (estimate.covariance[3 + axis][3 + axis] + shapeVariance).squareRoot() }
        return SensorErrors(
            iron: iron, ironSigma: sigma, scale: scale * (1 + estimate.state[6]),
            scaleSigma: estimate.covariance[6][6].squareRoot())
    }

    /// Whether anything was learned that is worth keeping: half of what was not known is.
    var hasLearned: Bool {
        hasMeasured && (ironVariance < startIronVariance / 4 || estimate.covariance[6][6] < startScaleVariance / 4)
    }

    /// The variance of the iron along a unit vector, in µT².
    func ironVariance(along direction: Vector3) -> Double {
        max(dot(direction, estimate.offsetCovariance * direction), 0) + shapeVariance
    }

    /// The variance of the iron, in µT²: the mean of the three axes.
    var ironVariance: Double {
        (estimate.covariance[3][3] + estimate.covariance[4][4] + estimate.covariance[5][5]) / 3 + shapeVariance
    }

    /// Forgets where the field points, because the frame I begins again; what was learned of the sensors stays.
    mutating func interrupt() {
        isFieldKnown = false
        lastRotation = nil
        fieldsBefore = nil
        clear()
    }

    private mutating func clear() {
        (fieldSum, measuredSum, frameSum) = (.zero, .zero, Matrix3(diagonal: .zero))
        (angleSum, count, seconds) = (0, 0, 0)
    }

    /// Takes a field.
    ///
    /// - Parameters:
    ///   - measured: It, in the device's frame.
    ///   - rotation: From the device's frame to I, when the field was what the sample shows.
    ///   - rate: How fast the device turns, in rad/s.
    ///   - offsetSigma: How well the gyroscope's offset is known, in °/s.
    ///   - step: The time since the last one.
    /// - Returns: Whether something was learned.
    mutating func update(
        _ measured: Vector3, rotation: Quaternion, rate: Double, offsetSigma: Double, step: Double
    ) -> Bool {
        guard let lastRotation else {
            self.lastRotation = rotation
            return false
        }
        fieldSum += rotation.rotate(measured)
        measuredSum += measured
        frameSum = frameSum + rotation.matrix
        angleSum += rate * step
        count += 1
        seconds += step
        guard seconds >= 0.99 * Self.stepSeconds else { return false }
        turn = (rotation * lastRotation.conjugate).rotationVector
        turnSeconds = seconds
        self.lastRotation = rotation
        let share = 1 / count
        mean = (
            fieldSum * share, measuredSum * share,
            Matrix3(frameSum.x * share, frameSum.y * share, frameSum.z * share),
            min(angleSum / seconds, Self.fastest)
        )
        predict(offsetSigma)
        measureNoise()
        measure()
        updateDirection(rotation)
        chooseScale()
        updateIronProbability()
        clear()
        return true
    }

    /// What happened to the field in the frame I since the last step.
    private mutating func predict(_ offsetSigma: Double) {
        guard isFieldKnown else {
            // In a new frame; what was learned of the sensors is known independently of it.
            for index in 0..<8 {
                if index < 3 { estimate.covariance[index] = .zero }
                estimate.covariance[index].replaceField(.zero)
            }
            for index in 0..<3 { estimate.covariance[index][index] = Self.unknownVariance }
            estimate.state.replaceField(mean.field - mean.frame * iron)
            isFieldKnown = true
            return
        }
        let field = Vector3(estimate.state[0], estimate.state[1], estimate.state[2])
        let perScale = cross(field, turn)
        let moved = field + perScale * estimate.state[6]
        estimate.state.replaceField(moved)
        // F·P·Fᵀ, where F adds `perScale` times the scale's error to the field: first to the rows, then to the columns.
        let scaleRow = estimate.covariance[6]
        for index in 0..<3 { estimate.covariance[index] += scaleRow * perScale[index] }
        for index in 0..<8 {
            let scaleColumn = estimate.covariance[index][6]
            for axis in 0..<3 { estimate.covariance[index][axis] += scaleColumn * perScale[axis] }
        }
        let size = max(length(field), 1)
        let misaligned = Self.misalignment * mean.speed * size
        let drift = max(offsetSigma, Self.leastOffsetSigma) * .pi / 180 * size
        let noise = (drift * drift * Self.driftSeconds + misaligned * misaligned) * seconds
        for index in 0..<3 {
            estimate.covariance[index][index] += noise
            estimate.covariance[3 + index][3 + index] += Self.ironDrift * Self.ironDrift * seconds
        }
        estimate.covariance[6][6] += Self.scaleDrift * Self.scaleDrift * seconds
    }

    /// Learns the noise of a mean from how its field differs from what the two before let expect.
    private mutating func measureNoise() {
        let field = mean.field - mean.frame * iron
        if let (last, earlier) = fieldsBefore, let earlier, mean.speed < Self.noiseSpeed,
            length(field - earlier) < Self.slowChange
        {
            // The second difference has 1 + 4 + 1 variances on each of three axes.
            let found = (field - 2 * last + earlier).squaredLength / 18
            measuredNoise += (found - measuredNoise) * min(seconds / Self.noiseSeconds, 1)
        }
        fieldsBefore = mean.speed < Self.noiseSpeed ? (field, fieldsBefore?.last) : nil
    }

    private var appliedDelay: Double { max(estimate.state[7] - Self.harmlessDelay, 0) }

    /// Corrects the state by the mean of what was measured.
    private mutating func measure() {
        let field = Vector3(estimate.state[0], estimate.state[1], estimate.state[2])
        let size = max(length(field), 1)
        let late = Self.delayNoise * mean.speed * size
        let variance = fieldVariance + late * late
        let frame = mean.frame
        let perDelay = cross(turn / seconds, field)
        // A part of the delay was taken out by the rotation at the earlier stamp.
        let residual = mean.field - field - frame * iron - perDelay * (estimate.state[7] - appliedDelay)
        let rows = (
            row(0, frame.x, perDelay.x), row(1, frame.y, perDelay.y), row(2, frame.z, perDelay.z)
        )
        let spread = (estimate.spread(of: rows.0), estimate.spread(of: rows.1), estimate.spread(of: rows.2))
        let normalized = normalizedSquare(residual, rows, spread, variance)
        let isOdd = normalized > Self.oddSquare
        // What was odd and has passed is forgotten in a slow movement as well, which shows less of it.
        let step = isTurning || isOdd ? seconds : seconds * Self.slowShare
        let odd = isOdd ? 1.0 : 0
        misfit += (odd - misfit) * min(step / Self.misfitSeconds, 1)
        recentMisfit += (odd - recentMisfit) * min(step, 1)
        let shown = min(normalized, Self.largestSquare)
        if isTurning || isOdd || shown < square { square += (shown - square) * min(step, 1) }
        if isOdd, misfit > Self.largestMisfit, ironVariance < Self.knownIron * Self.knownIron { forgetIron() }
        guard normalized <= Self.largestSquare else {
            // It is another field, which says nothing of what is wrong with the sensors.
            isFieldKnown = false
            fieldsBefore = nil
            return
        }
        // One component after the other, because their errors are independent.
        hasMeasured = true
        let before = estimate.state
        correct(rows.0, residual.x, variance, before)
        correct(rows.1, residual.y, variance, before)
        correct(rows.2, residual.z, variance, before)
    }

    /// Corrects the state by one component of the residual, which `before` had.
    private mutating func correct(
        _ row: SIMD8<Double>, _ residual: Double, _ variance: Double, _ before: SIMD8<Double>
    ) {
        estimate.correct(
            row, residual: residual - (row * (estimate.state - before)).sum(), variance: variance)
    }

    /// Begins again with the iron, because it is not the one that was learned: the device was built in elsewhere, or has a magnet.
    private mutating func forgetIron() {
        for axis in 3..<6 { estimate.covariance[axis][axis] += startIronVariance }
        shapeVariance = Self.unseenShape
        direction = .zero
    }

    // Ten times a second, not at each sample that asks for it: it has an inverse and an exponential.
    private mutating func updateIronProbability() {
        ironProbability = estimate.offsetProbability(sigma: startIronVariance.squareRoot(), besides: shapeVariance)
    }

    /// Learns how much of all directions was seen.
    private mutating func updateDirection(_ rotation: Quaternion) {
        let field = rotation.conjugate.rotate(Vector3(estimate.state[0], estimate.state[1], estimate.state[2]))
        let size = length(field)
        // Iron that is not known yet turns the field's direction by itself.
        guard size > 0,
            estimate.covariance[3][3] + estimate.covariance[4][4] + estimate.covariance[5][5] < Self.clearShare * size
                * size
        else {
            return
        }
        direction =
            direction == .zero
            ? field / size : direction + (field / size - direction) * min(length(turn) / Self.directionTurn, 1)
        let left = Self.shapeShare * size
        shapeVariance = min(shapeVariance, left * left * direction.squaredLength)
    }

    /// Decides by how much the rates are corrected.
    private mutating func chooseScale() {
        let found = scale * (1 + estimate.state[6]) - 1
        guard
            let choice = ScaleChoice(
                error: found, variance: estimate.covariance[6][6], startVariance: startScaleVariance)
        else { return }
        scaleSigma = choice.sigma
        let before = scale
        scale = choice.scale
        estimate.state[6] = (1 + estimate.state[6]) * before / scale - 1
    }

    private func row(_ axis: Int, _ frame: Vector3, _ perDelay: Double) -> SIMD8<Double> {
        var row = SIMD8<Double>(0, 0, 0, frame.x, frame.y, frame.z, 0, perDelay)
        row[axis] = 1
        return row
    }

    /// The square of a residual in units of its standard deviation.
    private func normalizedSquare(
        _ residual: Vector3, _ rows: (SIMD8<Double>, SIMD8<Double>, SIMD8<Double>),
        _ spread: (SIMD8<Double>, SIMD8<Double>, SIMD8<Double>), _ variance: Double
    ) -> Double {
        func row(_ h: SIMD8<Double>) -> Vector3 {
            Vector3((h * spread.0).sum(), (h * spread.1).sum(), (h * spread.2).sum())
        }
        let expected =
            Matrix3(row(rows.0), row(rows.1), row(rows.2)) + Matrix3(diagonal: Vector3(repeating: variance))
        return dot(residual, expected.symmetricInverse * residual)
    }
}

extension SIMD8<Double> {
    /// Replaces the first three elements.
    fileprivate mutating func replaceField(_ vector: Vector3) {
        (self[0], self[1], self[2]) = (vector.x, vector.y, vector.z)
    }
}

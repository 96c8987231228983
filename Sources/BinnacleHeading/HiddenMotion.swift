import SensorGeometry

/// Estimates two errors of the heading that neither the acceleration's length nor the dip shows: an acceleration
/// towards east or west, and the field of an approaching magnet.
///
/// An acceleration to the east tilts the measured up eastward, and so does a turn of the device about the field's
/// direction. Such a turn leaves the field's direction unchanged, but turns about exactly that axis are rare: others
/// change the field's direction, too, which shows how much of up's movement they explain. If up moves much further to
/// the east than that, the cause is an acceleration. A turn about the vertical moves the field and not up, so up's
/// whole movement is a second bound.
///
/// A magnet moves the field's direction while up stays, as a turn on a table does. Unlike a turn, it also changes the
/// field's strength or dip.
///
/// Both estimates sum changes, because a constant error does not show: in a steady acceleration, as in a curve, up
/// stands still. So a sum decays slowly while its cause lasts, and fast once the acceleration's length, or the field's
/// strength and dip, are again those at rest.
struct HiddenMotion {
    /// An attitude, and how its sample differs from those at rest.
    struct Sample {
        let attitude: Attitude
        /// The sine of the difference between the dip and the dip at rest.
        let dipDeparture: Double
        /// The strength of the field divided by the expected strength.
        let strength: Double
        /// Whether the smoothed field vector is shorter than the field is strong: in a fast turn it is the mean of
        /// several directions, so its dip is not the field's.
        let isFieldSpread: Bool
        /// The mean length of the acceleration minus the length at rest, in g; 0 in rough motion.
        let lengthExcess: Double
        /// Whether the acceleration's length or the dip departs too far from rest for the tilt to be followed.
        let isViolent: Bool
        /// Whether the device has moved since the dip was last the one at rest.
        let hasMoved: Bool
    }

    /// The angle by which acceleration tilts the measured up to the east, in radians.
    private(set) var tilt = 0.0
    /// The angle by which a magnet turned the field about the vertical, in radians.
    private(set) var turn = 0.0

    private var last: (up: SIMD3<Double>, field: SIMD3<Double>)?
    /// Three sums of movements in radians, and the current strength: up's eastward movement that the field's movement
    /// does not explain, all of up's eastward movement, the field's turn about the vertical.
    private var ways = SIMD4<Double>.zero
    private var waySpread = RunningSpread<SIMD4<Double>>()
    private var fieldSpread = RunningSpread<SIMD3<Double>>()
    /// Up, and the sine of the dip's departure.
    private var upSpread = RunningSpread<SIMD4<Double>>()

    /// The time constant of the variances.
    private static let spreadSeconds = 0.4
    /// The ratio of variances, up's to the one that the field's movement explains, above which an acceleration is the
    /// cause; a tenth of all turns about random axes exceed it, too.
    private static let turnFactor = 4.0
    /// In radians.
    private static let greatestTilt = 0.3
    /// Up stands still if its variance is below this, the square of 0.015 rad (0.9°).
    private static let stillSquare = 0.015 * 0.015
    /// The variance of the field's strength and dip that is due to noise.
    private static let fieldNoiseSquare = 0.009 * 0.009
    /// A ratio of variances: a magnet may turn the field √30 times as far as it changes strength and dip.
    private static let fieldFactor = 30.0
    /// The length that 0.08 g across gravity adds to the acceleration, in g; above it an acceleration still lasts.
    private static let leastExcess = 0.003
    // Above one of these, a magnet is still near.
    private static let leastStrengthDeparture = 0.03
    private static let leastDipDeparture = 0.02
    // The time constants by which the sums decay: two while the cause lasts, and one for both after its end.
    private static let lastingTiltSeconds = 20.0
    private static let lastingTurnSeconds = 30.0
    private static let forgettingSeconds = 2.0

    /// Takes a sample and the time since the previous one.
    mutating func update(_ sample: Sample, seconds: Double) {
        let attitude = sample.attitude
        let field = (attitude.north * attitude.horizontalField + attitude.up * attitude.verticalField) / attitude.field
        let level = attitude.horizontalField / attitude.field
        defer { last = (attitude.up, field) }
        guard let last else { return }
        let movement = attitude.up - last.up
        let explained = cross(cross(last.field, field), last.up)
        let step = SIMD4(
            dot(movement - explained, attitude.east), dot(movement, attitude.east),
            dot(field - last.field, attitude.east) / level, 0)
        if sample.isViolent {
            tilt = 0
            waySpread.reset()
            fieldSpread.reset()
        }
        ways += step
        ways.w = sample.strength
        if sample.isFieldSpread { upSpread.reset() }
        let share = seconds / (Self.spreadSeconds + seconds)
        waySpread.update(ways, share: share)
        fieldSpread.update(field, share: share)
        upSpread.update(SIMD4(attitude.up, sample.dipDeparture), share: share)
        addTilt(step.x, level, sample, seconds)
        addTurn(step.z, level, sample, seconds)
    }

    private mutating func addTilt(_ step: Double, _ level: Double, _ sample: Sample, _ seconds: Double) {
        let moved = min(waySpread.variance.x, waySpread.variance.y)
        let byTurns = Self.turnFactor * level * level * fieldSpread.variance.sum() / 2
        if moved > byTurns, !sample.isViolent {
            tilt += step * (1 - byTurns / moved)
            tilt = min(max(tilt, -Self.greatestTilt), Self.greatestTilt)
        }
        let lasts = sample.lengthExcess > Self.leastExcess
        tilt -= tilt * min(1, seconds / (lasts ? Self.lastingTiltSeconds : Self.forgettingSeconds))
    }

    private mutating func addTurn(_ step: Double, _ level: Double, _ sample: Sample, _ seconds: Double) {
        let up = upSpread.variance
        let changed = waySpread.variance.w + up.w - Self.fieldNoiseSquare
        let turned = level * level * waySpread.variance.z
        if !sample.isFieldSpread, up.x + up.y + up.z < Self.stillSquare, changed > 0, turned > 0 {
            turn += step * min(1, Self.fieldFactor * changed / turned)
            turn = min(max(turn, -.pi), .pi)
        }
        let lasts =
            abs(sample.strength - 1) > Self.leastStrengthDeparture
            || abs(sample.dipDeparture) > Self.leastDipDeparture
        // Beside a device that has not moved a magnet turns the field for as long as it is there.
        guard !lasts || sample.hasMoved else { return }
        turn -= turn * min(1, seconds / (lasts ? Self.lastingTurnSeconds : Self.forgettingSeconds))
    }

    /// Forgets the last sample and the variances, because samples are missing; the estimates stay.
    mutating func interrupt() {
        last = nil
        waySpread.reset()
        fieldSpread.reset()
        upSpread.reset()
    }
}

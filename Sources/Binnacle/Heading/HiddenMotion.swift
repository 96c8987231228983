import SensorGeometry

/// Estimates two errors of the heading that neither the acceleration's length nor the dip shows: an acceleration towards
/// east or west, and a magnet that comes nearer.
///
/// An acceleration to the east tilts the measured up, as a turn about the field's own direction would. Of a turn, the share
/// that is across the field shows in the field's direction; a turn about exactly that direction is rare. So where up moves
/// much more to the east than the field's movement explains, it is an acceleration that moves it. A turn about the vertical
/// leaves up where it is, and is no acceleration for that reason.
///
/// A magnet moves the field's direction while up stays, as a turn on a table does. It changes the strength or the dip as
/// well, which a turn does not.
///
/// Both errors are sums of what happened, and not of what is: a steady acceleration, as in a curve, does not move up any
/// more, and is remembered until the acceleration's length is again that of before.
struct HiddenMotion {
    /// What is known of a sample beside its attitude.
    struct Sample {
        let attitude: Attitude
        /// The sine of the dip's departure from the one at rest.
        let dipDeparture: Double
        /// The strength of the field as a share of what it should be.
        let strength: Double
        /// Whether the smoothed field is shorter than its strength, as the mean of several directions in a fast turn is; then
        /// its dip is none that the field has.
        let isFieldSpread: Bool
        /// By how much the acceleration's length is above the one at rest in the mean, in g.
        let lengthExcess: Double
        /// Whether the device is shaken so much that there is no heading anyway.
        let isViolent: Bool
    }

    /// How far the measured up is tilted to the east by acceleration, in radians.
    private(set) var tilt = 0.0
    /// How far a magnet turned the field about the vertical, in radians.
    private(set) var turn = 0.0

    private var last: (up: SIMD3<Double>, field: SIMD3<Double>)?
    /// Up's way to the east that the field's movement does not explain, all of its way to the east, the field's way about the
    /// vertical, and the strength.
    private var ways = SIMD4<Double>.zero
    private var waySpread = RunningSpread<SIMD4<Double>>()
    private var fieldSpread = RunningSpread<SIMD3<Double>>()
    /// Up, and the sine of the dip's departure.
    private var upSpread = RunningSpread<SIMD4<Double>>()

    private static let spreadSeconds = 0.4
    /// How much more than turns across the field explain up has to move: of turns about random axes, a tenth does.
    private static let turnFactor = 4.0
    private static let greatestTilt = 0.3
    /// Up stands still within 0.9°.
    private static let stillSquare = 0.015 * 0.015
    /// The field's strength and dip vary by so much by noise.
    private static let fieldNoiseSquare = 0.009 * 0.009
    /// A magnet may turn the field more than five times as far as it changes strength and dip.
    private static let fieldFactor = 30.0
    /// An acceleration of 0.08 g across gravity adds so much to its length, in g.
    private static let leastExcess = 0.003
    private static let leastStrengthDeparture = 0.03
    private static let leastDipDeparture = 0.02
    /// How fast a sum is forgotten while what caused it seems to last, and once it seems to be over.
    private static let lastingTiltSeconds = 20.0
    private static let lastingTurnSeconds = 30.0
    private static let forgettingSeconds = 2.0

    /// Takes a sample and the time since the one before.
    mutating func take(_ sample: Sample, seconds: Double) {
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
        waySpread.take(ways, share: share)
        fieldSpread.take(field, share: share)
        upSpread.take(SIMD4(attitude.up, sample.dipDeparture), share: share)
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
        turn -= turn * min(1, seconds / (lasts ? Self.lastingTurnSeconds : Self.forgettingSeconds))
    }

    /// Forgets where up and the field were, because samples are missing.
    mutating func interrupt() {
        last = nil
        waySpread.reset()
        fieldSpread.reset()
        upSpread.reset()
    }
}

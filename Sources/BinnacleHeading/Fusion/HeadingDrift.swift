import Glibc
import SensorGeometry

/// Measures the gyroscope's offset about the vertical while the device moves: over some seconds the heading that the gyroscope keeps
/// should turn as far as that of the magnetometer.
///
/// What lies between the ends of that time does not count, so neither a magnet nor a lurch there spoils it.
struct HeadingDrift {
    /// A measured part of the offset: in rad/s, with its direction in the device's frame and its standard deviation.
    typealias Measurement = (rate: Double, direction: Vector3, sigma: Double)

    /// What the magnetometer said at the begin that the gyroscope did not, in radians; `nil` before.
    private var begin: Double?
    private var beginIron = Vector3.zero
    private var seconds = 0.0
    /// The sums since: of the corrections, that of the first sample included, of the vertical, of the offset along it that is known, and
    /// of the turn about it.
    private var corrected = 0.0
    private var vertical = Vector3.zero
    private var offset = 0.0
    private var turn = 0.0
    /// The sum of all turns, whatever their directions.
    private var path = 0.0

    private static let (leastSeconds, mostSeconds) = (10.0, 60.0)
    /// The share of the field by which noise and accelerations move its level part.
    private static let fieldShare = 0.02
    /// The shares of the turn about the vertical and of all turns by which a gyroscope may be wrong.
    private static let (turnShare, pathShare) = (0.1, 0.01)

    /// Forgets the begin: the heading was set, or turned by an unknown angle.
    mutating func interrupt() { begin = nil }

    /// Takes a sample of the magnetometer.
    ///
    /// - Parameters:
    ///   - disagreement: How far the heading of the magnetometer is counter-clockwise of the one that the gyroscope keeps, in radians.
    ///   - correction: By how much of it that one is corrected.
    ///   - isTrusted: Whether the field is the Earth's.
    ///   - field: Its strength, its level part, the iron that was taken from it and that one's standard deviation, in one unit.
    ///   - up: The vertical in the device's frame.
    ///   - rates: In rad/s: the offset about it that is known, the rate about it without that, and that about all axes.
    ///   - step: The time since the last sample, in seconds.
    /// - Returns: A part of the offset; `nil` until there has been time enough.
    mutating func update(
        _ disagreement: Double, correction: Double, isTrusted: Bool,
        field: (strength: Double, level: Double, iron: Vector3, ironSigma: Double), up: Vector3,
        rates: (offset: Double, turn: Double, all: Double), step: Double
    ) -> Measurement? {
        seconds += step
        vertical += step * up
        offset += step * rates.offset
        turn += step * rates.turn
        path += step * rates.all
        defer { corrected += correction }
        guard isTrusted, field.level > 0 else { return nil }
        // Another iron turns the field as well.
        let isSame = length(field.iron - beginIron) < Self.fieldShare * field.strength && seconds < Self.mostSeconds
        guard let begin, isSame else {
            restart(disagreement, field.iron)
            return nil
        }
        guard seconds >= Self.leastSeconds else { return nil }
        defer { restart(disagreement, field.iron) }
        let drift = remainder(begin - corrected - disagreement, 2 * .pi)
        let noise = Self.fieldShare * field.strength / field.level
        let iron = field.ironSigma / field.level * min(abs(turn), 1)
        let turned = Self.turnShare * abs(turn) + Self.pathShare * path
        let variance = 2 * noise * noise + iron * iron + turned * turned
        return ((offset + drift) / seconds, vertical / seconds, variance.squareRoot() / seconds)
    }

    private mutating func restart(_ disagreement: Double, _ iron: Vector3) {
        (begin, beginIron) = (disagreement, iron)
        (seconds, corrected, vertical, offset, turn, path) = (0, 0, .zero, 0, 0, 0)
    }
}

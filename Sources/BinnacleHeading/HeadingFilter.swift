import Binnacle
import Glibc
import SensorGeometry

/// Decides when a heading is reported again: when it differs enough from the one reported before, or when its accuracy, or how fast
/// it turns, has left the reported one.
///
/// A worse accuracy is reported at once, because readers rely on the better one; a better one at most
/// once a second. So is another rate of turn, which only a gyroscope measures: without that, the rate of a turn would stay told
/// when it is over.
///
/// Headings are compared as points of a circle, so that no angle is worked out for those that are not told.
struct HeadingFilter {
    private let leastChordSquared: Double
    private var lastToEast = 0.0
    private var lastToNorth = 0.0
    private var lastAccuracyDegrees = 0.0
    private var lastTimeNanoseconds: Int64 = 0
    private var hasLast = false
    /// The rate of turn, smoothed, at the last sample; `nil` when none is measured.
    private var turnRate: (degrees: Double, timeNanoseconds: Int64)?
    private var lastTurnRateDegrees = 0.0

    /// An accuracy is another one when it differs by this share of the one reported before, and by ``leastAccuracyChange``.
    private static let accuracyShare = 0.25
    /// In degrees.
    private static let leastAccuracyChange = 1.0
    private static let betterIntervalNanoseconds: Int64 = 1_000_000_000
    /// A rate of turn is another one when it differs by this share of the one reported before, and by ``leastRateChange``.
    private static let rateShare = 0.5
    /// In °/s.
    private static let leastRateChange = 1.0
    /// The noise of a gyroscope is no change.
    private static let rateSmoothingSeconds = 0.5

    /// - Parameter degrees: How far the heading has to turn, from 0 to 180.
    init(degrees: Double) {
        let chord = 2 * sin(degrees / 2 * .pi / 180)
        leastChordSquared = chord * chord
    }

    /// Takes the valid heading of a sample; returns whether it is to be told, as the first one or because it differs enough
    /// from the one reported before.
    mutating func update(_ source: HeadingHold.Source) -> Bool {
        follow(source)
        let (toEast, toNorth) = source.pointing.attitude.components(of: source.pointing.axis)
        let length = (toEast * toEast + toNorth * toNorth).squareRoot()
        let (east, north) = (toEast / length - lastToEast, toNorth / length - lastToNorth)
        guard
            !hasLast || east * east + north * north >= leastChordSquared || isAccuracyOther(source)
                || isTurnRateOther(source)
        else { return false }
        (lastToEast, lastToNorth) = (toEast / length, toNorth / length)
        (lastAccuracyDegrees, lastTimeNanoseconds) = (source.accuracyDegrees, source.timeNanoseconds)
        lastTurnRateDegrees = turnRate?.degrees ?? 0
        hasLast = true
        return true
    }

    private mutating func follow(_ source: HeadingHold.Source) {
        guard let rate = source.turnRateDegrees else {
            turnRate = nil
            return
        }
        var degrees = rate
        if let last = turnRate {
            let seconds = max(Units.seconds(from: last.timeNanoseconds, to: source.timeNanoseconds), 0)
            degrees = last.degrees + (rate - last.degrees) * (seconds / (Self.rateSmoothingSeconds + seconds))
        }
        turnRate = (degrees, source.timeNanoseconds)
    }

    private func isTurnRateOther(_ source: HeadingHold.Source) -> Bool {
        guard let rate = turnRate?.degrees else { return false }
        return abs(rate - lastTurnRateDegrees) > max(Self.leastRateChange, Self.rateShare * abs(lastTurnRateDegrees))
            && source.timeNanoseconds >= Units.later(lastTimeNanoseconds, by: Self.betterIntervalNanoseconds)
    }

    private func isAccuracyOther(_ source: HeadingHold.Source) -> Bool {
        let change = source.accuracyDegrees - lastAccuracyDegrees
        guard abs(change) > max(Self.leastAccuracyChange, Self.accuracyShare * lastAccuracyDegrees) else {
            return false
        }
        return change > 0
            || source.timeNanoseconds >= Units.later(lastTimeNanoseconds, by: Self.betterIntervalNanoseconds)
    }

    /// Makes the next heading the first one again.
    mutating func reset() {
        hasLast = false
        turnRate = nil
    }
}

import Glibc
import SensorGeometry

/// Decides when a heading is told again: when it has turned far enough from the one told last, or when its accuracy is no
/// longer the one that was told.
///
/// An accuracy that got worse is told at once, because who was told the better one relies on it; one that got better at most
/// once a second.
///
/// Headings are compared as points of a circle, so that no angle is worked out for those that are not told.
struct HeadingFilter {
    private let leastChordSquared: Double
    private var lastToEast = 0.0
    private var lastToNorth = 0.0
    private var lastAccuracyDegrees = 0.0
    private var lastTimeNanoseconds: Int64 = 0
    private var hasLast = false

    /// An accuracy is another one when it differs by this share of the one told last, and by ``leastAccuracyChange``.
    private static let accuracyShare = 0.25
    /// In degrees.
    private static let leastAccuracyChange = 1.0
    private static let betterIntervalNanoseconds: Int64 = 1_000_000_000

    /// - Parameter degrees: How far the heading has to turn, from 0 to 180.
    init(degrees: Double) {
        let chord = 2 * sin(degrees / 2 * .pi / 180)
        leastChordSquared = chord * chord
    }

    /// Takes the heading of a sample.
    ///
    /// - Parameter source: A valid heading.
    /// - Returns: Whether it is to be told: it is the first one, or differs enough from the one told last.
    mutating func take(_ source: HeadingHold.Source) -> Bool {
        let (toEast, toNorth) = source.pointing.attitude.components(of: source.pointing.axis)
        let length = (toEast * toEast + toNorth * toNorth).squareRoot()
        let (east, north) = (toEast / length - lastToEast, toNorth / length - lastToNorth)
        guard !hasLast || east * east + north * north >= leastChordSquared || isAccuracyOther(source) else {
            return false
        }
        (lastToEast, lastToNorth) = (toEast / length, toNorth / length)
        (lastAccuracyDegrees, lastTimeNanoseconds) = (source.accuracyDegrees, source.timeNanoseconds)
        hasLast = true
        return true
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
    }
}

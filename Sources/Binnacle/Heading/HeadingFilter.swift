import Glibc
import SensorGeometry

/// Decides when a heading is told again: when it has turned far enough from the one told last.
///
/// Headings are compared as points of a circle, so that no angle is worked out for those that are not told.
struct HeadingFilter {
    private let leastChordSquared: Double
    private var lastToEast = 0.0
    private var lastToNorth = 0.0
    private var hasLast = false

    /// - Parameter degrees: How far the heading has to turn, from 0 to 180.
    init(degrees: Double) {
        let chord = 2 * sin(degrees / 2 * .pi / 180)
        leastChordSquared = chord * chord
    }

    /// Takes the heading of a sample.
    ///
    /// - Parameter pointing: An axis that has a heading.
    /// - Returns: Whether it is to be told: it is the first one, or far enough from the one told last.
    mutating func take(_ pointing: HeadingFinder.Pointing) -> Bool {
        let (toEast, toNorth) = pointing.attitude.components(of: pointing.axis)
        let length = (toEast * toEast + toNorth * toNorth).squareRoot()
        let (east, north) = (toEast / length - lastToEast, toNorth / length - lastToNorth)
        guard !hasLast || east * east + north * north >= leastChordSquared else { return false }
        (lastToEast, lastToNorth) = (toEast / length, toNorth / length)
        hasLast = true
        return true
    }

    /// Makes the next heading the first one again.
    mutating func reset() {
        hasLast = false
    }
}

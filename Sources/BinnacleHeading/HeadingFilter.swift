import Glibc
import SensorGeometry

/// Decides when a heading is reported again: when it differs enough from the one reported before, or by ``FigureChanges``.
///
/// Headings are compared as points of a circle, so that no angle is worked out for those that are not told.
struct HeadingFilter {
    private let leastChordSquared: Double
    private var lastToEast = 0.0
    private var lastToNorth = 0.0
    private var hasLast = false
    private var figures = FigureChanges()

    /// - Parameter degrees: How far the heading has to turn, from 0 to 180.
    init(degrees: Double) {
        let chord = 2 * sin(degrees / 2 * .pi / 180)
        leastChordSquared = chord * chord
    }

    /// Takes the valid heading of a sample; returns whether it is to be told, as the first one or because it differs enough
    /// from the one reported before.
    mutating func update(_ source: HeadingHold.Source) -> Bool {
        figures.follow(
            SIMD2(source.accuracyDegrees, 0), rate: source.turnRateDegrees.map { Vector3($0, 0, 0) },
            at: source.timeNanoseconds)
        let (toEast, toNorth) = source.pointing.attitude.components(of: source.pointing.axis)
        let length = (toEast * toEast + toNorth * toNorth).squareRoot()
        let (east, north) = (toEast / length - lastToEast, toNorth / length - lastToNorth)
        guard !hasLast || east * east + north * north >= leastChordSquared || figures.areOther else { return false }
        (lastToEast, lastToNorth) = (toEast / length, toNorth / length)
        figures.report()
        hasLast = true
        return true
    }

    /// Makes the next heading the first one again.
    mutating func reset() {
        hasLast = false
        figures.reset()
    }
}

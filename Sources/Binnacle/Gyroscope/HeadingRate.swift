package import SensorGeometry

/// How fast the heading of an axis grows, clockwise, while its body turns; `nil` for an axis that is nearly vertical.
///
/// With the upward part s of an axis a, its heading ψ has ψ' = −ω·u + s (ω·a − s ω·u) / (1 − s²). A roll about an axis that is not level
/// has a part about the vertical, which is no turn of the heading: the second term takes it away.
///
/// - Parameters:
///   - axis: A unit vector in the body's axes.
///   - up: The vertical there, as a unit vector.
///   - rate: The rate of turn ω about the body's axes, in any unit.
/// - Returns: The rate of the heading, in that unit.
package func headingRate(of axis: Vector3, up: Vector3, rate: Vector3) -> Double? {
    let (rise, aboutVertical) = (dot(axis, up), dot(rate, up))
    let level = 1 - rise * rise
    // A tenth of a degree.
    guard level > 3e-6 else { return nil }
    return rise * (dot(rate, axis) - rise * aboutVertical) / level - aboutVertical
}

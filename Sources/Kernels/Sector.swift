import CKernels

/// A sector of headings around a bearing, and the axis of the device whose heading is compared.
///
/// Inside within the tolerance of the bearing, outside beyond the exit angle, unchanged in between.
package struct Sector: Sendable {
    let rays: ck_sector

    /// Creates a sector.
    ///
    /// - Parameters:
    ///   - axis: The axis: 0 for x, 1 for y, 2 for z.
    ///   - isReversed: Whether the heading of the axis' other end is compared.
    ///   - bearingDegrees: The middle, clockwise from magnetic north.
    ///   - toleranceDegrees: The deviation up to which a heading is *inside*.
    ///   - exitDegrees: The deviation from which a heading is *outside*.
    /// - Precondition: `0 < toleranceDegrees`, `toleranceDegrees <= exitDegrees` and `exitDegrees < 180`.
    package init(
        axis: Int, isReversed: Bool, bearingDegrees: Double, toleranceDegrees: Double, exitDegrees: Double
    ) {
        precondition((0..<3).contains(axis), "there is no axis \(axis)")
        precondition(
            toleranceDegrees > 0 && toleranceDegrees <= exitDegrees && exitDegrees < 180,
            "a sector of \(toleranceDegrees)° that is left at \(exitDegrees)°")
        rays = ck_make_sector(
            Int32(axis), isReversed ? 1 : 0, bearingDegrees, toleranceDegrees, exitDegrees)
    }

    /// Smaller margins change nothing: both vectors are so short that the fourth powers underflow.
    static let leastMargin = CK_LEAST_MARGIN

    /// The axes in cyclic order, starting with the sector's own.
    var order: (Int, Int, Int) {
        let axis = Int(rays.axis)
        return (axis, (axis + 1) % 3, (axis + 2) % 3)
    }

    /// How far the axis is inside: positive inside, negative outside; only the sign is meaningful.
    ///
    /// With the axis u, `e = u·(m × a)` and `n = u·(m(a·a) − a(a·m))`, in which the squares of the axis' own component
    /// cancel, the heading is `atan2(e·√(a·a), n)`. The sign of `e·√(a·a)·cos α − n·sin α` is the side of the ray at α;
    /// squares that keep their signs compare the same without the root.
    ///
    /// The acceleration and the field are in the sector's order. One that overflowed, whose sign is not meaningful, is NaN.
    @inline(__always)
    func margin(_ a: (Float, Float, Float), _ m: (Float, Float, Float), _ rays: ck_rays) -> Float {
        let flat = a.1 * a.1 + a.2 * a.2
        let along = a.1 * m.1 + a.2 * m.2
        let north = m.0 * flat - a.0 * along
        let east = m.1 * a.2 - m.2 * a.1
        let square = flat + a.0 * a.0
        let norths = north * north.magnitude
        let margin: Float
        if self.rays.is_symmetric != 0 {
            // The factor is 1 or −1, and changes no bit but the sign.
            margin = norths * rays.north.0 - east * east * square * rays.east.0
        } else {
            let easts = east * east.magnitude * square
            let right = norths * rays.north.0 - easts * rays.east.0
            let left = norths * rays.north.1 - easts * rays.east.1
            margin = (right < left ? right : left) * rays.sign
        }
        return margin + (margin - margin)
    }
}

import CKernels

/// The three axes of a vector quantity as columns, valid during a call of a kernel.
package struct AxisColumns {
    /// First axis.
    package let x: UnsafePointer<Float>
    /// Second axis.
    package let y: UnsafePointer<Float>
    /// Third axis.
    package let z: UnsafePointer<Float>

    /// Combines three columns, which reach at least to the end of the kernel's range.
    package init(x: UnsafePointer<Float>, y: UnsafePointer<Float>, z: UnsafePointer<Float>) {
        self.x = x
        self.y = y
        self.z = z
    }

    subscript(axis: Int) -> UnsafePointer<Float> { axis == 0 ? x : axis == 1 ? y : z }
}

/// Finds where an axis of the device enters and leaves a sector of headings, without an arc tangent and a square root.
///
/// Specific force and the magnetic field may have any unit. A sample that has a NaN, parallel vectors, or lengths whose product
/// `|a|⁴·|m|²` is outside the range of Float (10⁻³⁰ to 10³⁸), is on neither side and changes nothing. At the limits the result is
/// as exact as Float. At most 2³² − 1 samples are compared.
///
/// `isFacing` is whether the axis is in the sector before the range, and receives the side after it; rising `crossings` lead into
/// the sector. All forms of the kernel give the same.
package func findFacing(
    acceleration: AxisColumns, field: AxisColumns, range: Range<Int>, sector: Sector,
    isFacing: inout Bool, crossings: inout CrossingList, using instructionSet: InstructionSet = .current
) {
    let (a, m, start) = (acceleration, field, range.lowerBound)
    let (u, v, w) = sector.order
    func margin(_ index: Int, _ rays: ck_rays) -> Float {
        let i = start + index
        return sector.margin((a[u][i], a[v][i], a[w][i]), (m[u][i], m[v][i], m[w][i]), rays)
    }
    let limit = Threshold(high: Sector.leastMargin, low: -Sector.leastMargin)
    findCrossings(
        range.count, limit, &isFacing, &crossings, instructionSet,
        rising: { margin($0, sector.rays.enter) }, falling: { margin($0, sector.rays.leave) }
    ) { forms, side, list in
        var rays = sector.rays
        return forms.crossings_facing(
            a.x + start, a.y + start, a.z + start, m.x + start, m.y + start, m.z + start, range.count, &rays, side,
            list)
    }
}

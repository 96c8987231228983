import CKernels

/// The three axes of a vector quantity as columns, for a kernel; not to be kept.
package struct AxisColumns {
    /// First axis.
    package let x: UnsafePointer<Float>
    /// Second axis.
    package let y: UnsafePointer<Float>
    /// Third axis.
    package let z: UnsafePointer<Float>

    /// Puts three columns together, which reach at least to the end of the range that a kernel is given with them.
    package init(x: UnsafePointer<Float>, y: UnsafePointer<Float>, z: UnsafePointer<Float>) {
        self.x = x
        self.y = y
        self.z = z
    }

    subscript(axis: Int) -> UnsafePointer<Float> { axis == 0 ? x : axis == 1 ? y : z }
}

/// Finds where an axis of the device turns into a sector of headings, and out of it, without an arc tangent and without a
/// root; the side reached is carried to the next range.
///
/// A sample with a NaN in it, with both vectors parallel, or with lengths whose product `|a|⁴·|m|²` leaves what Float can
/// hold (from 10⁻³⁰ to 10³⁸), is on neither side and changes nothing. At the limits the answer is as exact as Float.
///
/// - Parameters:
///   - acceleration: Specific force, in any unit.
///   - field: The magnetic field, in any unit.
///   - range: The samples to look at, at most 2³² − 1.
///   - sector: The headings, and the axis.
///   - isFacing: Whether the axis points into the sector before the range; after it when the function returns.
///   - crossings: Holds the crossings in the range when the function returns; the rising ones lead into the sector.
///   - instructionSet: Which form of the kernel to use; all give the same.
package func findFacing(
    acceleration: AxisColumns, field: AxisColumns, range: Range<Int>, sector: Sector,
    isFacing: inout Bool, crossings: inout CrossingList, using instructionSet: InstructionSet = .current
) {
    let wasFacing = isFacing
    let limit = Threshold(high: Sector.leastMargin, low: -Sector.leastMargin)
    crossings.fill(forSamples: range.count, isInside: &isFacing) { list in
        switch instructionSet {
        case .scalar:
            let measure = FacingMeasure(sector, acceleration, field, range.lowerBound)
            return settleOneByOne(measure, range.count, limit, wasFacing, list)
        case .baseline:
            let measure = FacingMeasure(sector, acceleration, field, range.lowerBound)
            return settleInBlocks(measure, range.count, limit, wasFacing, list)
        default:
            var rays = sector.rays
            var side: UInt64 = wasFacing ? 1 : 0
            let (a, m, start) = (acceleration, field, range.lowerBound)
            let (ax, ay, az) = (a.x + start, a.y + start, a.z + start)
            let (mx, my, mz) = (m.x + start, m.y + start, m.z + start)
            #if arch(x86_64)
                let count =
                    instructionSet == .avx512
                    ? ck_crossings_facing_avx512(ax, ay, az, mx, my, mz, range.count, &rays, &side, list)
                    : ck_crossings_facing_avx2(ax, ay, az, mx, my, mz, range.count, &rays, &side, list)
            #elseif arch(arm64)
                let count = ck_crossings_facing_neon(ax, ay, az, mx, my, mz, range.count, &rays, &side, list)
            #else
                preconditionFailure("\(instructionSet) is not an instruction set of this architecture")
            #endif
            return (count, side != 0)
        }
    }
}

/// The margins of an axis in a sector.
private struct FacingMeasure: Measure {
    let sector: Sector
    /// The axes of acceleration and field in the sector's order.
    let a: (UnsafePointer<Float>, UnsafePointer<Float>, UnsafePointer<Float>)
    let m: (UnsafePointer<Float>, UnsafePointer<Float>, UnsafePointer<Float>)

    init(_ sector: Sector, _ acceleration: AxisColumns, _ field: AxisColumns, _ start: Int) {
        let (u, v, w) = sector.order
        self.sector = sector
        a = (acceleration[u] + start, acceleration[v] + start, acceleration[w] + start)
        m = (field[u] + start, field[v] + start, field[w] + start)
    }

    @inline(__always)
    func one(_ index: Int) -> Float { one(index, sector.rays.enter) }

    @inline(__always)
    func four(_ index: Int) -> SIMD4<Float> { four(index, sector.rays.enter) }

    @inline(__always)
    func oneFalling(_ index: Int) -> Float { one(index, sector.rays.leave) }

    @inline(__always)
    func fourFalling(_ index: Int) -> SIMD4<Float> { four(index, sector.rays.leave) }

    @inline(__always)
    private func one(_ index: Int, _ rays: ck_rays) -> Float {
        sector.margin(
            (a.0[index], a.1[index], a.2[index]), (m.0[index], m.1[index], m.2[index]), rays
        ).onlyFinite
    }

    @inline(__always)
    private func four(_ index: Int, _ rays: ck_rays) -> SIMD4<Float> {
        sector.margin(
            (load(a.0 + index), load(a.1 + index), load(a.2 + index)),
            (load(m.0 + index), load(m.1 + index), load(m.2 + index)), rays
        ).onlyFinite
    }
}

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
/// A sample that has a NaN, parallel vectors, or lengths whose product `|a|⁴·|m|²` is outside the range of Float (10⁻³⁰
/// to
/// 10³⁸), is on neither side and changes nothing. At the limits the result is as exact as Float.
///
/// - Parameters:
///   - acceleration: Specific force, in any unit.
///   - field: The magnetic field, in any unit.
///   - range: The samples, at most 2³² − 1.
///   - sector: The headings, and the axis.
///   - isFacing: Whether the axis is in the sector before the range; receives the side after it.
///   - crossings: Receives the crossings in the range; the rising ones lead into the sector.
///   - instructionSet: The form of the kernel; all give the same.
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
            return crossingsOneByOne(measure, range.count, limit, wasFacing, list)
        case .baseline:
            let measure = FacingMeasure(sector, acceleration, field, range.lowerBound)
            return crossingsInBlocks(measure, range.count, limit, wasFacing, list)
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
            (Quad.load(a.0 + index), Quad.load(a.1 + index), Quad.load(a.2 + index)),
            (Quad.load(m.0 + index), Quad.load(m.1 + index), Quad.load(m.2 + index)), rays
        ).onlyFinite
    }
}

/// Separates gravity from movement: for each sample the squared user acceleration and the squared total acceleration.
///
/// Gravity is the low-pass filtered acceleration, including the sample itself: `user²[i] = |a[i] − g[i]|²` and
/// `total²[i] = |a[i]|²`, both in the square of the samples' unit.
///
/// A sample that is not finite, or whose square is not, leaves the filter unchanged and gives NaN in both results; no
/// comparison with a threshold holds for it.
///
/// - Parameters:
///   - times: Stamps in nanoseconds, never decreasing, without a gap in the range.
///   - x: First axis.
///   - y: Second axis.
///   - z: Third axis.
///   - range: The samples; all five buffers reach at least to its end.
///   - gravity: The filter, whose state goes on from block to block.
///   - userSquared: Receives |a − g|² at the same indices.
///   - totalSquared: Receives |a|² at the same indices.
///   - instructionSet: The form of the kernel; all give the same bits.
package func separateGravity(
    times: UnsafePointer<Int64>, x: UnsafePointer<Float>, y: UnsafePointer<Float>, z: UnsafePointer<Float>,
    range: Range<Int>, gravity: inout OnePoleFilter,
    userSquared: UnsafeMutablePointer<Float>, totalSquared: UnsafeMutablePointer<Float>,
    using instructionSet: InstructionSet = .current
) {
    let columns = GravityColumns(
        times: times, x: x, y: y, z: z, userSquared: userSquared, totalSquared: totalSquared)
    #if arch(x86_64)
        if instructionSet >= .avx2, let segments = GravitySegments(columns, range, gravity) {
            segments.separate(&gravity)
            return
        }
    #endif
    if instructionSet == .scalar {
        columns.separate(range, &gravity)
    } else {
        columns.separateInFours(range, &gravity)
    }
}

/// The inputs and outputs of ``separateGravity(times:x:y:z:range:gravity:userSquared:totalSquared:using:)``.
struct GravityColumns {
    let times: UnsafePointer<Int64>
    let x: UnsafePointer<Float>
    let y: UnsafePointer<Float>
    let z: UnsafePointer<Float>
    let userSquared: UnsafeMutablePointer<Float>
    let totalSquared: UnsafeMutablePointer<Float>

    /// The reference: one sample after the other.
    func separate(_ range: Range<Int>, _ gravity: inout OnePoleFilter) {
        var filter = gravity
        for i in range {
            let sample = SIMD3(x[i], y[i], z[i])
            let total = squaredLength(sample)
            // False for NaN too, so one comparison keeps everything unusable out of the filter.
            guard total < .infinity else {
                userSquared[i] = .nan
                totalSquared[i] = .nan
                continue
            }
            filter.step(sample, timeNanoseconds: times[i])
            userSquared[i] = squaredLength(sample - filter.value)
            totalSquared[i] = total
        }
        gravity = filter
    }

    /// Four samples at a time: only three steps depend on the previous sample; coefficients and squares are computed in
    /// parallel.
    func separateInFours(_ range: Range<Int>, _ gravity: inout OnePoleFilter) {
        var start = range.lowerBound
        // Distances are computed from the previous stamp in the column, which has to be the filter's last one.
        repeat {
            let end = min(start + 4, range.upperBound)
            separate(start..<end, &gravity)
            start = end
            if start < range.upperBound, gravity.lastTimeNanoseconds == times[start - 1] {
                start = separateUsableFours(start..<range.upperBound, &gravity)
            }
        } while start < range.upperBound
    }

    /// Filters groups of four, up to an unusable sample, a repeated stamp, or seconds between two; returns the first
    /// one left.
    private func separateUsableFours(_ range: Range<Int>, _ gravity: inout OnePoleFilter) -> Int {
        let timeConstant = gravity.timeConstantSeconds
        var value = SIMD4(gravity.value, 0)
        var i = range.lowerBound
        while i &+ 4 <= range.upperBound {
            let (x, y, z) = (Quad.load(x + i), Quad.load(y + i), Quad.load(z + i))
            let total = x * x + y * y + z * z
            // Stamps do not decrease: if the distance of the ends is below 2³¹, each distance between fits into 32 bits.
            let length = UInt64(bitPattern: times[i &+ 3] &- times[i &- 1])
            let distances = Quad.load(times + i) &- Quad.load(times + (i &- 1))
            let low = unsafeBitCast(distances, to: SIMD8<Int32>.self).evenHalf
            guard all(total .< .infinity), length >> 31 == 0, all((low &- 1) .>= 0) else { break }
            let dtSeconds = Quad.floats(low) * 1e-9
            let coefficient = dtSeconds / (timeConstant + dtSeconds)
            @inline(__always)
            func step(_ lane: Int) -> SIMD4<Float> {
                let sample = SIMD4(x[lane], y[lane], z[lane], 0)
                value += (sample - value) * SIMD4(repeating: coefficient[lane])
                return sample - value
            }
            let (a, b, c, d) = (step(0), step(1), step(2), step(3))
            let (ux, uy, uz) = (SIMD4(a.x, b.x, c.x, d.x), SIMD4(a.y, b.y, c.y, d.y), SIMD4(a.z, b.z, c.z, d.z))
            Quad.store(ux * ux + uy * uy + uz * uz, at: userSquared + i)
            Quad.store(total, at: totalSquared + i)
            i &+= 4
        }
        gravity = OnePoleFilter(
            timeConstantSeconds: timeConstant, value: SIMD3(value.x, value.y, value.z),
            lastTimeNanoseconds: times[i - 1])
        return i
    }
}

/// The squared length of a vector, added in a fixed order so that every instruction set gives the same bits.
@inlinable
package func squaredLength(_ v: SIMD3<Float>) -> Float {
    v.x * v.x + v.y * v.y + v.z * v.z
}

import CKernels

/// Separates gravity from movement: for each sample the squared user acceleration and the squared total acceleration.
///
/// Gravity is the low-pass filtered acceleration, including the sample itself: `user²[i] = |a[i] − g[i]|²` and
/// `total²[i] = |a[i]|²`, both in the square of the samples' unit.
///
/// A sample that is not finite, or whose square is not, leaves the filter unchanged and gives NaN in both results; no
/// comparison with a threshold holds for it.
///
/// The stamps are in nanoseconds, never decrease, and have no gap in the range, to whose end all buffers reach. The filter's
/// state is carried from block to block. All forms of the kernel give the same bits.
package func separateGravity(
    times: UnsafePointer<Int64>, x: UnsafePointer<Float>, y: UnsafePointer<Float>, z: UnsafePointer<Float>,
    range: Range<Int>, gravity: inout GravityFilter,
    userSquared: UnsafeMutablePointer<Float>, totalSquared: UnsafeMutablePointer<Float>,
    using instructionSet: InstructionSet = .current
) {
    let columns = GravityColumns(
        times: times, x: x, y: y, z: z, userSquared: userSquared, totalSquared: totalSquared)
    if instructionSet == .scalar {
        columns.separate(range, &gravity)
    } else {
        columns.separate(range, &gravity, inRunsBy: instructionSet)
    }
}

/// The inputs and outputs of ``separateGravity(times:x:y:z:range:gravity:userSquared:totalSquared:using:)``.
private struct GravityColumns {
    let times: UnsafePointer<Int64>
    let x: UnsafePointer<Float>
    let y: UnsafePointer<Float>
    let z: UnsafePointer<Float>
    let userSquared: UnsafeMutablePointer<Float>
    let totalSquared: UnsafeMutablePointer<Float>

    @inline(__always)
    private func sample(_ i: Int) -> SIMD3<Float> { SIMD3(x[i], y[i], z[i]) }

    /// Filters one sample, and returns whether it is usable.
    @inline(__always)
    private func separate(_ i: Int, _ gravity: inout GravityFilter) -> Bool {
        let total = squaredLength(sample(i))
        // False for NaN too, so one comparison keeps everything unusable out of the filter.
        guard total < .infinity else {
            userSquared[i] = .nan
            totalSquared[i] = .nan
            return false
        }
        userSquared[i] = squaredLength(gravity.step(sample(i), timeNanoseconds: times[i]))
        totalSquared[i] = total
        return true
    }

    func separate(_ range: Range<Int>, _ gravity: inout GravityFilter) {
        var filter = gravity
        for i in range { _ = separate(i, &filter) }
        gravity = filter
    }

    /// Filters whole runs in C if possible, and single samples otherwise.
    func separate(_ range: Range<Int>, _ gravity: inout GravityFilter, inRunsBy instructionSet: InstructionSet) {
        var filter = gravity
        var i = range.lowerBound
        while i < range.upperBound {
            let isUsable = separate(i, &filter)
            i &+= 1
            // The first difference of a run is to the previous sample in the columns.
            guard isUsable, filter.isBetweenRuns else { continue }
            #if arch(x86_64)
                if instructionSet >= .avx2 {
                    i = separateRuns(i..<range.upperBound, &filter, ck_gravity_runs_avx2)
                }
            #endif
            i = separateRuns(i..<range.upperBound, &filter, ck_gravity_runs_baseline)
        }
        gravity = filter
    }

    private typealias Runs = (
        UnsafePointer<Int64>, UnsafePointer<Float>, UnsafePointer<Float>, UnsafePointer<Float>, Int, Float,
        UnsafeMutablePointer<Float>, UnsafeMutablePointer<Float>, UnsafeMutablePointer<Float>
    ) -> Int

    /// Filters runs from the beginning of a range, and returns the index after them.
    @inline(__always)
    private func separateRuns(_ range: Range<Int>, _ gravity: inout GravityFilter, _ filterRuns: Runs) -> Int {
        // Without a time constant a repeated stamp gives 0/0.
        guard range.count >= GravityFilter.runLength, gravity.timeConstantSeconds > 0 else { return range.lowerBound }
        let i = range.lowerBound
        var user = SIMD4(gravity.start, 0)
        let count = withUnsafeMutablePointer(to: &user) { user in
            user.withMemoryRebound(to: Float.self, capacity: 4) { user in
                filterRuns(
                    times + i, x + i, y + i, z + i, range.count, gravity.timeConstantSeconds, user, userSquared + i,
                    totalSquared + i)
            }
        }
        guard count > 0 else { return i }
        let last = i + count - 1
        gravity.didFilterRuns(
            user: SIMD3(user.x, user.y, user.z), sample: sample(last), timeNanoseconds: times[last])
        return last + 1
    }
}

/// The squared length of a vector, added in a fixed order so that every instruction set gives the same bits.
@inlinable
package func squaredLength(_ v: SIMD3<Float>) -> Float {
    v.x * v.x + v.y * v.y + v.z * v.z
}

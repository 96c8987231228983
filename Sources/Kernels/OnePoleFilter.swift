/// A one-pole low-pass filter over three axes whose step follows the samples' own time distance.
///
/// With the time constant τ and the distance dt to the previous sample, the value moves towards the sample by
/// `dt / (τ + dt)`, which is `value = α·value + (1 − α)·sample` with α = τ / (τ + dt). Irregular sample times
/// therefore need no resampling.
package struct OnePoleFilter: Sendable {
    /// The filtered value, in the unit of the samples.
    package private(set) var value: SIMD3<Float> = .zero
    /// The stamp of the last sample taken, in nanoseconds; `nil` before the first one.
    package private(set) var lastTimeNanoseconds: Int64?
    /// The time constant τ in seconds.
    package let timeConstantSeconds: Float

    /// Creates a filter that holds no sample yet.
    ///
    /// - Parameter timeConstantSeconds: τ, at least 0; 0 passes every sample through unchanged.
    package init(timeConstantSeconds: Float) {
        self.timeConstantSeconds = timeConstantSeconds
    }

    /// Creates a filter in the middle of its work.
    init(timeConstantSeconds: Float, value: SIMD3<Float>, lastTimeNanoseconds: Int64) {
        self.timeConstantSeconds = timeConstantSeconds
        self.value = value
        self.lastTimeNanoseconds = lastTimeNanoseconds
    }

    /// Takes one sample; the first one becomes the value.
    ///
    /// - Parameters:
    ///   - sample: Three finite axes. A caller keeps NaN and infinity out, because they would never leave again.
    ///   - timeNanoseconds: The sample's stamp, not before the previous one's. A repeated stamp changes nothing.
    @inline(__always)
    package mutating func step(_ sample: SIMD3<Float>, timeNanoseconds: Int64) {
        guard let last = lastTimeNanoseconds else {
            value = sample
            lastTimeNanoseconds = timeNanoseconds
            return
        }
        // Wrapping, because a hostile trace may put two stamps further apart than Int64 can say; such a pair is a
        // gap and resets the filter before it comes here.
        let dtSeconds = Float(timeNanoseconds &- last) * 1e-9
        lastTimeNanoseconds = timeNanoseconds
        guard dtSeconds > 0 else { return }
        value += (sample - value) * (dtSeconds / (timeConstantSeconds + dtSeconds))
    }

    /// Whether two filters are in the same state to the last bit, so that the same samples give the same bits from here on.
    func isSame(as other: OnePoleFilter) -> Bool {
        lastTimeNanoseconds == other.lastTimeNanoseconds
            && value.x.bitPattern == other.value.x.bitPattern && value.y.bitPattern == other.value.y.bitPattern
            && value.z.bitPattern == other.value.z.bitPattern
    }

    /// Forgets every sample.
    package mutating func reset() {
        value = .zero
        lastTimeNanoseconds = nil
    }
}

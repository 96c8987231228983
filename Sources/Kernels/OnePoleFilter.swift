/// A one-pole low-pass filter over three axes, whose step depends on the distance of the stamps.
///
/// With the time constant τ and the distance dt to the previous sample, the value moves towards the sample by
/// `dt / (τ + dt)`, which is `value = α·value + (1 − α)·sample` with α = τ / (τ + dt). Irregular stamps therefore need
/// no resampling.
package struct OnePoleFilter: Sendable {
    /// The filtered value, in the unit of the samples.
    package private(set) var value: SIMD3<Float> = .zero
    /// The stamp of the last sample, in nanoseconds; `nil` before the first one.
    package private(set) var lastTimeNanoseconds: Int64?
    package let timeConstantSeconds: Float

    /// Creates a filter without a sample; a time constant of 0 passes every sample through unchanged.
    package init(timeConstantSeconds: Float) {
        self.timeConstantSeconds = timeConstantSeconds
    }

    /// Filters one sample; the first one becomes the value.
    ///
    /// The axes are finite, because NaN or infinity would stay in the filter forever. The stamp is not before the previous one; a
    /// repeated stamp changes nothing.
    @inline(__always)
    package mutating func step(_ sample: SIMD3<Float>, timeNanoseconds: Int64) {
        guard let last = lastTimeNanoseconds else {
            value = sample
            lastTimeNanoseconds = timeNanoseconds
            return
        }
        // Wrapping, because the stamps of a hostile trace may be further apart than Int64 can represent; the caller treats them
        // as a gap and resets the filter first.
        let dtSeconds = Float(timeNanoseconds &- last) * 1e-9
        lastTimeNanoseconds = timeNanoseconds
        guard dtSeconds > 0 else { return }
        value += (sample - value) * (dtSeconds / (timeConstantSeconds + dtSeconds))
    }

    /// Removes the state.
    package mutating func reset() {
        value = .zero
        lastTimeNanoseconds = nil
    }
}

import Binnacle
import Kernels

/// A vector smoothed by a detector's time constant, and how it was in the last tenth of a second.
///
/// In a turn the smoothed vector lags behind. The difference shows how far.
struct SmoothedVector {
    /// The smoothed value, in the unit of the samples.
    var value: SIMD3<Float> { filter.value }
    /// The value without the lag of the smoothing, in the unit of the samples.
    ///
    /// The noise cancels out in a tenth of a second, and with a longer time constant the lag would lag itself.
    var recent: SIMD3<Float> { filter.value + lag.value }
    /// The smoothed length of the samples; in a turn the smoothed value is shorter, as the mean of several directions.
    var length: Float { lengths.value.x }
    /// The stamp of the last sample, in nanoseconds; `nil` before the first one.
    var lastTimeNanoseconds: Int64? { filter.lastTimeNanoseconds }

    private let gapLimitNanoseconds: Int64
    private var filter: OnePoleFilter
    /// Smooths what smoothing removes.
    private var lag: OnePoleFilter
    /// Smooths the length, in the first component.
    private var lengths: OnePoleFilter

    init(settings: NorthSettings) {
        gapLimitNanoseconds = Units.nanoseconds(settings.gapLimit)
        filter = OnePoleFilter(timeConstantSeconds: Float(settings.smoothing / .seconds(1)))
        lengths = filter
        lag = OnePoleFilter(timeConstantSeconds: Float(min(settings.smoothing, .milliseconds(100)) / .seconds(1)))
    }

    /// Takes a sample; one that is not finite is left out.
    ///
    /// - Returns: Whether the filter started again, because this is the first sample, or the previous one was too long ago, or its
    ///   stamp was later.
    mutating func update(_ sample: SIMD3<Float>, timeNanoseconds: Int64) -> Bool {
        guard squaredLength(sample) < .infinity else { return false }
        let startsAnew =
            lastTimeNanoseconds.map {
                timeNanoseconds < $0 || isGap(from: $0, to: timeNanoseconds, limit: gapLimitNanoseconds)
            } ?? true
        if startsAnew { reset() }
        filter.step(sample, timeNanoseconds: timeNanoseconds)
        lag.step(sample - filter.value, timeNanoseconds: timeNanoseconds)
        lengths.step(SIMD3(squaredLength(sample).squareRoot(), 0, 0), timeNanoseconds: timeNanoseconds)
        return startsAnew
    }

    /// Adds a constant to what was smoothed, as if it had been added to each sample.
    mutating func shift(by change: SIMD3<Float>) {
        guard let time = lastTimeNanoseconds else { return }
        let shiftedLength = Self.length(length, of: value, shiftedBy: change)
        let shifted = value + change
        filter.reset()
        lengths.reset()
        filter.step(shifted, timeNanoseconds: time)
        lengths.step(SIMD3(shiftedLength, 0, 0), timeNanoseconds: time)
    }

    /// The mean length of vectors to each of which a constant is added; the mean of vectors is not longer than that.
    static func length(_ length: Float, of mean: SIMD3<Float>, shiftedBy change: SIMD3<Float>) -> Float {
        let shifted = squaredLength(mean + change).squareRoot()
        return max(shifted, length + shifted - squaredLength(mean).squareRoot())
    }

    private mutating func reset() {
        filter.reset()
        lag.reset()
        lengths.reset()
    }
}

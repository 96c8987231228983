import Glibc

/// The steps of second-order Butterworth low-pass filters with one time constant that take their samples together.
///
/// The filter is y″ + (2/τ)y′ + (2/τ²)(y − x) = 0, with the cut-off frequency √2/(2πτ). A step is its exact solution for an
/// input that stays at the sample, so that stamps may come irregularly. For the first τ seconds the output is the plain mean
/// of the samples.
@usableFromInline package struct LowPassClock {
    let timeConstantSeconds: Double
    /// The weight of a sample in the mean; 0 once the filter runs.
    @usableFromInline private(set) var meanWeight = 0.0
    /// The factors of a step: y += a·(y − x) + b·y′, y′ = c·y′ − d·(y − x).
    @usableFromInline private(set) var a = 0.0
    @usableFromInline private(set) var b = 0.0
    @usableFromInline private(set) var c = 0.0
    @usableFromInline private(set) var d = 0.0
    private var count = 0.0
    private var elapsedSeconds = 0.0
    private var stepSeconds = -1.0
    private var isMean = true

    @usableFromInline init(timeConstantSeconds: Double) {
        self.timeConstantSeconds = timeConstantSeconds
    }

    /// Takes the time since the last sample; that of the first one does not count.
    @usableFromInline mutating func advance(_ seconds: Double) {
        guard isMean else {
            if seconds != stepSeconds { prepare(seconds) }
            meanWeight = 0
            return
        }
        if count > 0 { elapsedSeconds += seconds }
        count += 1
        meanWeight = 1 / count
        isMean = count < 2 || elapsedSeconds + seconds < timeConstantSeconds
    }

    @usableFromInline mutating func reset() {
        self = LowPassClock(timeConstantSeconds: timeConstantSeconds)
    }

    private mutating func prepare(_ seconds: Double) {
        stepSeconds = seconds
        let t = seconds / timeConstantSeconds
        // With C = e^−t·cos t and S = e^−t·sin t: the sum C + S − 1, S, and the difference C − S.
        let (sum, s, difference): (Double, Double, Double)
        if t < 0.1 {
            // The series, because C + S − 1 is the small difference of large numbers; the next terms are below 10⁻¹¹.
            let t2 = t * t
            let t4 = t2 * t2
            sum = t2 * (-1 + t * (2.0 / 3) - t2 / 6 + t4 / 90 - t4 * t / 315)
            s = t - t2 + t2 * t / 3 - t4 * t / 30 + t4 * t2 / 90 - t4 * t2 * t / 630
            difference = 1 - 2 * t + t2 - t4 / 6 + t4 * t / 15 - t4 * t2 / 90
        } else {
            let decay = exp(-t)
            let cosine = decay * cos(t)
            s = decay * sin(t)
            (sum, difference) = (cosine + s - 1, cosine - s)
        }
        a = sum
        b = s * timeConstantSeconds
        c = difference
        d = 2 / timeConstantSeconds * s
    }
}

/// What such a filter makes of one vector.
@usableFromInline package struct LowPassState<Value: SIMD> where Value.Scalar == Double {
    @usableFromInline package var value = Value.zero
    @usableFromInline var slope = Value.zero

    /// Creates a filter without a sample.
    @inlinable init() {}

    /// Takes a sample, for which the clock has advanced.
    @inlinable @inline(__always)
    mutating func update(_ sample: Value, _ clock: LowPassClock) {
        let difference = value - sample
        guard clock.meanWeight == 0 else {
            value -= difference * clock.meanWeight
            return
        }
        value += difference * clock.a + slope * clock.b
        slope = slope * clock.c - difference * clock.d
    }
}

/// One such filter with a clock of its own.
@usableFromInline package struct LowPass<Value: SIMD> where Value.Scalar == Double {
    @usableFromInline var clock: LowPassClock
    @usableFromInline var state = LowPassState<Value>()

    @inlinable package init(timeConstantSeconds: Double) {
        clock = LowPassClock(timeConstantSeconds: timeConstantSeconds)
    }

    @inlinable package var value: Value { state.value }

    @inlinable @inline(__always)
    package mutating func update(_ sample: Value, seconds: Double) {
        clock.advance(seconds)
        state.update(sample, clock)
    }

    @inlinable package mutating func reset() {
        clock.reset()
        state = LowPassState()
    }
}

/// The share by which a one-pole filter goes to a sample: 1 − e^(−dt/τ).
package struct ExponentialGain {
    let timeConstantSeconds: Double
    private var stepSeconds = 0.0
    /// The gain of the last step.
    private var gain = 0.0

    package init(timeConstantSeconds: Double) {
        self.timeConstantSeconds = timeConstantSeconds
    }

    package mutating func update(_ seconds: Double) -> Double {
        guard seconds != stepSeconds else { return gain }
        stepSeconds = seconds
        let t = seconds / timeConstantSeconds
        gain = t < 0.01 ? t * (1 - t / 2 * (1 - t / 3 * (1 - t / 4))) : -expm1(-t)
        return gain
    }
}

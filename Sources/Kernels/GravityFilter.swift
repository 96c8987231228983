/// The user acceleration of samples: what remains after subtracting gravity, which a low-pass filter follows.
///
/// With the time constant τ and the distance dt to the previous sample, gravity moves towards a sample a by dt / (τ + dt).
/// Therefore the user acceleration u = a − gravity follows from the difference Δa to the previous sample, with the factor f = 1 −
/// dt / (τ + dt) = τ / (τ + dt):
///
///     u ← (u + Δa) · f
///
/// Until τ has passed, the time between the first and the previous sample is in the place of τ: gravity is the mean of the samples
/// after the first one. A chip that was just switched on may give zeros or an old value first, which would be left in gravity for long.
///
/// This is computed in runs of four samples, counted from the first one. Within a run u is `share · start + part`: `start` is u
/// at the end of the previous run, `share` the product of the factors since, and `part` the value of u for `start` = 0. Per four
/// samples only one multiplication and one addition depend on earlier samples; all else can be computed in parallel. Runs do not
/// depend on the division into deliveries, so every form and every division gives the same bits.
package struct GravityFilter: Sendable, Equatable {
    package let timeConstantSeconds: Float
    /// The stamp of the last sample, in nanoseconds; `nil` before the first one.
    private(set) var lastTimeNanoseconds: Int64?
    /// The stamp of the first sample, until a time constant has passed since.
    private var firstTimeNanoseconds: Int64?
    private var last: SIMD3<Float> = .zero
    /// The number of samples in the run so far.
    private var runCount = 0
    /// The user acceleration at the end of the previous run.
    private(set) var start: SIMD3<Float> = .zero
    private var part: SIMD3<Float> = .zero
    private var share: Float = 1

    static let runLength = 4

    /// Creates a filter without a sample; with a time constant of 0 there is no user acceleration.
    package init(timeConstantSeconds: Float) {
        self.timeConstantSeconds = timeConstantSeconds
    }

    /// Whether the next sample is the first one of a run, and no run needs the time since the first sample.
    var isBetweenRuns: Bool { runCount == 0 && lastTimeNanoseconds != nil && firstTimeNanoseconds == nil }

    /// Filters one sample, and returns the user acceleration in the unit of the samples, which is zero for the first one.
    ///
    /// The axes are finite, because NaN or infinity would stay in the filter forever. The stamp is not before the previous one; a
    /// repeated stamp does not move gravity.
    @inline(__always)
    mutating func step(_ sample: SIMD3<Float>, timeNanoseconds: Int64) -> SIMD3<Float> {
        guard let lastTimeNanoseconds else {
            last = sample
            lastTimeNanoseconds = timeNanoseconds
            firstTimeNanoseconds = timeNanoseconds
            return .zero
        }
        // Wrapping, because the stamps of a hostile trace may be further apart than Int64 can represent; the caller treats them
        // as a gap and resets the filter first.
        let dtSeconds = Float(timeNanoseconds &- lastTimeNanoseconds) * 1e-9
        let factor = 1 - (dtSeconds > 0 ? dtSeconds / (memorySeconds(at: lastTimeNanoseconds) + dtSeconds) : 0)
        part = (part + (sample - last)) * factor
        share *= factor
        let user = share * start + part
        last = sample
        self.lastTimeNanoseconds = timeNanoseconds
        runCount &+= 1
        if runCount == Self.runLength { endRun(user) }
        return user
    }

    /// What is in the place of the time constant after a sample, in seconds.
    @inline(__always)
    private mutating func memorySeconds(at timeNanoseconds: Int64) -> Float {
        guard let firstTimeNanoseconds else { return timeConstantSeconds }
        let age = Float(timeNanoseconds &- firstTimeNanoseconds) * 1e-9
        // False also where the distance has wrapped.
        if age >= 0, age < timeConstantSeconds { return age }
        self.firstTimeNanoseconds = nil
        return timeConstantSeconds
    }

    private mutating func endRun(_ user: SIMD3<Float>) {
        start = user
        part = .zero
        share = 1
        runCount = 0
    }

    /// Continues after whole runs filtered elsewhere, with the last sample and its user acceleration.
    mutating func didFilterRuns(user: SIMD3<Float>, sample: SIMD3<Float>, timeNanoseconds: Int64) {
        endRun(user)
        last = sample
        lastTimeNanoseconds = timeNanoseconds
    }

    /// Removes the state.
    package mutating func reset() {
        self = GravityFilter(timeConstantSeconds: timeConstantSeconds)
    }
}

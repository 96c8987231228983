import Kernels

/// Finds single, double and triple taps in the samples of an accelerometer.
///
/// A tap is an impulse of a few milliseconds with calm before and after it: hands that type, steps and a rough road give
/// impulses as well, and no calm. The accelerometer should be read at 400 Hz; below 200 Hz impulses fall between samples.
package final class TapDetector: DetectorCore<TapSettings>, SampleWiseDetector {
    package static let kind = "tap"

    private var finder: TapFinder
    private var quietest = QuietestSecond()
    private var latest: Finding?

    package init(name: String, accelerometer: SampleStream?, settings: TapSettings) {
        finder = TapFinder(settings)
        super.init(name: name, streams: [accelerometer], settings: settings)
    }

    package func reset() {
        interrupt()
        latest = nil
    }

    /// Forgets the calm before, and taps that could become more.
    package func interrupt() { finder.interrupt() }

    var isReplaced: Bool { settings.watch != .samples && streams.first?.sensor.chipReports.contains(.taps) == true }

    func find(_ sample: SIMD3<Float>, at time: Int64) -> Finding? {
        let found = finder.update(sample, at: time)
        quietest.add(finder.impulseG, at: time)
        guard let taps = found else { return nil }
        latest = Finding(
            .tap, at: time,
            [
                .count: .integer(Int64(taps.count)), .axis: .word(taps.axis),
                .sign: .integer(taps.axis.isReversed ? -1 : 1), .onset: .integer(taps.firstNanoseconds),
            ], numbers: [.peak: Double(taps.greatestG)])
        return latest
    }

    func find(_ phase: SampleRest.Phase) -> Finding? {
        guard settings.watch != .samples, case .reported(.taps, let count, let onset) = phase,
            count <= settings.mostTaps
        else { return nil }
        latest = Finding(
            .tap, at: notBeforeSamples(onset),
            [.count: .integer(Int64(count)), .onset: .integer(onset), .source: .word(EventSource.chip)])
        return latest
    }
}

extension TapDetector {
    private static let impulse = "impulse_g"

    package var state: String? { finder.isCalm.map { $0 ? "calm" : "disturbed" } }
    package var figures: [Figure] { latest.map { [.count, .axis, .peak].figures(of: $0) } ?? [] }
    package var limits: [LiveValues.Limit] {
        [LiveValues.Limit("tap", of: Self.impulse, begin: Float(settings.thresholdG), isAlwaysShown: true)]
    }
    package var sampledValues: [SampledValue] { [SampledValue(name: Self.impulse, place: .row(0))] }
    var row: SIMD4<Float> { SIMD4(finder.impulseG, .nan, .nan, .nan) }
    package var lanes: [Lane] { [Lane("impulse, \(name)", "g", ["impulse": Self.impulse])] }
    package var assumptions: [Assumption] {
        guard let noise = quietest.meanG, noise > TapFinder.mostNoiseG else { return [] }
        let name = name
        @Sendable func text(_ g: Float) -> String { "\(Figure.Value.number(Double(g), decimals: 3)) g" }
        return [
            Assumption(
                subject: name,
                text:
                    "\(name): the samples vary by \(text(noise)) in the quietest second, by the chip's noise or its steps: taps are "
                    + "missed or counted wrong from \(text(TapFinder.mostNoiseG)) on; a smaller range or a filter of the chip may help"
            )
        ]
    }
}

/// How much the samples vary where nothing happens.
private struct QuietestSecond {
    /// The least mean distance of a second, in g; `nil` before ten of them.
    var meanG: Float? { count < 10 ? nil : least }
    private var least = Float.infinity
    private var count = 0
    private var (sum, sampleCount, startNanoseconds) = (Float(0), Float(0), Int64.min)

    mutating func add(_ distanceG: Float, at time: Int64) {
        if isGap(from: startNanoseconds, to: time, limit: 1_000_000_000) {
            if sampleCount > 1 {
                least = min(least, sum / sampleCount)
                count += 1
            }
            (sum, sampleCount, startNanoseconds) = (0, 0, time)
        }
        (sum, sampleCount) = (sum + distanceG, sampleCount + 1)
    }
}

/// Counts impulses between times of calm, sample by sample.
///
/// An impulse is what rises above the straight line that continues the acceleration of the last milliseconds, and falls to half of
/// its peak soon. That line is 2a′ − a″ for the mean a′ that follows the acceleration a and the mean a″ that follows a′, so
/// what is compared is a − 2a′ + a″: a high-pass of second order at 27 Hz, where a walk and a hand have little. The rule of
/// calm before and after is that of ChromiumOS EC (common/gesture.c); here calm is relative to the taps, so that a knock on a
/// running machine counts and a key beside it does not. Heels and keys strike with calm between them: so the impulses of the
/// last seconds that were no taps may not be stronger together than the tap by more than half.
private struct TapFinder {
    /// From the sample before an impulse to the one where it is over: longer, at less than 40 Hz, there is none.
    private static let longestPulseNanoseconds: Int64 = 50_000_000
    /// How long a device rings after an impulse, which is not looked at; at low rates some samples long.
    private static let ringNanoseconds: ClosedRange<Int64> = 50_000_000...80_000_000
    private static let ringIntervals: Float = 5.5
    /// Samples count as noise when no impulse has followed them for this time; before that they may be its begin.
    private static let riseNanoseconds: Int64 = 5_000_000
    /// Nothing is known of a longer time without a sample.
    private static let gapNanoseconds: Int64 = 200_000_000
    /// The time constant of the means, in seconds, and in intervals of samples where these are longer.
    private static let referenceSeconds: Float = 0.006
    private static let referenceIntervals: Float = 2.4
    /// Always calm below it, in g: noise of the accelerometer, and light keys beside it.
    private static let noiseG: Float = 0.08
    /// The mean distance of noise whose peaks are as great.
    static let mostNoiseG = noiseG / 4
    /// From here on, in g, or from a lower threshold, what is no tap counts among the disturbances.
    private static let impulseG: Float = 0.1
    /// The time constant with which disturbances are forgotten, and the greatest ratio of their sum to a tap.
    private static let disturbance: (seconds: Float, ratio: Float) = (3, 1.5)

    private let settings: TapSettings
    private let thresholdG: Float
    private let levelSeconds: Float

    private struct Impulse {
        let startNanoseconds: Int64
        var peakNanoseconds: Int64
        var peakG: Float
        var vector: SIMD3<Float>
    }

    struct Taps {
        /// That along which the first tap accelerated the device most, and to which side.
        let axis: DeviceAxis
        let firstNanoseconds: Int64
        /// Above it an impulse is a further tap; below it there is calm.
        let laterG: Float
        var lastNanoseconds: Int64
        var count = 1
        /// The greatest acceleration beside what was measured before.
        var greatestG: Float
    }

    private var lastNanoseconds: Int64?
    /// The means a′ and a″.
    private var (mean, slowMean) = (SIMD3<Float>.zero, SIMD3<Float>.zero)
    /// The mean time from sample to sample, in seconds.
    private var intervalSeconds: Float = 0
    /// How far the sample lies from the line, in g.
    private(set) var impulseG: Float = 0
    /// The greatest distance of late, which fades; at the begin there is no calm.
    private var levelG: Float = 1
    /// The sum of the impulses that were no taps, which fades more slowly.
    private var disturbancesG: Float = 0
    /// The greatest distances of the last two times of ``riseNanoseconds``.
    private var recentG: (now: Float, before: Float) = (0, 0)
    private var recentNanoseconds: Int64 = 0
    /// The last sample that belongs to no impulse.
    private var calmNanoseconds: Int64 = 0
    private var impulse: Impulse?
    private var taps: Taps?
    private var ringEndNanoseconds: Int64 = 0

    init(_ settings: TapSettings) {
        self.settings = settings
        thresholdG = Float(settings.thresholdG)
        // A level fades to 1/7 in two time constants: then an equal peak finds calm.
        levelSeconds = Float(Units.seconds(settings.quiet)) / 2
    }

    /// Whether the level is that of noise; `nil` before the first sample.
    var isCalm: Bool? { lastNanoseconds == nil ? nil : levelG <= Self.noiseG }

    /// Forgets everything: what follows has to be calm first.
    mutating func interrupt() { lastNanoseconds = nil }

    /// Looks at a sample in m/s²; returns what it decides.
    mutating func update(_ sample: SIMD3<Float>, at time: Int64) -> Taps? {
        let accelerationG = sample / Units.standardGravity
        guard let last = lastNanoseconds, time >= last, time <= Units.later(last, by: Self.gapNanoseconds) else {
            begin(at: accelerationG, time)
            return nil
        }
        let seconds = Float(time - last) * 1e-9
        let vector = accelerationG - 2 * mean + slowMean
        let distance = (vector * vector).sum().squareRoot()
        // Values that are no numbers must not stay in the means.
        guard distance.isFinite else { return nil }
        lastNanoseconds = time
        impulseG = distance
        intervalSeconds += (intervalSeconds > 0 ? 0.05 : 1) * (seconds - intervalSeconds)
        disturbancesG -= disturbancesG * seconds / (Self.disturbance.seconds + seconds)
        if impulse != nil { return follow(distance, vector, accelerationG, at: time) }
        let isRinging = time < ringEndNanoseconds
        if !isRinging, distance > taps?.laterG ?? min(Self.impulseG, thresholdG) {
            impulse = Impulse(startNanoseconds: calmNanoseconds, peakNanoseconds: time, peakG: distance, vector: vector)
            recentG = (0, 0)
            recentNanoseconds = time
            return nil
        }
        advance(to: accelerationG, seconds)
        calmNanoseconds = time
        guard !isRinging else { return nil }
        levelG -= levelG * seconds / (levelSeconds + seconds)
        return settle(distance, at: time)
    }

    private mutating func begin(at accelerationG: SIMD3<Float>, _ time: Int64) {
        self = TapFinder(settings)
        let start = (accelerationG * accelerationG).sum().isFinite ? accelerationG : .zero
        (mean, slowMean) = (start, start)
        (lastNanoseconds, calmNanoseconds, recentNanoseconds, ringEndNanoseconds) = (time, time, time, time)
    }

    private mutating func advance(to accelerationG: SIMD3<Float>, _ seconds: Float) {
        let constant = max(Self.referenceSeconds, Self.referenceIntervals * intervalSeconds)
        let share = seconds / (constant + seconds)
        mean += (accelerationG - mean) * share
        slowMean += (mean - slowMean) * share
    }

    private var ringNanoseconds: Int64 {
        let time = Int64(1e9 * Self.ringIntervals * intervalSeconds)
        return min(Self.ringNanoseconds.upperBound, max(Self.ringNanoseconds.lowerBound, time))
    }

    /// The longest impulse of 8 ms, and the samples around it.
    private var pulseNanoseconds: Int64 {
        min(Self.longestPulseNanoseconds, 8_000_000 + Int64(3e9 * intervalSeconds))
    }

    /// Looks for the end of an impulse.
    private mutating func follow(
        _ distance: Float, _ vector: SIMD3<Float>, _ accelerationG: SIMD3<Float>, at time: Int64
    ) -> Taps? {
        guard var found = impulse.take() else { return nil }
        let isShort = time - found.startNanoseconds <= pulseNanoseconds
        if distance > found.peakG {
            (found.peakG, found.peakNanoseconds, found.vector) = (distance, time, vector)
        }
        guard distance * 2 <= found.peakG || !isShort else {
            impulse = found
            return nil
        }
        calmNanoseconds = time
        if isShort { return add(found) }
        // The device moves on from here, and not along the line.
        (mean, slowMean) = (accelerationG, accelerationG)
        disturb(found.peakG)
        return nil
    }

    private mutating func add(_ found: Impulse) -> Taps? {
        let peakG = found.peakG
        // It fades from the last tap on, whether more of them are waited for or not.
        defer { levelG = max(levelG, peakG) }
        guard var taps else {
            guard peakG > thresholdG, levelG <= max(Self.noiseG, Float(settings.calmShare) * peakG),
                disturbancesG <= Self.disturbance.ratio * peakG
            else {
                disturb(peakG)
                return nil
            }
            ringEndNanoseconds = Units.later(found.peakNanoseconds, by: ringNanoseconds)
            // Beside keys a further tap is as strong as what is no calm; where nothing strikes, it may be missed by the samples.
            self.taps = Taps(
                axis: DeviceAxis(greatestOf: found.vector), firstNanoseconds: found.peakNanoseconds,
                laterG: max(Self.noiseG, min(Float(settings.calmShare) * peakG, disturbancesG)),
                lastNanoseconds: found.peakNanoseconds, greatestG: peakG)
            return settings.mostTaps == 1 ? self.taps.take() : nil
        }
        let isBounce = found.peakNanoseconds - taps.lastNanoseconds < Units.nanoseconds(settings.bounce)
        ringEndNanoseconds = Units.later(found.peakNanoseconds, by: ringNanoseconds)
        taps.count += 1
        taps.lastNanoseconds = found.peakNanoseconds
        taps.greatestG = max(taps.greatestG, peakG)
        self.taps = taps
        if isBounce || taps.count > settings.mostTaps { disturb(taps.greatestG) }
        return nil
    }

    /// Looks at a sample without an impulse: taps end by time.
    private mutating func settle(_ distance: Float, at time: Int64) -> Taps? {
        recentG.now = max(recentG.now, distance)
        if time - recentNanoseconds > Self.riseNanoseconds {
            levelG = max(levelG, recentG.before)
            recentG = (0, recentG.now)
            recentNanoseconds = time
        }
        guard let taps, time - taps.lastNanoseconds > Units.nanoseconds(settings.double) else { return nil }
        return self.taps.take()
    }

    /// Nothing of it was a tap, and the next one needs calm.
    private mutating func disturb(_ peakG: Float) {
        levelG = max(levelG, peakG)
        disturbancesG += peakG
        taps = nil
    }
}

extension DeviceAxis {
    /// The axis along which a vector is longest.
    fileprivate init(greatestOf vector: SIMD3<Float>) {
        let lengths = [-vector.z, vector.z, -vector.y, vector.y, -vector.x, vector.x]
        self = zip(Self.allCases.reversed(), lengths).max { $0.1 < $1.1 }?.0 ?? .plusZ
    }
}

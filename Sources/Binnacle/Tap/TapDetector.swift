/// Finds single, double and triple taps in the samples of an accelerometer.
///
/// A tap is an impulse of a few milliseconds with calm before and after it: hands that type, steps and a rough road give
/// impulses as well, and no calm. The accelerometer should be read at 400 Hz; below 200 Hz impulses fall between samples.
package final class TapDetector: AccelerometerDetector {
    package static let kind = "tap"
    package let name: String
    /// The stream of the accelerometer, where there is one.
    package let streams: [SampleStream]
    package weak var delegate: (any DetectorDelegate)?
    package var isDetecting = false
    package private(set) var position = SamplePosition(timeNanoseconds: 0, streamIndex: 0, sampleIndex: 0)
    /// The acceleration at each sample, for what is drawn.
    package let rows: MeasuredRows? = MeasuredRows()

    private let settings: TapSettings
    private var finder: TapFinder
    private var latest: TapEvent?

    /// Creates a detector that does not detect yet; without an accelerometer, a start tells *device not available*.
    ///
    /// - Precondition: ``TapSettings/problems()`` finds none.
    package init(name: String = "tap", accelerometer: SampleStream?, settings: TapSettings = TapSettings()) {
        settings.requireValid()
        self.name = name
        self.settings = settings
        streams = [accelerometer].compactMap { $0 }
        finder = TapFinder(settings)
    }

    package func reset() {
        interrupt()
        latest = nil
    }

    /// Forgets the calm before, and taps that could become more.
    package func interrupt() { finder.interrupt() }

    /// Looks at the samples of the accelerometer and tells the delegate what they mean.
    package func process(_ delivery: SampleDelivery) {
        rows?.removeAll()
        guard isDetecting, let id = streams.first?.id, let place = delivery.index(of: id) else { return }
        if delivery.hidesTime(of: id) { finder.interrupt() }
        if settings.watch != .samples { takeTaps(of: delivery, id, at: place) }
        let columns = delivery.batches[place].columns
        // The chip looks for them.
        if settings.watch != .samples, streams.first?.sensor.reportsTaps == true {
            finder.interrupt()
            return
        }
        for index in 0..<columns.count {
            let time = columns.times[index]
            let found = finder.update(columns.vector(index), at: time)
            rows?.append(time, SIMD4(finder.impulseG, .nan, .nan, .nan))
            guard let found else { continue }
            position = columns.position(of: index, at: place)
            latest = found
            delegate?.collect(.tap, self, found)
        }
    }

    /// Reports what the chip has found itself, behind the samples that were looked at before.
    private func takeTaps(of delivery: SampleDelivery, _ stream: StreamID, at place: Int) {
        for case .tapped(let count, let onset) in delivery.rests.filter({ $0.stream == stream }).map(\.phase)
        where count <= settings.mostTaps {
            let time = max(onset, streams.first?.sensor.lastTimeNanoseconds ?? onset)
            let found = TapEvent(
                count: count, axis: nil, peakG: nil, onsetNanoseconds: onset, timeNanoseconds: time, source: .chip)
            position = SamplePosition(timeNanoseconds: time, streamIndex: place, sampleIndex: -1)
            latest = found
            delegate?.collect(.tap, self, found)
        }
    }
}

/// What the detector shows.
extension TapDetector {
    private static let impulse = "impulse_g"

    package var state: String? { finder.isCalm.map { $0 ? "calm" : "disturbed" } }
    package var figures: [Figure] { latest.map { [.count, .axis, .peak].figures(of: $0) } ?? [] }
    package var limits: [LiveValues.Limit] {
        [LiveValues.Limit("tap", of: Self.impulse, begin: Float(settings.thresholdG), isAlwaysShown: true)]
    }
    package var sampledValues: [SampledValue] { [SampledValue(name: Self.impulse, place: .row(0))] }
    package var lanes: [Lane] { [Lane("impulse, \(name)", "g", curve: "impulse", of: Self.impulse)] }
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
    /// From here on, in g, or from a lower threshold, what is no tap counts among the disturbances.
    private static let impulseG: Float = 0.1
    /// The time constant with which disturbances are forgotten, and the greatest ratio of their sum to a tap.
    private static let disturbance: (seconds: Float, ratio: Float) = (3, 1.5)

    private let thresholdG: Float
    private let calmShare: Float
    private let mostTaps: Int
    private let doubleNanoseconds: Int64
    private let bounceNanoseconds: Int64
    private let levelSeconds: Float

    private struct Impulse {
        let startNanoseconds: Int64
        var peakNanoseconds: Int64
        var peakG: Float
        var vector: SIMD3<Float>
    }

    private struct Taps {
        let axis: DeviceAxis
        let firstNanoseconds: Int64
        /// Above it an impulse is a further tap; below it there is calm.
        let laterG: Float
        var lastNanoseconds: Int64
        var count = 1
        var greatestG: Float
    }

    private var lastNanoseconds: Int64?
    /// The means a′ and a″.
    private var (mean, slowMean) = (SIMD3<Float>.zero, SIMD3<Float>.zero)
    /// The mean time from sample to sample, in seconds.
    private var intervalSeconds: Float = 0
    /// How far the sample lies from the line, in g.
    private(set) var impulseG: Float = 0
    /// The greatest distance of late, which fades.
    private var levelG: Float = 0
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
        thresholdG = Float(settings.thresholdG)
        calmShare = Float(settings.calmShare)
        mostTaps = settings.mostTaps
        doubleNanoseconds = Units.nanoseconds(settings.double)
        bounceNanoseconds = Units.nanoseconds(settings.bounce)
        // A level fades to 1/7 in two time constants: then an equal peak finds calm.
        levelSeconds = Float(Units.seconds(settings.quiet)) / 2
    }

    /// Whether the level is that of noise; `nil` before the first sample.
    var isCalm: Bool? { lastNanoseconds == nil ? nil : levelG <= Self.noiseG }

    /// Forgets everything: what follows has to be calm first.
    mutating func interrupt() { lastNanoseconds = nil }

    /// Looks at a sample in m/s²; returns what it decides.
    mutating func update(_ sample: SIMD3<Float>, at time: Int64) -> TapEvent? {
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
        guard time >= ringEndNanoseconds else {
            calmNanoseconds = time
            advance(to: accelerationG, seconds)
            return nil
        }
        if distance > taps?.laterG ?? min(Self.impulseG, thresholdG) {
            impulse = Impulse(startNanoseconds: calmNanoseconds, peakNanoseconds: time, peakG: distance, vector: vector)
            recentG = (0, 0)
            recentNanoseconds = time
            return nil
        }
        advance(to: accelerationG, seconds)
        calmNanoseconds = time
        levelG -= levelG * seconds / (levelSeconds + seconds)
        return settle(distance, at: time)
    }

    private mutating func begin(at accelerationG: SIMD3<Float>, _ time: Int64) {
        rest(at: (accelerationG * accelerationG).sum().isFinite ? accelerationG : .zero)
        intervalSeconds = 0
        (levelG, disturbancesG) = (1, 0)
        recentG = (0, 0)
        (lastNanoseconds, calmNanoseconds, recentNanoseconds) = (time, time, time)
        impulse = nil
        taps = nil
        ringEndNanoseconds = time
        impulseG = 0
    }

    private mutating func rest(at accelerationG: SIMD3<Float>) { (mean, slowMean) = (accelerationG, accelerationG) }

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

    private func isCalm(_ level: Float, beside peak: Float) -> Bool { level <= max(Self.noiseG, calmShare * peak) }

    /// Looks for the end of an impulse.
    private mutating func follow(
        _ distance: Float, _ vector: SIMD3<Float>, _ accelerationG: SIMD3<Float>, at time: Int64
    ) -> TapEvent? {
        guard var found = impulse else { return nil }
        impulse = nil
        let isShort = time - found.startNanoseconds <= pulseNanoseconds
        if distance > found.peakG {
            found.peakG = distance
            found.peakNanoseconds = time
            found.vector = vector
        }
        guard isShort else {
            calmNanoseconds = time
            // The device moves on from here, and not along the line.
            rest(at: accelerationG)
            disturb(found.peakG)
            return nil
        }
        guard distance * 2 <= found.peakG else {
            impulse = found
            return nil
        }
        calmNanoseconds = time
        return add(found, at: time)
    }

    private mutating func add(_ found: Impulse, at time: Int64) -> TapEvent? {
        let peakG = found.peakG
        guard var taps else {
            guard peakG > thresholdG, isCalm(levelG, beside: peakG), disturbancesG <= Self.disturbance.ratio * peakG
            else {
                disturb(peakG)
                return nil
            }
            ringEndNanoseconds = Units.later(found.peakNanoseconds, by: ringNanoseconds)
            // Beside keys a further tap is as strong as what is no calm; where nothing strikes, it may be missed by the samples.
            self.taps = Taps(
                axis: DeviceAxis(greatestOf: found.vector), firstNanoseconds: found.peakNanoseconds,
                laterG: max(Self.noiseG, min(calmShare * peakG, disturbancesG)), lastNanoseconds: found.peakNanoseconds,
                greatestG: peakG)
            return mostTaps == 1 ? finish(at: time) : nil
        }
        let isBounce = found.peakNanoseconds - taps.lastNanoseconds < bounceNanoseconds
        ringEndNanoseconds = Units.later(found.peakNanoseconds, by: ringNanoseconds)
        taps.count += 1
        taps.lastNanoseconds = found.peakNanoseconds
        taps.greatestG = max(taps.greatestG, peakG)
        self.taps = taps
        if isBounce || taps.count > mostTaps { disturb(taps.greatestG) }
        return nil
    }

    /// Looks at a sample without an impulse: taps end by time.
    private mutating func settle(_ distance: Float, at time: Int64) -> TapEvent? {
        recentG.now = max(recentG.now, distance)
        if time - recentNanoseconds > Self.riseNanoseconds {
            levelG = max(levelG, recentG.before)
            recentG = (0, recentG.now)
            recentNanoseconds = time
        }
        guard let taps, time - taps.lastNanoseconds > doubleNanoseconds else { return nil }
        return finish(at: time)
    }

    /// Nothing of it was a tap, and the next one needs calm.
    private mutating func disturb(_ peakG: Float) {
        levelG = max(levelG, peakG)
        disturbancesG += peakG
        taps = nil
    }

    private mutating func finish(at time: Int64) -> TapEvent? {
        guard let taps else { return nil }
        self.taps = nil
        levelG = max(levelG, taps.greatestG)
        return TapEvent(
            count: taps.count, axis: taps.axis, peakG: Double(taps.greatestG), onsetNanoseconds: taps.firstNanoseconds,
            timeNanoseconds: time)
    }
}

extension DeviceAxis {
    /// The axis along which a vector is longest.
    fileprivate init(greatestOf vector: SIMD3<Float>) {
        let lengths = SIMD3(abs(vector.x), abs(vector.y), abs(vector.z))
        if lengths.z >= max(lengths.x, lengths.y) {
            self = vector.z < 0 ? .minusZ : .plusZ
        } else if lengths.y >= lengths.x {
            self = vector.y < 0 ? .minusY : .plusY
        } else {
            self = vector.x < 0 ? .minusX : .plusX
        }
    }
}

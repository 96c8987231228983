package import PlainText

/// Counts the steps of the person who carries the accelerometer.
///
/// A walk begins after some regular steps, which its first event brings. Whatever swings as regularly from 1 to 3 Hz is
/// counted, too: a machine, a swing, a rocking boat at its berth.
package final class StepDetector: DetectorCore<StepSettings>, SampleWiseDetector {
    package static let kind = "steps"
    /// The number of steps since the detector was made, or its count reset; a daemon keeps it over a restart.
    package private(set) var total: Int64 = 0
    private var finder: StepFinder

    package init(name: String, accelerometer: SampleStream?, settings: StepSettings) {
        finder = StepFinder(settings)
        super.init(name: name, streams: [accelerometer], settings: settings)
    }

    /// Stands again; steps that were too few for a walk are not counted.
    package func interrupt() { finder.interrupt() }

    var isReplaced: Bool { settings.watch != .samples && streams.first?.sensor.chipReports.contains(.steps) == true }

    @inline(__always)
    func find(_ sample: SIMD3<Float>, at time: Int64) -> Finding? {
        let count = finder.update((sample * sample).sum().squareRoot() / Units.standardGravity, at: time)
        return count > 0 ? add(count, at: time, cadence: finder.cadence) : nil
    }

    func find(_ phase: SampleRest.Phase) -> Finding? {
        guard settings.watch != .samples, case .reported(.steps, let count, let time) = phase else { return nil }
        return add(count, at: notBeforeSamples(time), source: .chip)
    }

    @inline(never)
    private func add(_ count: Int, at time: Int64, cadence: Double? = nil, source: EventSource? = nil) -> Finding {
        total += Int64(count)
        return Finding(
            .step, at: time,
            [.count: .integer(Int64(count)), .total: .integer(total), .source: source.map(Figure.Value.word)],
            numbers: [.cadence: cadence])
    }
}

extension StepDetector {
    private static let names = (swing: "swing_g", level: "swing_rms_g")

    package var state: String? { finder.isWalking ? "walking" : "standing" }
    package var isActive: Bool { finder.isWalking }
    package var figures: [Figure] {
        [Figure(.total, .integer(total))]
            + (finder.isWalking ? [Figure(.cadence, Figure.Name.cadence.number(finder.cadence))] : [])
    }
    package var limits: [LiveValues.Limit] {
        [
            LiveValues.Limit(
                "walk", of: Self.names.level, begin: Float(settings.thresholdG), end: Float(settings.thresholdG) / 3,
                isAlwaysShown: true)
        ]
    }
    package var sampledValues: [SampledValue] {
        [SampledValue(name: Self.names.swing, place: .row(0)), SampledValue(name: Self.names.level, place: .row(1))]
    }
    var row: SIMD4<Float> { SIMD4(finder.swingG, finder.rootMeanSquareG, .nan, .nan) }
    package var lanes: [Lane] {
        [
            Lane(title: "steps \(name)", states: [Lane.States(name: Lane.States.state)]),
            Lane("swing, \(name)", "g", ["swing": Self.names.swing, "rms": Self.names.level]),
        ]
    }

    /// The count, which outlives a restart of the daemon.
    package var learned: String? { "{\"steps\":\(total)}" }

    package func recall(_ learned: JSONValue) -> Bool {
        // No larger count of a file is continued: it would be at its end soon.
        guard let count = learned["steps"]?.integer, (0...1 << 53).contains(count) else { return false }
        total = count
        return true
    }

    package func resetKept() -> Bool {
        total = 0
        return true
    }
}

/// Counts the swings of the total acceleration, on a grid of its own, so that every sampling rate gives the same count.
///
/// The total acceleration, joined by lines, is averaged over bins of 40 ms and filtered there. A swing rises from its valley
/// and falls from its peak by more than a limit. Some that are regular, alike and strong enough begin a walk; it ends when no
/// swing comes for 1.5 s, or when they are weaker than a third of what began it.
private struct StepFinder {
    private static let binNanoseconds: Int64 = 40_000_000
    /// Nothing is known of a longer time without a sample.
    private static let gapNanoseconds: Int64 = 1_000_000_000
    /// No step follows sooner: 214 a minute, above every run.
    private static let soonestNanoseconds: Int64 = 280_000_000
    private static let latestNanoseconds: Int64 = 1_500_000_000
    /// The least height of a swing, in g, and the least share of the usual one.
    private static let least: (g: Float, share: Float) = (0.05, 0.2)
    /// How unequal the swings that begin a walk may be, and the greatest deviation of their intervals from the mean.
    private static let likeness: (heights: Float, intervals: Double) = (4, 0.17)
    /// The weight of a bin in the mean of squares: a time constant of 2 s.
    private static let meanWeight: Float = 0.04 / 2.04

    private let settings: StepSettings
    private let thresholdG: Float
    private var last: (timeNanoseconds: Int64, g: Float)?
    private var binEndNanoseconds: Int64 = 0
    /// The integral of the bin so far, in g·s.
    private var integral: Double = 0
    private var low = Biquad(
        b: (0.05859663429144089, 0.11719326858288177, 0.05859663429144089), a: (-1.1716950746830759, 0.553380154858317))
    private var high = Biquad(b: (1, -2, 1), a: (-1.740872281322006, 0.7998617544985346))
    private var zeroG: Double = 0
    /// The filtered acceleration of the last bin, in g.
    private(set) var swingG: Float = 0
    private var meanSquare: Float = 0
    private var isRising = true
    private var extremeG: Float = 0
    private var extremeNanoseconds: Int64 = 0
    private var valleyG: Float = 0
    private var usualG: Float = 0
    /// The last swings, as many as begin a walk.
    private var swings: [(timeNanoseconds: Int64, height: Float)] = []
    private(set) var isWalking = false

    init(_ settings: StepSettings) {
        self.settings = settings
        thresholdG = Float(settings.thresholdG)
        swings.reserveCapacity(settings.regularSteps + 1)
    }

    var rootMeanSquareG: Float { meanSquare.squareRoot() }

    /// Steps a minute, over the last ones.
    var cadence: Double {
        guard let first = swings.first, let last = swings.last else { return 0 }
        let seconds = Units.seconds(from: first.timeNanoseconds, to: last.timeNanoseconds)
        return seconds > 0 ? 60 * Double(swings.count - 1) / seconds : 0
    }

    /// Forgets everything but what is counted.
    mutating func interrupt() {
        last = nil
        stand()
    }

    /// Looks at the length of a sample in g; returns how many steps it completes.
    mutating func update(_ lengthG: Float, at time: Int64) -> Int {
        guard lengthG.isFinite else { return 0 }
        guard let last, time >= last.timeNanoseconds, time <= Units.later(last.timeNanoseconds, by: Self.gapNanoseconds)
        else {
            begin(lengthG, at: time)
            return 0
        }
        var count = 0
        var (start, g) = (last.timeNanoseconds, Double(last.g))
        let slope = time == start ? 0 : (Double(lengthG) - g) / Double(time - start)
        while time >= binEndNanoseconds {
            let end = g + slope * Double(binEndNanoseconds - start)
            integral += (g + end) / 2 * Units.seconds(from: start, to: binEndNanoseconds)
            (start, g) = (binEndNanoseconds, end)
            count += addBin(integral / 0.04 - zeroG)
            integral = 0
            binEndNanoseconds = Units.later(binEndNanoseconds, by: Self.binNanoseconds)
            // At the end of the range of stamps there is no further bin.
            if binEndNanoseconds == start { break }
        }
        integral += (g + Double(lengthG)) / 2 * Units.seconds(from: start, to: time)
        self.last = (time, lengthG)
        return count
    }

    private mutating func begin(_ lengthG: Float, at time: Int64) {
        last = (time, lengthG)
        binEndNanoseconds = Units.later(time, by: Self.binNanoseconds)
        integral = 0
        zeroG = Double(lengthG)
        (low.state, high.state) = ((0, 0), (0, 0))
        (swingG, meanSquare, extremeG, valleyG) = (0, 0, 0, 0)
        isRising = true
        extremeNanoseconds = time
        stand()
    }

    private mutating func stand() {
        swings.removeAll(keepingCapacity: true)
        usualG = 0
        isWalking = false
    }

    private mutating func addBin(_ g: Double) -> Int {
        let time = binEndNanoseconds
        swingG = Float(high.filter(low.filter(g)))
        meanSquare += (swingG * swingG - meanSquare) * Self.meanWeight
        if let latest = swings.last?.timeNanoseconds, time - latest > Self.latestNanoseconds { stand() }
        let limit = max(Self.least.g, Self.least.share * usualG)
        guard isRising else {
            extremeG = min(extremeG, swingG)
            if swingG - extremeG > limit {
                isRising = true
                valleyG = extremeG
                (extremeG, extremeNanoseconds) = (swingG, time)
            }
            return 0
        }
        guard swingG <= extremeG else {
            (extremeG, extremeNanoseconds) = (swingG, time)
            return 0
        }
        guard extremeG - swingG > limit else { return 0 }
        isRising = false
        let height = extremeG - valleyG
        extremeG = swingG
        let soonest = swings.last.map { Units.later($0.timeNanoseconds, by: Self.soonestNanoseconds) } ?? .min
        return height > limit && extremeNanoseconds >= soonest ? add(height, at: extremeNanoseconds) : 0
    }

    /// Adds a swing; returns how many steps are known by it.
    private mutating func add(_ height: Float, at time: Int64) -> Int {
        swings.append((time, height))
        if swings.count > settings.regularSteps { swings.removeFirst() }
        usualG = usualG == 0 ? height : usualG + (height - usualG) * 0.2
        if isWalking {
            if rootMeanSquareG >= thresholdG / 3 { return 1 }
            stand()
            return 0
        }
        guard swings.count == settings.regularSteps, rootMeanSquareG >= thresholdG, isRegular else { return 0 }
        isWalking = true
        return settings.regularSteps
    }

    private var isRegular: Bool {
        let heights = swings.lazy.map(\.height)
        guard let first = swings.first, let last = swings.last, let greatest = heights.max(), let least = heights.min(),
            greatest <= Self.likeness.heights * least
        else { return false }
        let mean = Double(last.timeNanoseconds - first.timeNanoseconds) / Double(swings.count - 1)
        let squares = zip(swings, swings.dropFirst()).reduce(0.0) { sum, pair in
            let deviation = Double(pair.1.timeNanoseconds - pair.0.timeNanoseconds) - mean
            return sum + deviation * deviation
        }
        return (squares / Double(swings.count - 1)).squareRoot() <= Self.likeness.intervals * mean
    }
}

/// Half of a Butterworth band-pass of 0.9 to 3.2 Hz at 25 Hz, of the second order to each side (`scipy.signal.butter(2, [0.9, 3.2],
/// "band", fs=25, output="sos")`), in the transposed direct form II.
private struct Biquad {
    let b: (Double, Double, Double)
    let a: (Double, Double)
    var state = (0.0, 0.0)

    mutating func filter(_ x: Double) -> Double {
        let y = b.0 * x + state.0
        state = (b.1 * x - a.0 * y + state.1, b.2 * x - a.1 * y)
        return y
    }
}

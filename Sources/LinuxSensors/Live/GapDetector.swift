/// The distance of two stamps at which nothing is lost.
package struct UsualDistance: Equatable {
    package let nanoseconds: Int64
    package let range: ClosedRange<Int64>

    /// The sum of the deviations of stamps' distances from the usual one, in nanoseconds; `nil` when a distance is unusual.
    ///
    /// `previous` is the stamp before the first one.
    package func deviation(of stamps: UnsafePointer<Int64>, count: Int, after previous: Int64) -> Int64? {
        var deviation: Int64 = 0
        // Negative when a distance is outside the range. Without branches, so that the loop is vectorized.
        var outside: Int64 = 0
        @inline(__always)
        func add(_ distance: Int64) {
            outside |= (distance &- range.lowerBound) | (range.upperBound &- distance)
            let difference = distance &- nanoseconds
            let sign = difference >> 63
            deviation &+= (difference ^ sign) &- sign
        }
        if count > 0 { add(stamps[0] &- previous) }
        if count > 1 { for index in 1..<count { add(stamps[index] &- stamps[index - 1]) } }
        return outside < 0 ? nil : deviation
    }
}

/// Finds gaps in which samples were lost, from the distances of stamps, and learns the usual distance.
///
/// On a busy machine or sensor hub a late sample is usually followed by samples at shorter distances, until they are on time
/// again, and nothing is lost. Therefore a gap is a loss only if the following samples do not catch up. Where most samples come in
/// bursts, only a gap that is longer than any burst reveals a loss.
package struct GapDetector {
    /// Samples that were lost.
    package struct Loss: Equatable {
        package let count: Int
        package let durationSeconds: Double
    }

    /// A gap that may be a loss or a delay.
    private struct OpenGap {
        var nanoseconds = 0.0
        /// The current delay behind the usual rhythm, and its minimum so far.
        var delay = 0.0
        var leastDelay = Double.infinity
        /// The number of samples since then that did not catch up.
        var steadyCount = 0
        /// The number of gaps in a row between which the samples did not catch up substantially.
        var gapCount = 0
        private var delayAtGap = 0.0

        mutating func add(_ gap: Double, _ interval: Double) {
            gapCount = delay > 0.75 * delayAtGap ? gapCount + 1 : 1
            nanoseconds += gap
            delay += gap - interval
            delayAtGap = delay
            leastDelay = delay
            steadyCount = 0
        }

        func loss(_ interval: Double) -> Loss {
            // Both are bounded: a stamp is within a minute of the clock, and every interval is at least a microsecond.
            Loss(count: max(1, Int((leastDelay / interval).rounded())), durationSeconds: nanoseconds * 1e-9)
        }
    }

    /// The samples of a quarter of a second or more: their number, the sum of their distances, and how many came within half of
    /// the mean distance before.
    private struct Window {
        var count = 0
        var nanoseconds = 0.0
        var shortCount = 0

        var isBursty: Bool { 2 * shortCount > count }
    }

    /// The usual distance between two samples, in nanoseconds; `nil` until it is known.
    package private(set) var intervalNanoseconds: Double?
    /// The usual deviation from the usual distance.
    private var jitterNanoseconds = 0.0
    private var distanceCount = 0
    /// The moving share of samples with the previous sample's stamp, from 0 to 1.
    private var equalShare = 0.0
    private var gapsInARow = 0
    private var openGap: OpenGap?
    private var window = Window()
    /// The mean distance in the window before; that of the stated rate in the first one.
    private var meanNanoseconds: Double?
    /// The distance at the rate that the device states; `nil` when it states none.
    private let statedNanoseconds: Double?
    /// Whether most samples come in bursts; the usual distance is the mean then.
    private var isBursty = false
    /// The usual distances since the last learning: how many, their sum, and the sum of their deviations from the usual one.
    private var stride = (count: 0, nanoseconds: Int64(0), deviationNanoseconds: Int64(0))
    /// What the next distances are compared with; `nil` while every one has to be looked at by itself.
    package private(set) var usual: UsualDistance?

    /// The number of distances after which the usual one is known.
    private static let learningCount = 16
    /// This number of gaps in a row means another rate, not losses.
    private static let mostGapsInARow = 4
    /// The number of usual distances after which their mean is learned; fixed, so that the division into reads changes nothing.
    private static let strideCount = 16
    /// The weight of the mean of a stride: that of as many distances with a weight of 1/16 each.
    private static let strideWeight = 0.644
    /// The part of ``equalShare`` that is left after a stride without equal stamps.
    private static let strideDecay = 0.602
    /// The number of samples after a gap that decide about it.
    private static let decidingCount = 16
    /// A gap of a quarter of a second is a loss: no sample is that late.
    private static let certainNanoseconds = 2.5e8
    /// After this number of gaps in a row without catching up, samples are lost.
    private static let mostOpenGaps = 8
    /// From a microsecond, below which samples were stamped in one go, to a thousand seconds.
    private static let intervals = 1e3...1e12

    /// Starts with the device's rate; `nil` when it states none.
    package init(rateHz: Double?) {
        // Other rates are driver errors.
        statedNanoseconds = rateHz.flatMap { $0 > 1e-3 && $0 < 1e6 ? 1e9 / $0 : nil }
        intervalNanoseconds = statedNanoseconds
        meanNanoseconds = statedNanoseconds
    }

    /// Resets the detector, because the device's clock was set.
    package mutating func restart() {
        distanceCount = 0
        openGap = nil
        window = Window()
        stride = (0, 0, 0)
        usual = nil
    }

    /// The number of usual distances that may be added at once.
    package var roomForUsual: Int { usual == nil ? 0 : Self.strideCount - stride.count }

    /// Adds distances that are ``usual``, at most ``roomForUsual`` of them: their number, their sum, and that of their deviations.
    @inline(__always)  // Called for each delivery of one sample.
    package mutating func addUsual(count: Int, nanoseconds: Int64, deviationNanoseconds: Int64) {
        gapsInARow = 0
        stride.count += count
        stride.nanoseconds += nanoseconds
        stride.deviationNanoseconds += deviationNanoseconds
        if stride.count >= Self.strideCount { learnStride() }
    }

    private mutating func learnStride() {
        let count = Double(Self.strideCount)
        if let interval = intervalNanoseconds {
            intervalNanoseconds = interval + (Double(stride.nanoseconds) / count - interval) * Self.strideWeight
            jitterNanoseconds += (Double(stride.deviationNanoseconds) / count - jitterNanoseconds) * Self.strideWeight
        }
        equalShare *= Self.strideDecay
        addToWindow(Self.strideCount, nanoseconds: Double(stride.nanoseconds))
        stride = (0, 0, 0)
        findUsual()
    }

    /// Adds the distance of a sample from the previous one, in nanoseconds and not negative; returns a loss that is now certain.
    package mutating func add(_ gap: Int64) -> Loss? {
        if let usual, usual.range.contains(gap) {
            addUsual(count: 1, nanoseconds: gap, deviationNanoseconds: abs(gap - usual.nanoseconds))
            return nil
        }
        defer { findUsual() }
        return addAlone(Double(gap))
    }

    private mutating func findUsual() {
        usual = nil
        guard let interval = intervalNanoseconds, distanceCount > Self.learningCount, openGap == nil, !isBursty,
            equalShare < 0.3
        else { return }
        let most = min(greatestUsual(interval), 16 * interval, Self.intervals.upperBound)
        let least = Self.intervals.lowerBound
        if most >= least { usual = UsualDistance(nanoseconds: Int64(interval), range: Int64(least)...Int64(most)) }
    }

    private func greatestUsual(_ interval: Double) -> Double { interval + max(0.75 * interval, 6 * jitterNanoseconds) }

    private mutating func addAlone(_ gap: Double) -> Loss? {
        guard let interval = intervalNanoseconds else {
            if gap > 0 { intervalNanoseconds = Self.limited(gap) }
            return nil
        }
        distanceCount += 1
        equalShare += ((gap == 0 ? 1 : 0) - equalShare) / 32
        let isCertain = gap > longestDelay(interval)
        if !isCertain { addToWindow(1, nanoseconds: gap) }
        // If a device stamps samples in one go, their distances do not reveal losses.
        guard equalShare < 0.3 else { return nil }
        if isBursty {
            return isCertain ? Loss(count: Int(gap / interval), durationSeconds: gap * 1e-9) : nil
        }
        // The driver's nominal rate is no evidence of a gap until the rate is learned.
        return addUnusual(
            gap, interval, isGap: distanceCount > Self.learningCount && gap > greatestUsual(interval))
    }

    private func longestDelay(_ interval: Double) -> Double {
        max(Self.certainNanoseconds, Double(Self.learningCount) * interval)
    }

    private mutating func addToWindow(_ count: Int, nanoseconds: Double) {
        window.count += count
        window.nanoseconds += nanoseconds
        if let mean = meanNanoseconds, nanoseconds < 0.5 * mean * Double(count) { window.shortCount += count }
        guard window.count >= Self.learningCount else { return }
        let isComplete = window.nanoseconds >= Self.certainNanoseconds
        if isComplete { meanNanoseconds = window.nanoseconds / Double(window.count) }
        // A device that is much slower than it states loses samples.
        let isSlow = statedNanoseconds.flatMap { stated in meanNanoseconds.map { $0 > 1.5 * stated } } ?? false
        let wasBursty = isBursty
        isBursty = !isSlow && (window.isBursty || (wasBursty && !isComplete))
        if isBursty || wasBursty {
            intervalNanoseconds = meanNanoseconds.map(Self.limited)
            openGap = nil
        }
        if isComplete { window = Window() }
    }

    private mutating func addUnusual(_ gap: Double, _ interval: Double, isGap: Bool) -> Loss? {
        guard isGap else {
            gapsInARow = 0
            // Neither samples that catch up nor samples stamped in one go reveal the usual distance.
            guard openGap == nil else { return settle(gap, interval) }
            guard gap > 0 else { return nil }
            let weight = distanceCount <= Self.learningCount ? 0.25 : 0.0625
            learn(min(gap, 16 * interval), interval, weight: weight)
            intervalNanoseconds = intervalNanoseconds.map(Self.limited)
            return nil
        }
        gapsInARow += 1
        guard gapsInARow < Self.mostGapsInARow else {
            gapsInARow = 0
            restart()
            intervalNanoseconds = min(gap, Self.intervals.upperBound)
            return nil
        }
        var open = openGap ?? OpenGap()
        open.add(gap, interval)
        guard gap > longestDelay(interval) || open.gapCount >= Self.mostOpenGaps else {
            openGap = open
            return nil
        }
        openGap = nil
        return open.loss(interval)
    }

    /// Adds the distance of a sample after a gap.
    private mutating func settle(_ gap: Double, _ interval: Double) -> Loss? {
        guard var open = openGap else { return nil }
        open.delay += gap - interval
        if open.delay < open.leastDelay - 0.25 * interval {
            open.leastDelay = open.delay
            open.steadyCount = 0
        } else {
            open.steadyCount += 1
        }
        let isCaughtUp = open.delay < 0.5 * interval
        let isLoss = !isCaughtUp && open.steadyCount >= Self.decidingCount
        openGap = isCaughtUp || isLoss ? nil : open
        return isLoss ? open.loss(interval) : nil
    }

    private mutating func learn(_ gap: Double, _ interval: Double, weight: Double) {
        jitterNanoseconds += (abs(gap - interval) - jitterNanoseconds) * weight
        intervalNanoseconds = interval + (gap - interval) * weight
    }

    private static func limited(_ interval: Double) -> Double {
        min(max(interval, intervals.lowerBound), intervals.upperBound)
    }
}

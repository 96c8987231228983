/// Finds gaps in which samples were lost, from the distances of stamps, and learns the usual distance.
///
/// On a busy machine or sensor hub a late sample is usually followed by samples at shorter distances, until they are on time
/// again, and nothing is lost. Therefore a gap is a loss only if the following samples do not catch up.
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

    /// The usual distance between two samples, in nanoseconds; `nil` until it is known.
    package private(set) var intervalNanoseconds: Double?
    /// The usual deviation from the usual distance.
    private var jitterNanoseconds = 0.0
    private var distanceCount = 0
    /// The moving share of samples with the previous sample's stamp, from 0 to 1.
    private var equalShare = 0.0
    private var gapsInARow = 0
    private var openGap: OpenGap?

    /// The number of distances after which the usual one is known.
    private static let learningCount = 16
    /// This number of gaps in a row means another rate, not losses.
    private static let mostGapsInARow = 4
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
        if let rateHz, rateHz > 1e-3, rateHz < 1e6 { intervalNanoseconds = 1e9 / rateHz }
    }

    /// Resets the detector, because the device's clock was set.
    package mutating func restart() {
        distanceCount = 0
        openGap = nil
    }

    /// Adds the distance of a sample from the previous one, in nanoseconds and not negative; returns a loss that is now certain.
    @inline(__always)  // Nearly all distances are usual, and a block of them keeps its state in registers.
    package mutating func add(_ gap: Double) -> Loss? {
        guard let interval = intervalNanoseconds else {
            if gap > 0 { intervalNanoseconds = Self.limited(gap) }
            return nil
        }
        distanceCount += 1
        equalShare += ((gap == 0 ? 1 : 0) - equalShare) / 32
        // If a device stamps samples in one go, their distances do not reveal losses.
        guard equalShare < 0.3 else { return nil }
        // The driver's nominal rate is no evidence of a gap until the rate is learned.
        let isGap =
            distanceCount > Self.learningCount && gap > interval + max(0.75 * interval, 6 * jitterNanoseconds)
        if !isGap, openGap == nil, distanceCount > Self.learningCount, gap <= 16 * interval,
            gap >= Self.intervals.lowerBound, gap <= Self.intervals.upperBound
        {
            gapsInARow = 0
            learn(gap, interval, weight: 0.0625)
            return nil
        }
        var detector = self
        defer { self = detector }
        return detector.addUnusual(gap, interval, isGap: isGap)
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
        let isCertain = gap > max(Self.certainNanoseconds, Double(Self.learningCount) * interval)
        guard isCertain || open.gapCount >= Self.mostOpenGaps else {
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

    @inline(__always)
    private mutating func learn(_ gap: Double, _ interval: Double, weight: Double) {
        jitterNanoseconds += (abs(gap - interval) - jitterNanoseconds) * weight
        intervalNanoseconds = interval + (gap - interval) * weight
    }

    private static func limited(_ interval: Double) -> Double {
        min(max(interval, intervals.lowerBound), intervals.upperBound)
    }
}

/// The steps of a gyroscope from sample to sample, also where a program stamped several samples at once, microseconds apart: lines of a
/// serial port, or the contents of a FIFO.
///
/// The samples of such a burst were measured one after the other since the burst before, so each is taken for a usual step as long as
/// that time lasts.
package struct StepPattern {
    /// The usual step in seconds, in bursts the time from burst to burst divided by the samples of one; 0 before the first step.
    package private(set) var usualSeconds = 0.0

    /// The share of steps within a burst, smoothed.
    private var burstShare = 0.0
    /// How far the times of the samples, one usual step after the other, are behind their stamps, in seconds.
    private var behind = 0.0
    /// The last step that was not within a burst, in seconds.
    private var longSeconds = 0.0
    /// The steps within the present burst.
    private var burst = (count: 0, seconds: 0.0)
    /// The first steps, with which a burst may begin, and how many of them are those from burst to burst.
    private var first = (count: 0, seconds: 0.0, longCount: 0, firstSeconds: 0.0)

    /// A step of less than so many usual ones is one within a burst.
    static let shortSteps = 0.5
    /// The longest step that may be a usual one.
    static let longestSeconds = 0.5
    /// So many steps show that the first one was within a burst, or so many that it was a pause.
    private static let (firstSteps, pauseSteps) = (50, 10)
    /// A first step is within a burst if it is shorter than this, in seconds, and the mean is so many times as long.
    private static let (longestInBurst, burstRatio) = (0.002, 5.0)
    /// Where fewer steps are short, single samples are late and the others regular.
    private static let leastBurstShare = 0.2
    /// The weight of a step in what is learned.
    private static let weight = 0.02

    package init() {}

    /// Forgets the time that has not been given to a sample.
    mutating func interrupt() {
        behind = 0
        burst = (0, 0)
    }

    /// Takes a step, the distance of two stamps in seconds, and learns from it.
    ///
    /// - Returns: The time from the sample before to this one, in seconds, and the number of usual steps in it.
    package mutating func add(_ seconds: Double) -> (seconds: Double, steps: Double) {
        guard usualSeconds > 0 else {
            usualSeconds = min(seconds, Self.longestSeconds)
            first = (1, usualSeconds, 0, usualSeconds)
            longSeconds = usualSeconds
            return (seconds, seconds / usualSeconds)
        }
        if first.count < Self.firstSteps { correctFirst(seconds) }
        let isShort = seconds < usualSeconds * Self.shortSteps
        var real = seconds + behind
        if burstShare > Self.leastBurstShare, seconds <= Self.longestSeconds {
            // What is left of the time before the last burst was a gap.
            real = isShort ? min(usualSeconds, real) : min(usualSeconds, seconds) + behind
        }
        behind += seconds - real
        defer { learn(seconds, isShort) }
        return (real, real / usualSeconds)
    }

    /// Finds out that the very first step was within a burst, or a pause.
    private mutating func correctFirst(_ seconds: Double) {
        let limited = min(seconds, Self.longestSeconds)
        first.count += 1
        first.seconds += limited
        if limited > Self.burstRatio * first.firstSeconds { first.longCount += 1 }
        let mean = first.seconds / Double(first.count)
        if first.firstSeconds < Self.longestInBurst, first.longCount == 2, mean > Self.burstRatio * usualSeconds {
            usualSeconds = mean
            burstShare = 1
            burst = (0, 0)
        } else if first.count == Self.pauseSteps {
            let later = (first.seconds - first.firstSeconds) / Double(first.count - 1)
            if later < usualSeconds * Self.shortSteps { usualSeconds = later }
        }
    }

    private mutating func learn(_ seconds: Double, _ isShort: Bool) {
        burstShare += ((isShort ? 1 : 0) - burstShare) * Self.weight
        if isShort {
            burst.count += 1
            burst.seconds += seconds
            // At a rate that has risen all steps are short.
            guard burst.seconds >= 2 * usualSeconds else { return }
            learn(mean: burst.seconds / Double(burst.count), of: burst.count)
        } else if burst.count > 0 {
            learn(mean: (longSeconds + burst.seconds) / Double(burst.count + 1), of: burst.count + 1)
            longSeconds = seconds
        } else {
            learn(mean: seconds, of: 1)
            longSeconds = seconds
        }
        burst = (0, 0)
    }

    private mutating func learn(mean: Double, of count: Int) {
        // A gap counts as twice the usual step, so that a rate that falls is learned as well.
        usualSeconds += (min(mean, 2 * usualSeconds) - usualSeconds) * min(1, Self.weight * Double(count))
    }
}

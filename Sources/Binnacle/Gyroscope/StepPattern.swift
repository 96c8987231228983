/// The steps of a gyroscope from sample to sample, also where a program stamped several samples at once, microseconds apart: lines of a
/// serial port, or the contents of a FIFO.
///
/// The samples of such a burst were measured one after the other since the burst before, so each is taken for a usual step as long as
/// that time lasts.
struct StepPattern {
    /// The usual step in seconds, the mean of those in bursts; 0 before the first step.
    private(set) var usualSeconds = 0.0

    /// The share of steps within a burst, smoothed.
    private var burstShare = 0.0
    /// How far the times of the samples, one usual step after the other, are behind their stamps, in seconds.
    private var behind = 0.0
    /// The steps that are learned with the next one that is not within a burst.
    private var unlearned = (count: 0, seconds: 0.0)
    /// The first steps, with which a burst may begin.
    private var first = (count: 0, seconds: 0.0)

    /// A step of less than so many usual ones is one within a burst.
    static let shortSteps = 0.5
    /// So many steps show the mean of bursts.
    private static let firstSteps = 50
    /// Where the mean of the first steps is so many usual ones, the usual one was found within a burst.
    private static let burstRatio = 10.0
    /// Of regular samples, single ones alone are late.
    private static let largestRegularShare = 0.2
    /// The weight of a step in what is learned.
    private static let weight = 0.02

    /// Takes a step and learns from it.
    ///
    /// - Parameters:
    ///   - seconds: The distance of the stamps.
    ///   - longest: The longest step that may be a usual one, in seconds.
    /// - Returns: The time from the sample before to this one, in seconds, and the number of usual steps in it.
    mutating func add(_ seconds: Double, longest: Double) -> (seconds: Double, steps: Double) {
        guard usualSeconds > 0 else {
            usualSeconds = min(seconds, longest)
            first = (1, usualSeconds)
            return (seconds, seconds / usualSeconds)
        }
        findBursts(seconds, longest)
        let isShort = seconds < usualSeconds * Self.shortSteps
        var real = seconds + behind
        if burstShare > Self.largestRegularShare, seconds <= longest {
            // What is left of the time before the last burst was a gap.
            real = isShort ? min(usualSeconds, real) : min(usualSeconds, seconds) + behind
        }
        behind += seconds - real
        defer { learn(seconds, isShort) }
        return (real, real / usualSeconds)
    }

    /// Finds out from the first steps that the very first one was within a burst.
    private mutating func findBursts(_ seconds: Double, _ longest: Double) {
        guard first.count < Self.firstSteps else { return }
        first.count += 1
        first.seconds += min(seconds, longest)
        let mean = first.seconds / Double(first.count)
        guard first.count > 2, mean > Self.burstRatio * usualSeconds else { return }
        usualSeconds = mean
        burstShare = 1
        unlearned = (0, 0)
    }

    private mutating func learn(_ seconds: Double, _ isShort: Bool) {
        burstShare += ((isShort ? 1 : 0) - burstShare) * Self.weight
        unlearned.count += 1
        unlearned.seconds += seconds
        guard !isShort || unlearned.seconds >= 2 * usualSeconds else { return }
        let count = Double(unlearned.count)
        // A gap counts as twice the usual step, so that a rate that falls is learned as well.
        usualSeconds += (min(unlearned.seconds / count, 2 * usualSeconds) - usualSeconds) * min(1, Self.weight * count)
        unlearned = (0, 0)
    }
}

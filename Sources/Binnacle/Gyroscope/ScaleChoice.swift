import Glibc

/// By how much the rates of a gyroscope are corrected when turns have shown its scale.
///
/// Most gyroscopes are calibrated by their maker far better than turns can show, others are off by percents. So of the scale that was
/// found counts the probability that it is not 1, when both are as probable before: with Bayes' rule the odds are
/// σ/σ₀·exp(e²/2σ²).
package struct ScaleChoice {
    /// What the rates are multiplied by.
    package let scale: Double
    /// Its standard deviation.
    package let sigma: Double

    /// Chooses a scale; `nil` where none is learned.
    ///
    /// - Parameters:
    ///   - error: By how much the scale that was found differs from 1.
    ///   - variance: Its variance.
    ///   - startVariance: The variance before turns have shown it; 0 where it is not learned.
    package init?(error: Double, variance: Double, startVariance: Double) {
        guard startVariance > 0 else { return nil }
        let odds = (variance / startVariance).squareRoot() * exp(min(error * error / (2 * variance), 50))
        let share = odds / (1 + odds)
        // What is not corrected may all be there.
        let left = (1 - share) * error
        sigma = (share * variance + left * left).squareRoot()
        scale = 1 + share * error
    }
}

extension SensorErrors {
    /// The scale for the rates of a device of which an earlier run has learned this.
    ///
    /// - Parameter startSigma: The scale's standard deviation before turns have shown it.
    /// - Returns: The scale; `nil` where none is learned.
    func scaleChoice(startSigma: Double) -> ScaleChoice? {
        let startVariance = startSigma * startSigma
        return ScaleChoice(
            error: scale - 1, variance: min(scaleSigma * scaleSigma, startVariance), startVariance: startVariance)
    }
}

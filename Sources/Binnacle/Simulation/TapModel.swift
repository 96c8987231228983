import Glibc

/// A device on a table is tapped from above: once, twice and three times in ten seconds.
///
/// A tap is half a sine of 5 ms; a sample is its mean over the sampling period, as a chip with a filter measures.
enum TapModel {
    static let cycleSeconds = 10.0

    /// When the taps begin, in seconds.
    static let starts = [2.0, 4.5, 4.7, 7.0, 7.2, 7.4]
    private static let lengthSeconds = 0.005
    private static let peak = 1.4 * Double(Units.standardGravity)

    /// What the taps add to gravity in a sample, in m/s².
    static func acceleration(at phase: Double, periodSeconds: Double) -> SIMD3<Double> {
        let sum = starts.reduce(0) { sum, start in
            sum + integral(to: phase - start + periodSeconds / 2) - integral(to: phase - start - periodSeconds / 2)
        }
        return SIMD3(0, 0, -peak * sum / periodSeconds)
    }

    /// The integral of the half-sine with a peak of 1 from its begin.
    private static func integral(to seconds: Double) -> Double {
        let part = min(max(seconds / lengthSeconds, 0), 1)
        return lengthSeconds / Double.pi * (1 - cos(Double.pi * part))
    }
}

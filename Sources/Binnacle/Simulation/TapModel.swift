import Glibc

/// A device on a table is tapped from above: once, twice and three times in ten seconds.
///
/// A tap is half a sine of 5 ms; a sample is its mean over the sampling period, as a chip with a filter measures.
struct TapModel: Movement {
    let cycleSeconds = 10.0
    let periodSeconds: Double

    /// When the taps begin, in seconds.
    private static let starts = [2.0, 4.5, 4.7, 7.0, 7.2, 7.4]
    private static let lengthSeconds = 0.005
    private static let peak = 1.4 * Double(Units.standardGravity)

    func acceleration(at phase: Double) -> SIMD3<Double> {
        let sum = Self.starts.reduce(0) { sum, start in
            sum + Self.integral(to: phase - start + periodSeconds / 2)
                - Self.integral(to: phase - start - periodSeconds / 2)
        }
        return SIMD3(0, 0, -Self.peak * sum / periodSeconds)
    }

    /// The integral of the half-sine with a peak of 1 from its begin.
    private static func integral(to seconds: Double) -> Double {
        let part = min(max(seconds / lengthSeconds, 0), 1)
        return lengthSeconds / Double.pi * (1 - cos(Double.pi * part))
    }
}

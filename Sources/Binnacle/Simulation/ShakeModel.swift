import Glibc

/// A hand shakes the device to and fro along its x axis for two seconds of every ten.
///
/// Three times a second, 5.5 cm to each side: that is 2 g at each end, above the 1.5 g of a shake. Together with
/// gravity, at a right angle to it, it is 2.24 g, below the 2.5 g of a shock.
enum ShakeModel {
    static let cycleSeconds = 10.0
    static let startSeconds = 2.0
    static let endSeconds = 4.0

    private static let turnsPerSecond = 3.0

    /// What the shaking adds to gravity, in m/s².
    static func acceleration(at phase: Double) -> SIMD3<Double> {
        guard phase >= startSeconds, phase < endSeconds else { return .zero }
        let angle = 2 * Double.pi * turnsPerSecond * (phase - startSeconds)
        return SIMD3(2 * Double(Units.standardGravity) * sin(angle), 0, 0)
    }
}

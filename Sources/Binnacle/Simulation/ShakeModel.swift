import Glibc

/// A hand shakes the device to and fro along its x axis for two seconds of every ten.
///
/// Three times a second, 5.5 cm to each side: that is 2 g at each end, above the 1.5 g of a shake. Together with
/// gravity, at a right angle to it, it is 2.24 g, below the 2.5 g of a shock.
struct ShakeModel: Movement {
    let cycleSeconds = 10.0
    private static let movingSeconds = 2.0..<4.0
    private static let turnsPerSecond = 3.0

    func acceleration(at phase: Double) -> SIMD3<Double> {
        guard Self.movingSeconds.contains(phase) else { return .zero }
        let angle = 2 * Double.pi * Self.turnsPerSecond * (phase - Self.movingSeconds.lowerBound)
        return SIMD3(2 * Double(Units.standardGravity) * sin(angle), 0, 0)
    }
}

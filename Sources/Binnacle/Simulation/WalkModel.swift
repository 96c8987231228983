import Glibc

/// A person walks with the device for ten seconds and rests for ten.
///
/// Two steps a second are the usual pace (Bachmann and Ammann, "Vibrations in Structures", IABSE 1987: 1.6 to 2.4 Hz).
/// The amplitudes are those of the recording phyphox_walk: 2.6 m/s² up and down with each step, and 1 m/s² root mean
/// square level. The body sways to each side with every second step.
struct WalkModel: Movement {
    let cycleSeconds = 20.0
    private static let movingSeconds = 2.0..<12.0
    private static let stepsPerSecond = 2.0

    func acceleration(at phase: Double) -> SIMD3<Double> {
        guard Self.movingSeconds.contains(phase) else { return .zero }
        let step = 2 * Double.pi * Self.stepsPerSecond * (phase - Self.movingSeconds.lowerBound)
        return SIMD3(0.9 * sin(step / 2), sin(step), 2.6 * sin(step) + 0.2 * sin(2 * step))
    }
}

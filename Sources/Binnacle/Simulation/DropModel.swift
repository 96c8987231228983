import Glibc

/// The device is held, falls for 0.3 s, strikes the ground, and lies there for the rest of ten seconds.
///
/// A fall of 0.3 s is one of 44 cm, and ends with v = g·t = 2.9 m/s. The ground takes that away in 30 ms with the force
/// of half a sine, whose peak π·v/(2·T) is 154 m/s². A hand trembles at 8 to 12 Hz (physiological tremor); its 0.01 g is
/// no motion. The device is not lifted: the next cycle begins with it in the hand.
struct DropModel: Movement {
    let cycleSeconds = 10.0
    private let fallSeconds = 2.0
    private let impactSeconds = 2.3
    private let restSeconds = 2.33
    private let tremor = (hertz: 10.0, amplitude: 0.1)

    /// The specific force in m/s²: nothing while the device falls.
    func specificForce(at phase: Double) -> SIMD3<Double> {
        if phase < fallSeconds {
            return MotionModel.gravity + SIMD3(tremor.amplitude * sin(2 * .pi * tremor.hertz * phase), 0, 0)
        }
        if phase < impactSeconds { return .zero }
        guard phase < restSeconds else { return MotionModel.gravity }
        let speed = Double(Units.standardGravity) * (impactSeconds - fallSeconds)
        let duration = restSeconds - impactSeconds
        let peak = Double.pi * speed / (2 * duration)
        return MotionModel.gravity + SIMD3(0, 0, peak * sin(.pi * (phase - impactSeconds) / duration))
    }
}

import Glibc

/// A washing machine, in a minute and a half what others do in an hour: it tumbles to and fro with pauses, spins, and rests.
///
/// It is a model and no measurement: 0.04 g at 18 Hz while the drum turns, which is its motor, and 0.25 g at 13.3 Hz while
/// it spins with an unbalanced load at 800 turns a minute, as far as it has run up.
struct WashModel: Movement {
    let cycleSeconds = 90.0

    func acceleration(at phase: Double) -> SIMD3<Double> {
        let gravity = Double(Units.standardGravity)
        if phase >= 5, phase < 35 {
            // Ten seconds of turning have a pause of two.
            guard (phase - 5).truncatingRemainder(dividingBy: 10) < 8 else { return .zero }
            let turn = sin(2 * .pi * 18 * phase)
            return gravity * 0.04 * 2.0.squareRoot() * SIMD3(0.8 * turn, 0, 0.6 * turn)
        }
        guard phase >= 35, phase < 60 else { return .zero }
        // The drum runs up for 5 s and down for 5 s; the force of an unbalanced load rises with the square of its speed.
        let speed = min(1, (phase - 35) / 5, (60 - phase) / 5)
        let turns: Double =
            switch phase {
            case ..<40: (phase - 35) * (phase - 35) / 10
            case ..<55: 2.5 + (phase - 40)
            default: 20 - (60 - phase) * (60 - phase) / 10
            }
        let angle = 2 * Double.pi * 800 / 60 * turns
        return gravity * 0.25 * speed * speed * SIMD3(cos(angle), 0, sin(angle))
    }
}

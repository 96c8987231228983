/// The device, flat on its back, turns clockwise through all bearings once a minute and rests while its top faces north.
///
/// It starts facing west at 7.2° a second, is at north after 12.5 s, and goes on 10 s later. The turn is about gravity,
/// so that the specific force does not change.
struct TurnModel: Movement {
    let cycleSeconds = 60.0
    private let northSeconds = 12.5
    private let restSeconds = 10.0
    private var turningDegreesPerSecond: Double { 360 / (cycleSeconds - restSeconds) }

    func magneticField(at phase: Double) -> SIMD3<Double> {
        let turning = phase < northSeconds ? phase : max(northSeconds, phase - restSeconds)
        return MotionModel.field(headingDegrees: (turning - northSeconds) * turningDegreesPerSecond)
    }

    func angularVelocity(at phase: Double) -> SIMD3<Double> {
        if phase >= northSeconds, phase < northSeconds + restSeconds { return .zero }
        // A heading counts clockwise, seen from above, where z points.
        return SIMD3(0, 0, -turningDegreesPerSecond * .pi / 180)
    }
}

/// The device, flat on its back, turns clockwise through all bearings once a minute and rests while its top faces north.
///
/// It starts facing west at 7.2° a second, is at north after 12.5 s, and goes on 10 s later. The turn is about gravity,
/// so that the specific force does not change.
enum TurnModel {
    static let cycleSeconds = 60.0
    static let northSeconds = 12.5
    static let restSeconds = 10.0

    private static let turningDegreesPerSecond = 360 / (cycleSeconds - restSeconds)

    /// Where the top points, in degrees clockwise from magnetic north; negative before north.
    static func headingDegrees(at phase: Double) -> Double {
        let turning = phase < northSeconds ? phase : max(northSeconds, phase - restSeconds)
        return (turning - northSeconds) * turningDegreesPerSecond
    }

    /// How fast the heading changes, in degrees a second.
    static func degreesPerSecond(at phase: Double) -> Double {
        phase >= northSeconds && phase < northSeconds + restSeconds ? 0 : turningDegreesPerSecond
    }
}

import Glibc

/// The samples of a simulated device: a function of a sample's index and the settings, and of nothing else.
///
/// Axes are those of ``Sample``: x to the right, y to the top, z out of the screen. The device lies flat, so that its
/// specific force is (0, 0, +9.81) m/s² at rest. Its top faces the heading h, clockwise from magnetic north: its field
/// is (−H sin h, H cos h, −Z) with the Earth's level part H and downward part Z.
///
/// With the defaults of ``MotionSettings`` and those of a north detector, and at 50 Hz or more, a cycle of each model gives
///
/// | model | cycle | what happens | events |
/// |---|---|---|---|
/// | still | – | lies still | none |
/// | walk | 20 s | walks from 2 to 12 s | motion.began, motion.ended |
/// | shake | 10 s | is shaken from 2 to 4 s | motion.began, 12 × shake, motion.ended |
/// | tap | 10 s | is tapped once, twice and three times at 2, 4.5 and 7 s | three taps by a tap detector |
/// | turn | 60 s | turns from west on, rests facing north from 12.5 to 22.5 s | north.faced, north.left |
/// | drop | 10 s | falls at 2 s, strikes at 2.3 s | motion.began, free_fall, shock and shake at once, motion.ended |
/// | wash | 90 s | tumbles from 5 to 35 s, spins until 60 s | motions; those of a vibration detector |
/// | screen | 16 s | is held upright and turned by 90° every 4 s | motions; four of an orientation detector |
/// | tumble | 180 s | rests on each side for 2 s and turns meanwhile | motions; enough for each calibration |
///
/// besides the headings of the compass. A fall is motion, and a blow of more than 2.5 g always is a shake of more than
/// 1.5 g. At lower rates a blow may fall between two samples, as it does for a device.
package struct MotionModel: Sendable {
    /// What is simulated.
    package let settings: SimulationSettings

    private let movement: any Movement

    /// The standard deviation of the noise on each axis, in m/s².
    ///
    /// Less than the 0.05 m/s² of the resting recording broad05, so that its limit, 0.012 g, is below every threshold.
    static let forceDeviation = 0.02
    /// The standard deviation of the noise on each axis, in µT; the resting recording broad05 has 0.6.
    static let fieldDeviation = 0.3
    /// The standard deviation of the noise on each axis, in rad/s: 0.05°/s, as a gyroscope of a phone has at 100 Hz.
    static let rateDeviation = 0.05 * Double.pi / 180
    /// The Earth's field at 50° N 9° E, at sea level at the beginning of 2026, in µT: 49.1 with a dip of 65.8°.
    ///
    /// By the World Magnetic Model WMM2025 (NOAA and BGS, 2024): H 20.12, Z 44.83.
    static let field = (level: 20.12, down: 44.83)

    /// Creates a model.
    ///
    /// - Precondition: ``SimulationSettings/problems()`` finds none.
    package init(_ settings: SimulationSettings) {
        settings.requireValid()
        self.settings = settings
        movement =
            switch settings.model {
            case .still: StillModel()
            case .walk: WalkModel()
            case .shake: ShakeModel()
            case .tap: TapModel(periodSeconds: 1 / settings.rateHz)
            case .turn: TurnModel()
            case .drop: DropModel()
            case .wash: WashModel()
            case .screen: TurningModel.screen
            case .tumble: TurningModel.tumble
            }
    }

    /// A sample in m/s², µT or rad/s, counter-clockwise about each axis; sample n, from 0, is n/rate after the start.
    package func sample(_ kind: SampleKind, at index: Int64) -> SIMD3<Float> {
        let phase = (Double(index) / settings.rateHz).truncatingRemainder(dividingBy: movement.cycleSeconds)
        let (vector, deviation) =
            switch kind {
            case .accelerometer: (movement.specificForce(at: phase), Self.forceDeviation)
            case .magnetometer: (movement.magneticField(at: phase), Self.fieldDeviation)
            case .gyroscope: (movement.angularVelocity(at: phase), Self.rateDeviation)
            }
        return SIMD3<Float>(vector + deviation * SampleNoise(seed: settings.seed, kind: kind).vector(at: index))
    }

    /// The specific force of a device that lies flat.
    static let gravity = SIMD3(0, 0, Double(Units.standardGravity))

    /// Where the device's top points in every model in which it does not turn: far from north.
    fileprivate static let restField = field(headingDegrees: 120)

    static func field(headingDegrees: Double) -> SIMD3<Double> {
        let heading = headingDegrees * .pi / 180
        return SIMD3(-field.level * sin(heading), field.level * cos(heading), -field.down)
    }
}

/// How a device moves in a cycle that repeats; a model states only what is not as in rest.
protocol Movement: Sendable {
    var cycleSeconds: Double { get }
    /// What the movement adds to the gravity of a device that lies flat, in m/s².
    func acceleration(at phase: Double) -> SIMD3<Double>
    /// In m/s².
    func specificForce(at phase: Double) -> SIMD3<Double>
    /// In µT.
    func magneticField(at phase: Double) -> SIMD3<Double>
    /// In rad/s.
    func angularVelocity(at phase: Double) -> SIMD3<Double>
}

extension Movement {
    func acceleration(at phase: Double) -> SIMD3<Double> { .zero }
    func specificForce(at phase: Double) -> SIMD3<Double> { MotionModel.gravity + acceleration(at: phase) }
    func magneticField(at phase: Double) -> SIMD3<Double> { MotionModel.restField }
    func angularVelocity(at phase: Double) -> SIMD3<Double> { .zero }
}

private struct StillModel: Movement {
    let cycleSeconds = Double.infinity
}

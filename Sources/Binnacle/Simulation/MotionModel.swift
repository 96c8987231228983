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

    private let forceNoise: SampleNoise
    private let fieldNoise: SampleNoise
    private let rateNoise: SampleNoise

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
    /// Where the device's top points in every model in which it does not turn: far from north.
    static let restHeadingDegrees = 120.0

    /// Creates a model.
    ///
    /// - Precondition: ``SimulationSettings/problems()`` finds none.
    package init(_ settings: SimulationSettings) {
        settings.requireValid()
        self.settings = settings
        forceNoise = SampleNoise(seed: settings.seed, kind: .accelerometer)
        fieldNoise = SampleNoise(seed: settings.seed, kind: .magnetometer)
        rateNoise = SampleNoise(seed: settings.seed, kind: .gyroscope)
    }

    /// A sample of the specific force, in m/s²; sample n, from 0, is n/rate after the start.
    package func specificForce(at index: Int64) -> SIMD3<Float> {
        var force: SIMD3<Double>
        switch settings.model {
        case .still, .turn: force = Self.gravity
        case .walk: force = Self.gravity + WalkModel.acceleration(at: phase(index, WalkModel.cycleSeconds))
        case .shake: force = Self.gravity + ShakeModel.acceleration(at: phase(index, ShakeModel.cycleSeconds))
        case .tap:
            force =
                Self.gravity
                + TapModel.acceleration(at: phase(index, TapModel.cycleSeconds), periodSeconds: 1 / settings.rateHz)
        case .wash: force = Self.gravity + WashModel.acceleration(at: phase(index, WashModel.cycleSeconds))
        case .drop: force = DropModel.specificForce(at: phase(index, DropModel.cycleSeconds))
        case .screen, .tumble:
            force =
                turning.map { $0.direction(Self.gravity, at: phase(index, $0.cycleSeconds)) + $0.errors.force } ?? .zero
        }
        force += Self.forceDeviation * forceNoise.vector(at: index)
        return SIMD3<Float>(force)
    }

    /// A sample of the magnetic field, in µT.
    package func magneticField(at index: Int64) -> SIMD3<Float> {
        var field = Self.restField
        if settings.model == .turn {
            field = Self.field(headingDegrees: TurnModel.headingDegrees(at: phase(index, TurnModel.cycleSeconds)))
        }
        if let turning {
            let earth = SIMD3(0, Self.field.level, -Self.field.down)
            field = turning.direction(earth, at: phase(index, turning.cycleSeconds)) + turning.errors.field
        }
        field += Self.fieldDeviation * fieldNoise.vector(at: index)
        return SIMD3<Float>(field)
    }

    /// A sample of the angular velocity, in rad/s, counter-clockwise about each axis.
    package func angularVelocity(at index: Int64) -> SIMD3<Float> {
        var rate = SIMD3<Double>.zero
        if settings.model == .turn {
            let phase = phase(index, TurnModel.cycleSeconds)
            // A heading counts clockwise, seen from above, where z points.
            rate.z = -TurnModel.degreesPerSecond(at: phase) * .pi / 180
        }
        if let turning { rate = turning.angularVelocity(at: phase(index, turning.cycleSeconds)) }
        rate += Self.rateDeviation * rateNoise.vector(at: index)
        return SIMD3<Float>(rate)
    }

    /// A sample of any kind, in the unit of the kind.
    func sample(_ kind: SampleKind, at index: Int64) -> SIMD3<Float> {
        switch kind {
        case .accelerometer: specificForce(at: index)
        case .magnetometer: magneticField(at: index)
        case .gyroscope: angularVelocity(at: index)
        }
    }

    private var turning: TurningModel? {
        switch settings.model {
        case .screen: .screen
        case .tumble: .tumble
        default: nil
        }
    }

    /// How far into its cycle a sample is, in seconds.
    private func phase(_ index: Int64, _ cycleSeconds: Double) -> Double {
        (Double(index) / settings.rateHz).truncatingRemainder(dividingBy: cycleSeconds)
    }

    /// The specific force of a device that lies flat.
    static let gravity = SIMD3(0, 0, Double(Units.standardGravity))

    private static let restField = field(headingDegrees: restHeadingDegrees)

    private static func field(headingDegrees: Double) -> SIMD3<Double> {
        let heading = headingDegrees * .pi / 180
        return SIMD3(-field.level * sin(heading), field.level * cos(heading), -field.down)
    }
}

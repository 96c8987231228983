import Glibc
import SensorGeometry

/// How a device is held that is turned by hand: its attitude over time, in the frame of the Earth (east, north, up).
enum TurningModel: Movement {
    /// A screen in the hand, leaning back by 30°, whose edges are up in turn: the top, the right, the bottom and the left one for
    /// three seconds each, with a second to turn it.
    case screen
    /// Each side up for two seconds, and turned about the vertical meanwhile, which a magnetometer sees and an accelerometer does not.
    case tumble

    var cycleSeconds: Double { self == .screen ? 16 : 180 }

    /// What the sensors add, in m/s² and µT: what a calibration of them finds.
    private var errors: (force: SIMD3<Double>, field: SIMD3<Double>) {
        self == .screen ? (.zero, .zero) : (SIMD3(0.2, -0.15, 0.3), SIMD3(18, -12, 25))
    }

    /// Turns a direction of the device into that of the Earth.
    private func attitude(at phase: Double) -> Quaternion {
        switch self {
        case .screen:
            let quarter = (phase / 4).rounded(.down)
            let turns = quarter + Self.ease(phase - 4 * quarter - 3)
            return Self.about([0, 0, 1], -120) * Self.about([1, 0, 0], 60) * Self.about([0, 0, 1], 90 * turns)
        case .tumble:
            var (pitch, roll, begin) = (0.0, 0.0, 0.0)
            for side in Self.sides {
                let share = Self.ease((phase.truncatingRemainder(dividingBy: 20) - begin - 2) / side.seconds)
                pitch += side.pitch * share
                roll += side.roll * share
                begin += 2 + side.seconds
            }
            return Self.about([0, 0, 1], 80 * phase) * Self.about([1, 0, 0], pitch) * Self.about([0, 1, 0], roll)
        }
    }

    /// From one side to the next: the turns about x and y, in degrees, and how long they take.
    private static let sides: [(pitch: Double, roll: Double, seconds: Double)] = [
        (90, 0, 1), (90, 0, 1), (90, 0, 1), (90, 90, 1), (0, 180, 2), (0, 90, 2),
    ]

    /// From 0 to 1 without a jerk.
    private static func ease(_ share: Double) -> Double {
        let part = min(1, max(0, share))
        return part * part * (3 - 2 * part)
    }

    /// A turn about an axis, in degrees, counter-clockwise.
    private static func about(_ axis: Vector3, _ degrees: Double) -> Quaternion {
        Quaternion(rate: axis, seconds: degrees * .pi / 180)
    }

    /// A direction of the Earth in the frame of the device.
    func direction(_ earth: Vector3, at phase: Double) -> Vector3 { attitude(at: phase).conjugate.rotate(earth) }

    func specificForce(at phase: Double) -> Vector3 { direction(MotionModel.gravity, at: phase) + errors.force }

    func magneticField(at phase: Double) -> Vector3 {
        direction(SIMD3(0, MotionModel.field.level, -MotionModel.field.down), at: phase) + errors.field
    }

    /// How fast the device turns about its axes, in rad/s, by its attitudes two milliseconds apart.
    func angularVelocity(at phase: Double) -> Vector3 {
        let step = 0.001
        return (attitude(at: phase - step).conjugate * attitude(at: phase + step)).rotationVector / (2 * step)
    }
}

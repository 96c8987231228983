import Glibc
import SensorGeometry

/// Compares the field with that of up to a second earlier, in the frame that the gyroscope keeps, where the Earth's field stays as it is.
///
/// Iron in a room changes the strength of the field as much as its direction. A field that is as strong as before and points elsewhere
/// was turned by a gyroscope that is wrong.
struct FieldTurn {
    /// By how much the field points elsewhere, at most since the second began, in radians.
    private(set) var angle = 0.0
    private var start: (field: Vector3, speed: Double)?
    private var seconds = 0.0
    /// By how much the gyroscope has turned in that second, in radians.
    private var swept = 0.0
    private var steadySeconds = 0.0
    private var constantSeconds = 0.0
    /// Whether the field has been as strong as the Earth's for some seconds, within less than a building's fields vary.
    var isConstant: Bool { constantSeconds >= Self.leastSteadySeconds }

    private static let longestSeconds = 1.0
    /// A magnet's field is as strong as the Earth's in moments; for so long it is not.
    private static let leastSteadySeconds = 3.0
    /// In seconds: by how much the delays of both sensors differ, which turns the field as well.
    private static let delay = 0.02
    /// By how much more than the gyroscope has turned it may be wrong: twice for a reversed axis; a magnet turns a field by more.
    private static let largestShare = 2.0
    /// The share of the angle that the strength may change by.
    private static let steadyShare = 1.0 / 3
    /// In a walk through a building the strength is nearer than this for 2 % of the time, and than twice of it for 15 %.
    private static let constantShare = 0.05

    /// Forgets what was seen, because the frame is another one, or the field.
    mutating func interrupt() { (angle, start, steadySeconds, constantSeconds) = (0, nil, 0, 0) }

    /// Takes a field of the Earth's strength in the frame that the gyroscope keeps, without iron.
    ///
    /// - Parameters:
    ///   - field: Its mean over the step.
    ///   - departure: By which share its strength is not the Earth's.
    ///   - speed: How fast the device turned, in rad/s.
    ///   - step: The time since the last one.
    mutating func update(_ field: Vector3, departure: Double, speed: Double, seconds step: Double) {
        seconds += step
        steadySeconds += step
        constantSeconds = departure < Self.constantShare ? constantSeconds + step : 0
        swept += speed * step
        guard steadySeconds >= Self.leastSteadySeconds, let start, seconds <= Self.longestSeconds * 1.001 else {
            (angle, start, seconds, swept) = (0, (field, speed), 0, 0)
            return
        }
        let change = length(field) / length(start.field)
        let cosine = dot(field, start.field) / (start.field.squaredLength * change)
        let turned =
            min(acos(min(max(cosine, -1), 1)), Self.largestShare * swept) - Self.delay * max(speed, start.speed)
        if abs(change - 1) < Self.steadyShare * turned { angle = max(angle, turned) }
    }
}

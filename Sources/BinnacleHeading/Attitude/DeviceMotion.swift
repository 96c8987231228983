public import Binnacle
import Glibc
import SensorGeometry

/// How a body lies and moves at one sample: what a detector of attitudes finds.
///
/// Its vectors are in the axes of the body, which ``frame`` names: forward, right, down, or forward, left, up. A specific force is what an
/// accelerometer measures, so gravity is the vector that points *up*, as long as 9.81 m/s²: −9.81 along an axis that points down.
public struct DeviceMotion: Sendable, Equatable {
    /// The stamp of the sample that decided it, in nanoseconds: the gyroscope's where it is used, else the accelerometer's.
    public let timeNanoseconds: Int64
    /// The frame of the Earth, and with it the axes of the body.
    public let frame: EarthFrame
    /// The rotation from the axes of the body to those of the Earth; `Quaternion.w` is 0 or more.
    ///
    /// Its turn about the vertical counts from what ``reference`` says, and means nothing without one.
    public let attitude: Quaternion
    /// What the turn about the vertical counts from: true or magnetic north, or, relative, where the body pointed when detection began, or
    /// began again after an interruption; `nil` when it is not known at all.
    public let reference: HeadingReference?
    /// Why there is no north; `nil` when there is, and without a magnetometer.
    public let headingFault: HeadingFault?
    /// By how much magnetic north lies east of true north, in degrees; `nil` unless ``reference`` is true north.
    public let declinationDegrees: Double?
    /// How far the attitude's vertical may be from the true one, in degrees: about nine of ten are nearer.
    public let tiltAccuracyDegrees: Double
    /// How far the turn about the vertical may be off, in degrees: about nine of ten are nearer; `nil` without a ``reference``.
    public let yawAccuracyDegrees: Double?
    /// Gravity as a specific force, in m/s².
    public let gravity: SIMD3<Double>
    /// The acceleration without gravity, in m/s².
    public let userAcceleration: SIMD3<Double>
    /// How the body turns, without the gyroscope's offset, in rad/s; `nil` without a gyroscope.
    public let rotationRate: SIMD3<Double>?
    /// How many attitudes before this one are missing in `SensorSession.deviceMotion(of:capacity:)`, because they were not read in time.
    public internal(set) var skippedCount = 0

    /// The share of the forward axis that has to lie level: within 1° of the vertical it points nowhere.
    private static let leastLevelShare = 0.017452406437283512

    /// The turn about the forward axis, in degrees from −180 to 180, positive with the right side down; `nil` when the forward axis is
    /// vertical.
    public var rollDegrees: Double? {
        hasDirection ? atan2(matrix.z.y, matrix.z.z) * 180 / .pi : nil
    }
    /// The turn about the axis across, in degrees from −90 to 90: positive with the bow up in `EarthFrame.ned`, and with the nose down
    /// in `EarthFrame.enu`.
    public var pitchDegrees: Double { atan2(-matrix.z.x, levelShare) * 180 / .pi }
    /// The turn about the vertical, in degrees from 0 up to but not including 360: clockwise from north in `EarthFrame.ned`,
    /// counter-clockwise from east in `EarthFrame.enu`, or from where the body pointed at first; `nil` without a ``reference`` and
    /// when the forward axis is vertical.
    public var yawDegrees: Double? { reference == nil ? nil : turnDegrees }
    /// Where the forward axis points, in degrees clockwise from the north of ``reference``, from 0 up to but not including 360; `nil`
    /// when there is no north and when the forward axis is vertical.
    public var headingDegrees: Double? {
        guard let reference, reference != .relative, let turnDegrees else { return nil }
        return frame == .ned ? turnDegrees : Angle.normalizedDegrees(90 - turnDegrees)
    }

    /// The direction of the forward axis in the level plane of the frame.
    private var turnDegrees: Double? {
        hasDirection ? Angle.normalizedDegrees(atan2(forward.y, forward.x) * 180 / .pi) : nil
    }
    private var hasDirection: Bool { levelShare > Self.leastLevelShare }
    private var levelShare: Double { (forward * forward).sum().squareRoot() }
    /// The level part of the forward axis, which is the first column.
    private var forward: SIMD2<Double> { SIMD2(matrix.x.x, matrix.y.x) }
    private var matrix: Matrix3 { attitude.matrix }
}

extension DeviceMotion {
    /// What was found, in the axes of a body.
    init(_ found: FoundAttitude, at timeNanoseconds: Int64, in axes: BodyAxes, declinationDegrees: Double?) {
        self.timeNanoseconds = timeNanoseconds
        frame = axes.frame
        attitude = axes.attitude(found.orientation)
        reference = found.reference
        headingFault = found.fault
        self.declinationDegrees = found.reference == .true ? declinationDegrees : nil
        tiltAccuracyDegrees = found.tiltAccuracyDegrees
        yawAccuracyDegrees = found.yawAccuracyDegrees
        gravity = axes.vector(found.gravity)
        userAcceleration = axes.vector(found.userAcceleration)
        rotationRate = found.rotationRate.map(axes.vector)
    }
}

extension DeviceMotion: DetectorResult {
    package func value(of figure: Figure.Name) -> Figure.Value? {
        switch figure {
        case .frame: .word(frame)
        case .quaternionW: figure.number(attitude.w)
        case .quaternionX: figure.number(attitude.x)
        case .quaternionY: figure.number(attitude.y)
        case .quaternionZ: figure.number(attitude.z)
        case .roll: rollDegrees.map(figure.number)
        case .pitch: figure.number(pitchDegrees)
        case .yaw: yawDegrees.map(figure.direction)
        case .heading: headingDegrees.map(figure.direction)
        case .reference: reference.map { .word($0) }
        case .reason: headingFault.map { .text($0.rawValue) }
        case .declination: declinationDegrees.map(figure.number)
        case .tiltAccuracy: figure.number(tiltAccuracyDegrees)
        case .yawAccuracy: yawAccuracyDegrees.map(figure.number)
        case .gravityX: figure.number(gravity.x)
        case .gravityY: figure.number(gravity.y)
        case .gravityZ: figure.number(gravity.z)
        case .userX: figure.number(userAcceleration.x)
        case .userY: figure.number(userAcceleration.y)
        case .userZ: figure.number(userAcceleration.z)
        case .rateX: rotationRate.map { figure.number($0.x * 180 / .pi) }
        case .rateY: rotationRate.map { figure.number($0.y * 180 / .pi) }
        case .rateZ: rotationRate.map { figure.number($0.z * 180 / .pi) }
        default: nil
        }
    }
}

extension Figure.Name {
    /// A direction: rounded first and normalised then, because 359.996° is 0.00°, not 360.00°.
    func direction(_ degrees: Double) -> Figure.Value {
        number(Angle.normalizedDegrees((degrees * 100).rounded() / 100))
    }
}

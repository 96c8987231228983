import Binnacle
import Glibc
import SensorGeometry

/// An attitude as it is found at a sample, in the device's own axes.
struct FoundAttitude {
    /// From the device's frame to east, north and up; the north is that of the reference.
    let orientation: Quaternion
    let reference: HeadingReference?
    /// Why there is no north; `nil` when there is, and without a magnetometer.
    let fault: HeadingFault?
    let tiltAccuracyDegrees: Double
    /// `nil` without a reference.
    let yawAccuracyDegrees: Double?
    /// In m/s².
    let gravity: Vector3
    let userAcceleration: Vector3
    /// In rad/s; `nil` without a gyroscope.
    let rotationRate: Vector3?
}

/// Finds the attitude where there is a gyroscope: the fusion's of six axes, whose turn about the vertical counts from where the body
/// pointed at first, or that of nine, while its north can be trusted.
struct FusedAttitude {
    let fused: FusedHeading
    private let settings: AttitudeSettings
    private let forward: Vector3
    private let hasMagnetometer: Bool
    private var tilt: TiltAccuracy
    private var yaw = RelativeYawAccuracy()
    private var userAcceleration = Vector3.zero
    private var accelerationTime: Int64?
    private var lastTime: Int64?
    private var restarts = (all: -1, atRest: 0)
    /// From the level frame of the fusion to the one that counts from where the body pointed, counter-clockwise.
    private var start = Quaternion.identity
    /// The forward axis in that frame at the last sample.
    private var lastForward: Vector3?
    /// Whether north was known since the orientation began.
    private var hadNorth = false

    init?(
        _ gyroscope: SampleStream?, accelerometer: SampleStream?, magnetometer: SampleStream?,
        settings: AttitudeSettings
    ) {
        guard
            let fused = FusedHeading(
                gyroscope, settings: settings.north, accelerometer: accelerometer, magnetometer: magnetometer)
        else { return nil }
        self.fused = fused
        self.settings = settings
        forward = settings.forwardAxis.vector
        hasMagnetometer = magnetometer != nil
        tilt = TiltAccuracy(accelerometer)
    }

    /// Takes a specific force in m/s².
    mutating func update(acceleration sample: SIMD3<Float>, at time: Int64) {
        fused.update(acceleration: sample, at: time)
        guard let motion = fused.motion(), let gravity = fused.gravity(at: time) else { return }
        let measured = Vector3(sample)
        guard measured.isFinite, measured != .zero, motion.driftingGravity != .zero else { return }
        userAcceleration = measured - gravity
        if motion.restarts.all != restarts.all { begin(motion) }
        let seconds = accelerationTime.map { max(Units.seconds(from: $0, to: time), 0) } ?? 0
        accelerationTime = time
        tilt.update(motion.driftingGravity, user: userAcceleration, seconds: seconds)
    }

    /// Finds the attitude at the gyroscope's last sample; `nil` while the vertical is not known.
    mutating func find(at time: Int64) -> FoundAttitude? {
        guard let motion = fused.motion(), motion.driftingGravity != .zero else { return nil }
        if motion.restarts.all != restarts.all { begin(motion) }
        let up = motion.orientation.conjugate.rotate(Vector3(0, 0, 1))
        let seconds = lastTime.map { max(Units.seconds(from: $0, to: time), 0) } ?? 0
        lastTime = time
        yaw.update(motion, vertical: dot(up, motion.rate), seconds: seconds)
        tilt.update(motion, seconds: seconds)
        let relative = start * motion.orientation
        lastForward = relative.rotate(forward)
        guard let (orientation, reference, accuracy) = orientation(relative) else { return nil }
        return FoundAttitude(
            orientation: orientation, reference: reference, fault: fault, tiltAccuracyDegrees: tilt.degrees,
            yawAccuracyDegrees: accuracy, gravity: up * length(motion.driftingGravity),
            userAcceleration: userAcceleration, rotationRate: motion.rate)
    }

    /// Why there is no north.
    private var fault: HeadingFault? {
        guard hasMagnetometer else { return nil }
        return settings.localField?.zone == .blackout ? .blackout : fused.found.fault?.headingFault
    }

    /// Begins again, because there are no rates or their stamps say nothing; what was learned stays.
    mutating func interrupt() {
        fused.interrupt()
        // Another device has a fusion of its own, which counts from 0.
        restarts = (-1, 0)
    }

    private mutating func orientation(
        _ relative: Quaternion
    ) -> (Quaternion, HeadingReference?, accuracyDegrees: Double?)? {
        let found = fused.found
        let isNorthKnown = fault == nil && hasMagnetometer
        guard isNorthKnown || hadNorth else { return (relative, .relative, yaw.degrees) }
        // An orientation that began again at rest has its north back with the next field.
        guard found.fault != .fieldMissing else { return nil }
        let (orientation, reference) = settings.referred(found.orientation)
        guard isNorthKnown else { return (orientation, nil, nil) }
        hadNorth = true
        return (orientation, reference, settings.yawAccuracyDegrees(magnetic: found.accuracyDegrees))
    }

    /// Begins with an orientation of the fusion that has no relation to the one before, unless the device was at rest.
    private mutating func begin(_ motion: FusedMotion) {
        let wasAtRest = motion.restarts.atRest != restarts.atRest && motion.restarts.all == restarts.all + 1
        restarts = motion.restarts
        tilt.reset()
        let now = motion.orientation.rotate(forward)
        let target = wasAtRest ? lastForward ?? settings.firstDirection : settings.firstDirection
        start = Quaternion(aboutVertical: atan2(target.y, target.x) - atan2(now.y, now.x))
        (accelerationTime, lastTime) = (nil, nil)
        guard !wasAtRest else { return }
        yaw = RelativeYawAccuracy()
        hadNorth = false
    }
}

extension AttitudeSettings {
    /// Where a body points whose turn about the vertical is 0, in east, north and up.
    var firstDirection: Vector3 { frame == .ned ? Vector3(0, 1, 0) : Vector3(1, 0, 0) }

    /// An orientation to magnetic north as one to true north, where that is known.
    func referred(_ magnetic: Quaternion) -> (orientation: Quaternion, reference: HeadingReference) {
        guard let declination = localField?.declinationDegrees else { return (magnetic, .magnetic) }
        return (Quaternion(aboutVertical: -declination * .pi / 180) * magnetic, .true)
    }

    /// How far a turn about the vertical may be off, with the uncertainty of the declination.
    func yawAccuracyDegrees(magnetic: Double) -> Double {
        let declination = FusionAccuracy.nineOfTen * (localField?.declinationUncertaintyDegrees ?? 0)
        return min((magnetic * magnetic + declination * declination).squareRoot(), 180)
    }
}

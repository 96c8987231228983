import Binnacle
import SensorGeometry

/// Finds the attitude where there is no gyroscope: up from the smoothed acceleration, and north from the compass where that has one.
///
/// It has columns, because the compass finds headings for a kernel.
struct LevelAttitude: ~Copyable {
    private let settings: AttitudeSettings
    private let leastAcceleration: Double
    private let tilt: TiltAccuracy
    private var level: SmoothedVector
    private var compass: CompassHeading?
    private var columns = HeadingColumns()
    private var lastAcceleration = Vector3.zero

    init(accelerometer: SampleStream?, magnetometer: SampleStream?, settings: AttitudeSettings) {
        self.settings = settings
        leastAcceleration = settings.north.minimumAccelerationG * Gravity.standard
        tilt = TiltAccuracy(accelerometer)
        level = SmoothedVector(settings: settings.north)
        compass = magnetometer.map {
            CompassHeading(settings: settings.north, accelerometer: accelerometer, magnetometer: $0)
        }
    }

    /// Begins a delivery with a number of samples at which an attitude may be found.
    mutating func begin(_ count: Int) { if compass != nil { columns.begin(count) } }

    /// Takes a specific force in m/s².
    mutating func update(acceleration sample: SIMD3<Float>, at time: Int64) {
        _ = level.update(sample, timeNanoseconds: time)
        _ = compass?.update(acceleration: sample, at: time)
        lastAcceleration = Vector3(sample)
    }

    /// Takes a field in µT, and the iron that turns have shown.
    mutating func update(field sample: SIMD3<Float>, iron: LearnedIron?, at time: Int64) {
        _ = compass?.update(field: sample, at: time)
        compass?.update(iron: iron)
    }

    /// Finds the attitude at an acceleration that was taken; `nil` where that does not show what is up.
    mutating func find(at time: Int64) -> FoundAttitude? {
        let smoothed = Vector3(level.value)
        let size = length(smoothed)
        guard level.lastTimeNanoseconds == time, size >= leastAcceleration else { return nil }
        var north: HeadingHold.Source?
        var fault: HeadingFault?
        do {
            north = try compass?.find(at: time, into: &columns) { _, _ in }
        } catch {
            fault = error
        }
        let (orientation, reference) =
            north.map { settings.referred($0.pointing.attitude.rotation) } ?? (leveled(smoothed / size), nil)
        return FoundAttitude(
            orientation: orientation, reference: reference, fault: fault,
            tiltAccuracyDegrees: tilt.degrees(
                smoothed: smoothed, recent: Vector3(level.recent), length: Double(level.length)),
            yawAccuracyDegrees: north?.accuracyDegrees, gravity: smoothed,
            userAcceleration: lastAcceleration - smoothed, rotationRate: nil)
    }

    /// The orientation of a device whose forward axis points where a turn about the vertical is 0.
    private func leveled(_ up: Vector3) -> Quaternion {
        func level(_ axis: Vector3) -> Vector3 { axis - up * dot(axis, up) }
        var ahead = level(settings.forwardAxis.vector)
        // Of an axis that is vertical the other one says how the device is turned about it.
        if dot(ahead, ahead) < 1e-6 { ahead = level(settings.upAxis.vector) }
        ahead /= length(ahead)
        let isNorth = settings.frame == .ned
        let east = isNorth ? cross(ahead, up) : ahead
        return Quaternion(Matrix3(east, cross(up, east), up))
    }
}

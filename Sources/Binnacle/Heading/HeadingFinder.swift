import Kernels

/// Finds the heading from smoothed acceleration and field, or says why there is none.
///
/// Whether there is one is decided at every sample; which one it is, where an event tells it.
struct HeadingFinder {
    struct Reading {
        let headingDegrees: Double
        let axis: DeviceAxis
        let fieldMicrotesla: Double
        let dipDegrees: Double
    }

    /// An axis that has a heading at a sample, which nobody has worked out yet.
    struct Pointing {
        let axis: DeviceAxis
        let attitude: Attitude
    }

    private let settings: NorthSettings
    private let minimumAcceleration: Double
    private var isUpright = false

    /// cos 30° and cos 35°: how vertical the heading axis has to be for the upright axis to take over, and how
    /// vertical it has to stay.
    private static let uprightEntry = 0.866_025_403_784_438_6
    private static let uprightExit = 0.819_152_044_288_991_8

    init(settings: NorthSettings) {
        self.settings = settings
        minimumAcceleration = settings.minimumAccelerationG * Double(Units.standardGravity)
    }

    /// Finds the axis whose direction is the heading at a sample, or why there is no heading.
    mutating func find(acceleration: SIMD3<Float>, field: SIMD3<Float>) -> Result<Pointing, HeadingFault> {
        let a = SIMD3<Double>(acceleration)
        let m = SIMD3<Double>(field)
        guard dot(a, a) >= minimumAcceleration * minimumAcceleration else { return .failure(.accelerationWeak) }
        if let range = settings.plausibleField, !range.contains(length(m)) {
            return .failure(.fieldImplausible)
        }
        guard let attitude = Attitude(acceleration: a, field: m),
            attitude.horizontalField >= settings.minimumHorizontalField
        else { return .failure(.fieldVertical) }
        let axis = chooseAxis(attitude)
        return attitude.hasHeading(of: axis)
            ? .success(Pointing(axis: axis, attitude: attitude)) : .failure(.axisVertical)
    }

    /// The heading of an axis and what belongs to it; `nil` where there is none.
    static func reading(of axis: DeviceAxis, acceleration: SIMD3<Float>, field: SIMD3<Float>) -> Reading? {
        guard let attitude = Attitude(acceleration: SIMD3<Double>(acceleration), field: SIMD3<Double>(field)),
            let heading = attitude.headingDegrees(of: axis)
        else { return nil }
        return Reading(
            headingDegrees: heading, axis: axis, fieldMicrotesla: attitude.field, dipDegrees: attitude.dipDegrees)
    }

    private mutating func chooseAxis(_ attitude: Attitude) -> DeviceAxis {
        guard let upright = settings.uprightAxis else { return settings.headingAxis }
        let share = abs(attitude.verticalShare(of: settings.headingAxis))
        isUpright = share > (isUpright ? HeadingFinder.uprightExit : HeadingFinder.uprightEntry)
        return isUpright ? upright : settings.headingAxis
    }
}

extension HeadingFault: Error {}

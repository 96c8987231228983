import Kernels

/// Finds the heading from smoothed acceleration and field, or says why there is none.
struct HeadingFinder {
    struct Reading {
        let headingDegrees: Double
        let axis: DeviceAxis
        let fieldMicrotesla: Double
        let dipDegrees: Double
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

    mutating func find(acceleration: SIMD3<Float>, field: SIMD3<Float>) -> Result<Reading, HeadingFault> {
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
        guard let heading = attitude.headingDegrees(of: axis) else { return .failure(.axisVertical) }
        return .success(
            Reading(
                headingDegrees: heading, axis: axis, fieldMicrotesla: attitude.field,
                dipDegrees: attitude.dipDegrees))
    }

    private mutating func chooseAxis(_ attitude: Attitude) -> DeviceAxis {
        guard let upright = settings.uprightAxis else { return settings.headingAxis }
        let share = abs(attitude.verticalShare(of: settings.headingAxis))
        isUpright = share > (isUpright ? HeadingFinder.uprightExit : HeadingFinder.uprightEntry)
        return isUpright ? upright : settings.headingAxis
    }
}

extension HeadingFault: Error {}

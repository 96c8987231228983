import Binnacle
import SensorGeometry

/// Finds the heading from smoothed acceleration and field, or says why there is none.
///
/// Whether there is one is decided at every sample; which one it is, where an event tells it.
struct HeadingFinder {
    /// An axis with a heading; the angle is computed on demand.
    struct Pointing {
        let axis: DeviceAxis
        let attitude: Attitude

        /// The level share of the axis: 1 when it lies level, 0 when it is vertical.
        var levelShare: Double {
            let (toEast, toNorth) = attitude.components(of: axis)
            return (toEast * toEast + toNorth * toNorth).squareRoot()
        }
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

    /// Finds the axis whose direction is the heading at a sample.
    ///
    /// - Throws: Why there is no heading.
    mutating func find(
        acceleration: SIMD3<Float>, field: FieldHistory.Field
    ) throws(HeadingFault) -> Pointing {
        let a = SIMD3<Double>(acceleration)
        let m = SIMD3<Double>(field.vector)
        guard dot(a, a) >= minimumAcceleration * minimumAcceleration else { throw .accelerationWeak }
        if let range = settings.plausibleFieldMicrotesla, !range.contains(Double(field.strength)) {
            throw .fieldImplausible
        }
        guard let attitude = Attitude(acceleration: a, field: m),
            attitude.horizontalField >= settings.minimumHorizontalFieldMicrotesla
        else { throw .fieldVertical }
        return try find(attitude)
    }

    /// Finds the axis whose direction is the heading of an attitude that is known.
    ///
    /// - Throws: Why there is no heading.
    mutating func find(_ attitude: Attitude) throws(HeadingFault) -> Pointing {
        let axis = chooseAxis(attitude)
        guard attitude.hasHeading(of: axis) else { throw .axisVertical }
        return Pointing(axis: axis, attitude: attitude)
    }

    private mutating func chooseAxis(_ attitude: Attitude) -> DeviceAxis {
        guard let upright = settings.uprightAxis else { return settings.headingAxis }
        let share = abs(attitude.verticalShare(of: settings.headingAxis))
        isUpright = share > (isUpright ? HeadingFinder.uprightExit : HeadingFinder.uprightEntry)
        return isUpright ? upright : settings.headingAxis
    }
}

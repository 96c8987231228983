/// The heading that a ``NorthDetector`` found at one sample of the accelerometer.
public struct HeadingEvent: Sendable, Equatable {
    /// The stamp of the accelerometer's sample, in nanoseconds.
    public let timeNanoseconds: Int64
    /// Where ``axis`` points, in degrees clockwise from magnetic north, from 0 up to but not including 360.
    public let headingDegrees: Double
    /// The axis whose direction is given: the heading axis or, on a device held upright, the upright axis.
    public let axis: DeviceAxis
    /// The turn from the heading to the bearing waited for, in degrees; negative to the left.
    public let offDegrees: Double
    /// The strength of the smoothed field in µT.
    public let fieldMicrotesla: Double
    /// The angle by which the field points below the horizon, in degrees.
    public let dipDegrees: Double
}

/// Why there was no heading at a sample.
public enum HeadingFault: String, Sendable, CaseIterable {
    /// No magnetometer sample has come, or the latest is too old.
    case magnetometerMissing = "no magnetometer sample young enough"
    /// The acceleration is too small to tell what is up, or not a number.
    case accelerationWeak = "acceleration too small"
    /// The field's strength is not one that the Earth has.
    case fieldImplausible = "field strength implausible"
    /// The field is vertical, or nearly so.
    case fieldVertical = "horizontal field too weak"
    /// The axis asked for is vertical.
    case axisVertical = "heading axis vertical"
}

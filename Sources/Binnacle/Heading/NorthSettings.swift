/// How a ``NorthDetector`` finds its heading, and which bearing it waits for.
public struct NorthSettings: Sendable, Equatable {
    /// The axis whose direction is the heading; the device's top by default.
    public var headingAxis: DeviceAxis = .plusY
    /// The axis that takes over while the heading axis is within 30° of vertical (back above 35°), so that an upright
    /// tablet points where its back looks; `nil` never switches.
    public var uprightAxis: DeviceAxis? = .minusZ
    /// The bearing that counts as faced, in degrees clockwise from magnetic north.
    public var bearingDegrees: Double = 0
    /// Faced within this angle of the bearing; 10° by default.
    public var toleranceDegrees: Double = 10
    /// Left beyond this angle; `nil` is one and a half times the tolerance.
    public var exitDegrees: Double?
    /// How long the device has to face the bearing, or to look away, before it counts; 0.5 s by default.
    public var dwell: Duration = .milliseconds(500)
    /// The time constant of the filter over both sensors; 0.1 s by default.
    ///
    /// On the recording broad05 this leaves 95 % of the headings at rest within 1.8°. At 0.25 s that is 1.5°, but a
    /// turning device lags behind as much longer.
    public var smoothing: Duration = .milliseconds(100)
    /// The oldest magnetometer sample that still makes a pair; 0.1 s by default.
    public var maximumMagnetometerAge: Duration = .milliseconds(100)
    /// How far the heading has to turn from the one told last until it is told again; 1° by default.
    public var headingFilterDegrees: Double = 1
    /// The field strengths in µT that the Earth can have; `nil` takes any, for sources that normalise.
    public var plausibleField: ClosedRange<Double>? = 20...70
    /// Below this level part of the field, in µT, there is no heading; 3 by default.
    public var minimumHorizontalField: Double = 3
    /// Below this acceleration, in g, there is no telling what is up; 0.1 by default.
    public var minimumAccelerationG: Double = 0.1
    /// A longer time without a sample makes the filter and every unconfirmed change start anew; 1 s by default.
    public var gapLimit: Duration = .seconds(1)
    /// How often "device is facing north" is repeated at most; 0.1 s by default.
    public var updateInterval: Duration = .milliseconds(100)

    /// The defaults.
    public init() {}

    /// The exit angle in force, in degrees; by default below 180 for any tolerance.
    public var effectiveExitDegrees: Double {
        exitDegrees ?? min(toleranceDegrees * 1.5, (toleranceDegrees + 180) / 2)
    }

    /// Everything that is wrong with the settings, each with the configuration's key and a sentence.
    public func problems() -> [SettingsProblem] {
        var list = ProblemList()
        list.require(
            "bearing_deg", bearingDegrees >= 0 && bearingDegrees < 360,
            "(\(bearingDegrees)) has to be from 0 up to but not including 360")
        list.require(
            "tolerance_deg", toleranceDegrees > 0 && toleranceDegrees < 180,
            "(\(toleranceDegrees)) has to be above 0 and below 180")
        list.require(
            "exit_deg", effectiveExitDegrees >= toleranceDegrees && effectiveExitDegrees < 180,
            "(\(effectiveExitDegrees)) is not from tolerance_deg (\(toleranceDegrees)) up to 180: it could not be left")
        list.require(
            "upright_axis", uprightAxis.map { $0.rawValue.last != headingAxis.rawValue.last } ?? true,
            "lies along heading_axis (\(headingAxis.rawValue)): both would be vertical at once")
        list.requireNotNegative("dwell_s", dwell)
        list.requireNotNegative("smoothing_s", smoothing)
        list.requireNotNegative("max_age_s", maximumMagnetometerAge)
        list.require(
            "heading_filter_deg", headingFilterDegrees >= 0 && headingFilterDegrees <= 180,
            "(\(headingFilterDegrees)) has to be from 0 to 180")
        if let plausibleField {
            list.require(
                "field_range_uT", plausibleField.lowerBound >= 0 && plausibleField.upperBound.isFinite,
                "has to be two numbers from 0 upwards")
        }
        list.require("min_horizontal_uT", minimumHorizontalField >= 0, "(\(minimumHorizontalField)) is negative")
        list.require("min_acceleration_g", minimumAccelerationG >= 0, "(\(minimumAccelerationG)) is negative")
        list.requirePositive("gap_s", gapLimit)
        list.requireNotNegative("update_interval_s", updateInterval)
        return list.problems
    }
}

public import Binnacle

/// How a detector of attitudes finds an attitude, and when it reports one.
public struct AttitudeSettings: CheckedSettings {
    /// The frame of the Earth and the axes of the body; `EarthFrame.ned` by default, which ships and their instruments use.
    public var frame: EarthFrame = .ned
    /// The axis of the device that points forward, to the bow; the device's top by default.
    public var forwardAxis: DeviceAxis = .plusY
    /// The axis of the device that points up when the body is level; out of the screen by default.
    public var upAxis: DeviceAxis = .plusZ
    /// How far the body has to turn, about any axis, from the attitude reported before until it is reported again, in degrees; 1 by
    /// default.
    public var filterDegrees = 1.0
    /// The roll to either side beyond which a body has heeled, in degrees; `nil`, the default, is none.
    public var heelDegrees: Double?
    /// The pitch up or down beyond which a body has pitched, in degrees; `nil`, the default, is none.
    public var pitchDegrees: Double?
    /// How far below its limit an angle has to come until it is within it again, in degrees; 5 by default.
    public var hysteresisDegrees = 5.0
    /// How long an angle has to be beyond its limit, or within it again, before it counts; 1 s by default.
    public var dwell: Duration = .seconds(1)
    /// The time constant of the filter over accelerometer and magnetometer where there is no gyroscope; 0.1 s by default.
    public var smoothing: Duration = .milliseconds(100)
    /// The standard deviation of the hard iron on each axis of a magnetometer without a calibration, as
    /// ``NorthSettings/uncalibratedIronMicrotesla``.
    package var uncalibratedIronMicrotesla = NorthSettings().uncalibratedIronMicrotesla
    /// North is not known while it may be off by more than this, in degrees; 45 by default.
    public var accuracyLimitDegrees = 45.0
    /// The Earth's field at the place; `nil` when that is not known, and north is magnetic north.
    public var localField: LocalField?
    /// A longer time without a sample makes filters and every unconfirmed change start again; 1 s by default.
    package var gapLimit: Duration = .seconds(1)

    /// The defaults.
    public init() {}

    package func findProblems(_ list: inout ProblemList<AttitudeSettings>) {
        list.require(
            \.upAxis, upAxis.column != forwardAxis.column,
            "lies along \(\Self.forwardAxis) (\(forwardAxis.rawValue)): a body has two different axes",
            others: [\.forwardAxis])
        list.require(
            \.filterDegrees, (0...180).contains(filterDegrees), "(\(filterDegrees)) has to be from 0 to 180")
        func requireLimit(_ property: ProblemList<Self>.Property, _ degrees: Double?, below most: Double) {
            guard let degrees else { return }
            list.require(
                property, degrees > 0 && degrees < most, "(\(degrees)) has to be above 0 and below \(Int(most))")
            list.require(
                \.hysteresisDegrees, hysteresisDegrees < degrees,
                "(\(hysteresisDegrees)) is not below \(property) (\(degrees)): it could not end", others: [property])
        }
        requireLimit(\Self.heelDegrees, heelDegrees, below: 180)
        requireLimit(\Self.pitchDegrees, pitchDegrees, below: 90)
        list.requireNotNegative(\.hysteresisDegrees, hysteresisDegrees)
        list.requireNotNegative(\.dwell, dwell)
        list.requireNotNegative(\.smoothing, smoothing)
        list.requireNotNegative(\.uncalibratedIronMicrotesla, uncalibratedIronMicrotesla)
        list.require(\.localField, localField?.isValid ?? true, "has a number that no place on the Earth has")
        list.requirePositive(\.accuracyLimitDegrees, accuracyLimitDegrees)
        list.requirePositive(\.gapLimit, gapLimit)
    }

    /// What the parts need that find a heading.
    var north: NorthSettings {
        var north = NorthSettings()
        north.headingAxis = forwardAxis
        // An attitude has a north also where the forward axis has no heading.
        north.uprightAxis = upAxis
        north.smoothing = smoothing
        north.uncalibratedIronMicrotesla = uncalibratedIronMicrotesla
        north.accuracyLimitDegrees = accuracyLimitDegrees
        north.localField = localField
        north.gapLimit = gapLimit
        return north
    }
}

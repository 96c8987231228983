public import Binnacle

/// How a ``NorthDetector`` finds its heading, and which bearing it waits for.
public struct NorthSettings: CheckedSettings {
    /// The axis whose direction is the heading; the device's top by default.
    public var headingAxis: DeviceAxis = .plusY
    /// The axis that takes over while the heading axis is within 30° of vertical (back above 35°), so that an upright
    /// tablet points where its back looks; `nil` never switches.
    public var uprightAxis: DeviceAxis? = .minusZ
    /// The bearing that counts as faced, in degrees clockwise from north: from true north when there is a
    /// ``localField``, else from magnetic north.
    public var bearingDegrees: Double = 0
    /// Faced within this angle of the bearing; 10° by default.
    public var toleranceDegrees: Double = 10
    /// Left beyond this angle; `nil` is one and a half times the tolerance.
    public var exitDegrees: Double?
    /// Further ranges of bearings that are watched at the same time; none by default.
    public var sectors: [HeadingSector] = []
    /// How long the device has to face the bearing or a sector, or to look away, before it counts; 0.5 s by default.
    public var dwell: Duration = .milliseconds(500)
    /// The time constant of the filter over both sensors; 0.1 s by default.
    ///
    /// On the recording broad05 this leaves 95 % of the headings at rest within 1.8°. At 0.25 s that is 1.5°, but a
    /// turning device lags behind as much longer.
    public var smoothing: Duration = .milliseconds(100)
    /// The oldest magnetometer sample that still makes a pair; 0.1 s by default.
    package var maximumMagnetometerAge: Duration = .milliseconds(100)
    /// How far the heading has to turn from the one reported before until it is reported again; 1° by default.
    public var headingFilterDegrees: Double = 1
    /// The field strengths in µT that the Earth can have; `nil` takes any, for sources that normalise.
    public var plausibleFieldMicrotesla: ClosedRange<Double>? = 20...70
    /// Below this level part of the field, in µT, there is no heading; 3 by default.
    package var minimumHorizontalFieldMicrotesla: Double = 3
    /// The standard deviation of the hard iron on each axis of a magnetometer without a calibration, in µT; 35 by default, as on bare
    /// circuit boards.
    ///
    /// Until turns have shown the iron, it is in the accuracy. 0 says that maker or driver have removed it.
    package var uncalibratedIronMicrotesla: Double = 35
    /// Below this acceleration, in g, there is no telling what is up; 0.1 by default.
    package var minimumAccelerationG: Double = 0.1
    /// The heading is held, not found, while the acceleration differs from 1 g by more than this, in g; 0.05 by default,
    /// `nil` never.
    ///
    /// On a violently shaken recording both gates together lower the median error from 43° to 1°.
    package var accelerationGateG: Double? = 0.05
    /// The heading is held while the dip differs from the one at rest by more than this, in degrees; 3 by default, `nil`
    /// never.
    package var dipGateDegrees: Double? = 3
    /// A heading that may be off by more than this is held as well, in degrees; 45 by default, `nil` takes any.
    public var accuracyLimitDegrees: Double? = 45
    /// How long the last valid heading is held before it counts as lost; 5 s by default.
    public var holdTime: Duration = .seconds(5)
    /// How far the field's strength may be from what it should be, in percent, until that is interference and there is no
    /// heading; 20 by default, `nil` any.
    public var interferencePercent: Double? = 20
    /// How long interference lasts until the delegate is asked for a calibration; 30 s by default.
    public var calibrationDelay: Duration = .seconds(30)
    /// The Earth's field at the place; `nil` when that is not known, and north is magnetic north.
    public var localField: LocalField?
    /// A longer time without a sample makes the filter and every unconfirmed change start again; 1 s by default.
    package var gapLimit: Duration = .seconds(1)
    /// How often "device is facing north" is repeated at most; 0.1 s by default.
    public var updateInterval: Duration = .milliseconds(100)

    /// The defaults.
    public init() {}

    /// The exit angle in force, in degrees; by default below 180 for any tolerance.
    package var effectiveExitDegrees: Double {
        exitDegrees ?? min(toleranceDegrees * 1.5, (toleranceDegrees + 180) / 2)
    }

    package func findProblems(_ list: inout ProblemList<NorthSettings>) {
        list.require(
            \.bearingDegrees, bearingDegrees >= 0 && bearingDegrees < 360,
            "(\(bearingDegrees)) has to be from 0 up to but not including 360")
        list.require(
            \.toleranceDegrees, toleranceDegrees > 0 && toleranceDegrees < 180,
            "(\(toleranceDegrees)) has to be above 0 and below 180")
        list.require(
            \.exitDegrees, effectiveExitDegrees >= toleranceDegrees && effectiveExitDegrees < 180,
            "(\(effectiveExitDegrees)) is not from \(\Self.toleranceDegrees) (\(toleranceDegrees)) up to 180: "
                + "it could not be left", others: [\.toleranceDegrees])
        list.require(
            \.uprightAxis, uprightAxis.map { $0.rawValue.last != headingAxis.rawValue.last } ?? true,
            "lies along \(\Self.headingAxis) (\(headingAxis.rawValue)): both would be vertical at once",
            others: [\.headingAxis])
        list.requireNotNegative(\.dwell, dwell)
        list.requireNotNegative(\.smoothing, smoothing)
        list.requireNotNegative(\.maximumMagnetometerAge, maximumMagnetometerAge)
        list.require(
            \.headingFilterDegrees, headingFilterDegrees >= 0 && headingFilterDegrees <= 180,
            "(\(headingFilterDegrees)) has to be from 0 to 180")
        if let plausibleField = plausibleFieldMicrotesla {
            list.require(
                \.plausibleFieldMicrotesla, plausibleField.lowerBound >= 0 && plausibleField.upperBound.isFinite,
                "has to be two numbers from 0 upwards")
        }
        list.requireNotNegative(\.minimumHorizontalFieldMicrotesla, minimumHorizontalFieldMicrotesla)
        list.requireNotNegative(\.uncalibratedIronMicrotesla, uncalibratedIronMicrotesla)
        list.require(\.localField, localField?.isValid ?? true, "has a number that no place on the Earth has")
        list.requireNotNegative(\.minimumAccelerationG, minimumAccelerationG)
        list.requirePositive(\.accelerationGateG, accelerationGateG)
        if let dipGateDegrees {
            list.require(
                \.dipGateDegrees, dipGateDegrees > 0 && dipGateDegrees <= 90,
                "(\(dipGateDegrees)) has to be above 0 and up to 90")
        }
        list.requirePositive(\.accuracyLimitDegrees, accuracyLimitDegrees)
        list.requirePositive(\.holdTime, holdTime)
        if let interferencePercent {
            list.require(
                \.interferencePercent, interferencePercent > 0 && interferencePercent < 100,
                "(\(interferencePercent)) has to be above 0 and below 100")
        }
        list.requireNotNegative(\.calibrationDelay, calibrationDelay)
        for sector in sectors { list.require(sector) }
        list.requirePositive(\.gapLimit, gapLimit)
        list.requireNotNegative(\.updateInterval, updateInterval)
    }
}

extension ProblemList<NorthSettings> {
    fileprivate mutating func require(_ sector: HeadingSector) {
        for bearing in [sector.fromDegrees, sector.toDegrees] {
            require(
                \.sectors, bearing >= 0 && bearing < 360,
                "(\(sector.name): \(bearing)) has to be from 0 up to but not including 360")
        }
        require(\.sectors, sector.toleranceDegrees > 0, "(\(sector.name)) is as narrow as nothing")
        require(
            \.sectors, sector.marginDegrees >= 0 && sector.exitDegrees < 180,
            "(\(sector.name)) could not be left: with a margin of \(sector.marginDegrees)° on both sides it is a full turn"
        )
    }
}

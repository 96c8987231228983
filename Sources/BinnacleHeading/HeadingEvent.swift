public import Binnacle
import Glibc
import SensorGeometry

/// The heading that a ``NorthDetector`` found at one sample, or the one that it holds.
public struct HeadingEvent: Sendable, Equatable {
    /// The stamp of the sample that decided it, in nanoseconds: the gyroscope's where it is used, else the accelerometer's.
    public let timeNanoseconds: Int64
    /// Where ``axis`` points, in degrees clockwise from north, from 0 up to but not including 360.
    public let headingDegrees: Double
    /// By how much magnetic north lies east of true north, in degrees; `nil` when the place is not known.
    public let declinationDegrees: Double?
    /// How far off the heading may be, in degrees: about nine of ten are nearer to the truth.
    ///
    /// It comes from the sensors' noise, the calibration's residual, what the gates see and the declination's
    /// uncertainty. Every event has a heading, and so an accuracy of 0 or more; where there is no heading there is no
    /// event.
    public let accuracyDegrees: Double
    /// How old the heading is: zero when it was found at this sample.
    ///
    /// More is a *stale* heading: the last one that was valid, held while the gates are closed.
    public let age: Duration
    /// The axis whose direction is given: the heading axis or, on a device held upright, the upright axis.
    public let axis: DeviceAxis
    /// The turn from the heading to the bearing waited for, in degrees; negative to the left.
    public let offDegrees: Double
    /// The strength of the smoothed field in µT.
    public let fieldMicrotesla: Double
    /// The angle by which the field points below the horizon, in degrees.
    public let dipDegrees: Double

    /// How the device lies in the world: the rotation from its frame (x right, y top, z out of the screen) to east, the north
    /// of ``reference`` and up.
    public let orientation: Quaternion
    /// How fast the heading grows, in degrees a second, clockwise; `nil` where no gyroscope is used.
    public let turnRateDegreesPerSecond: Double?

    /// How far the device's top points above the horizon, in degrees from −90 to 90.
    public var pitchDegrees: Double { asin(min(max(orientation.matrix.z.y, -1), 1)) * 180 / .pi }
    /// How far the device is turned about its y axis, in degrees from −180 to 180: positive when its right side is down.
    public var rollDegrees: Double { atan2(-orientation.matrix.z.x, orientation.matrix.z.z) * 180 / .pi }

    /// Which north the heading counts from: true north where the detector knows its place, else magnetic north.
    public var reference: HeadingReference { declinationDegrees == nil ? .magnetic : .true }

    /// Whether the heading is held from an earlier sample.
    public var isStale: Bool { age > .zero }
}

extension HeadingEvent: DetectorResult {
    package func value(of figure: Figure.Name) -> Figure.Value? {
        switch figure {
        case .heading: figure.direction(headingDegrees)
        // Magnetic north is where the sensors point by themselves, and is not told.
        case .reference: reference == .true ? .word(reference) : nil
        case .declination: declinationDegrees.map(figure.number)
        case .accuracy: figure.number(accuracyDegrees)
        case .age: isStale ? figure.number(Units.seconds(age)) : nil
        case .axis: .word(axis)
        case .off: figure.number(offDegrees)
        case .field: figure.number(fieldMicrotesla)
        case .dip: figure.number(dipDegrees)
        case .turnRate: turnRateDegreesPerSecond.map(figure.number)
        default: nil
        }
    }
}

/// Why there is no heading any more.
public struct HeadingLoss: Sendable, Equatable {
    /// The stamp of the sample that decided it, in nanoseconds.
    public let timeNanoseconds: Int64
    /// Why.
    public let fault: HeadingFault
    /// The sensor to blame; `nil` when it is neither of the two.
    public let sensor: String?
    /// How long the last valid heading was held; `nil` when there never was one.
    public let held: Duration?
}

extension HeadingLoss: DetectorResult {
    package func value(of figure: Figure.Name) -> Figure.Value? {
        switch figure {
        case .reason: .text(fault.rawValue)
        case .age: held.map { figure.number(Units.seconds($0)) }
        default: nil
        }
    }
}

/// What the strength of the field shows about iron nearby, or of a calibration that does not fit.
public struct FieldEvent: Sendable, Equatable {
    /// The stamp of the accelerometer's sample, in nanoseconds.
    public let timeNanoseconds: Int64
    /// The strength of the smoothed field, in µT.
    public let fieldMicrotesla: Double
    /// The strength that it should have, in µT: the calibration's, the place's, or what it was until now.
    public let expectedMicrotesla: Double
}

extension FieldEvent: DetectorResult {
    package func value(of figure: Figure.Name) -> Figure.Value? {
        switch figure {
        case .field: figure.number(fieldMicrotesla)
        case .expected: figure.number(expectedMicrotesla)
        default: nil
        }
    }
}

/// Why there was no heading at a sample.
public enum HeadingFault: String, Sendable, CaseIterable, Error {
    /// No magnetometer sample has come, or the latest is too old.
    case magnetometerMissing = "no magnetometer sample young enough"
    /// No accelerometer sample has come for as long as a heading is held.
    case accelerometerMissing = "no accelerometer sample"
    /// The acceleration is too small to tell what is up, or not a number.
    case accelerationWeak = "acceleration too small"
    /// The field's strength is not one that the Earth has.
    case fieldImplausible = "field strength implausible"
    /// The field is vertical, or nearly so.
    case fieldVertical = "horizontal field too weak"
    /// The axis asked for is vertical.
    case axisVertical = "heading axis vertical"
    /// The acceleration is not gravity alone, so that up is not known.
    case accelerating = "accelerating"
    /// The field's dip is not what it is at rest.
    case dipDeparted = "dip not as at rest"
    /// At rest the field points up where it points down at the place, or the other way round.
    case gravityReversed =
        "the accelerometer's sign is probably the other one: acceleration = \"gravity\" in its section corrects it"
    /// The field's strength is not what it is here: there is iron or a magnet nearby.
    case interference = "magnetic interference"
    /// The device turns faster than the gyroscope measures.
    case rateSaturated = "turning faster than the gyroscope measures"
    /// An axis of the accelerometer keeps its value while the device turns.
    case accelerometerFrozen =
        "an axis of the accelerometer does not change while the device turns: frozen, or at the end of its range"
    /// An axis of the magnetometer keeps its value while the device turns.
    case magnetometerFrozen =
        "an axis of the magnetometer does not change while the device turns: frozen, or at the end of its range"
    /// The gyroscope and the accelerometer turn alike, and the magnetometer otherwise.
    case magnetometerMisaligned =
        "the magnetometer turns otherwise than gyroscope and accelerometer: its mount_matrix corrects it"
    /// The heading may be off by more than the limit.
    case inaccurate = "accuracy beyond the limit"
    /// The magnetometer was not calibrated, and the device was not turned enough since the start to show the iron in it.
    case ironUnknown = "hard iron unknown until the device has been turned"
    /// The device is too near to a magnetic pole.
    case blackout = "in the blackout zone around a magnetic pole"
    /// One of the two sensors failed.
    case sensorFailed = "sensor failed"

    /// Whether it passes by itself as the device moves, so that what was decided before still holds.
    var isPassing: Bool {
        switch self {
        case .accelerating, .dipDeparted, .inaccurate, .ironUnknown, .rateSaturated: true
        default: false
        }
    }
    /// Whether the accelerometer is to blame; `nil` when neither sensor is.
    var isOfAccelerometer: Bool? {
        switch self {
        case .accelerometerMissing, .accelerometerFrozen, .accelerationWeak, .accelerating, .gravityReversed: true
        case .magnetometerMissing, .magnetometerFrozen, .magnetometerMisaligned, .fieldImplausible, .fieldVertical,
            .dipDeparted, .interference, .ironUnknown:
            false
        case .axisVertical, .inaccurate, .blackout, .sensorFailed, .rateSaturated: nil
        }
    }
}

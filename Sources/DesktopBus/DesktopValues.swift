package import Binnacle

/// A sensor that desktop programs claim; the raw value is its word in the members of the interface.
package enum DesktopSensor: String, Sendable, CaseIterable {
    case accelerometer = "Accelerometer"
    case light = "Light"
    case proximity = "Proximity"
    case compass = "Compass"

    fileprivate var bit: UInt8 {
        switch self {
        case .accelerometer: 1
        case .light: 2
        case .proximity: 4
        case .compass: 8
        }
    }
}

/// A set of sensors, which is compared after each delivery.
package struct DesktopSensors: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The set of one sensor.
    package init(_ sensor: DesktopSensor) { rawValue = sensor.bit }

    package func contains(_ sensor: DesktopSensor) -> Bool { rawValue & sensor.bit != 0 }

    package mutating func set(_ sensor: DesktopSensor, _ isMember: Bool) {
        if isMember { formUnion(Self(sensor)) } else { subtract(Self(sensor)) }
    }
}

package struct DesktopValues: Sendable, Equatable {
    /// The sensors that the machine has.
    package var present: DesktopSensors = []
    /// The sensors that have delivered since they were last switched on, so that their values are not old.
    package var fresh: DesktopSensors = []
    /// The edge of the screen that points up.
    package var orientation = ScreenOrientation.undefined
    package var tilt = ScreenTilt.undefined
    /// In ``lightUnit``.
    package var lightLevel = 0.0
    package var lightUnit = LightEvent.Unit.lux
    package var isNear = false
    /// The magnetic heading, in degrees from 0 up to but not including 360; −1 without one.
    package var headingDegrees = -1.0

    package init() {}
}

package import Binnacle
import Glibc
import SensorGeometry

/// How the device lies in the world: the directions up, magnetic east and magnetic north in the device's frame.
///
/// The vector form, without Euler angles: U = a/|a|, E = (m × a)/|m × a|, N = U × E. It works face down and in any
/// other attitude, and it does not depend on the strength of gravity or field.
package struct Attitude: Sendable, Equatable {
    /// Up, against gravity; a unit vector.
    package let up: SIMD3<Double>
    /// Magnetic east, level; a unit vector.
    package let east: SIMD3<Double>
    /// Magnetic north, level; a unit vector.
    package let north: SIMD3<Double>
    /// The length of the acceleration in m/s².
    package let acceleration: Double
    /// The length of the field in µT.
    package let field: Double
    /// The length of the field's level part in µT.
    package let horizontalField: Double

    /// The angle by which the field points below the horizon, in degrees; negative in the south.
    package var dipDegrees: Double {
        // Both lengths come from the same two vectors, so this is the angle between field and level plane.
        atan2(-verticalField, horizontalField) * 180 / .pi
    }

    /// The length of the upright part in µT, negative where the field points down.
    let verticalField: Double

    /// A level part of the field, or of an axis, below this share of its length has no direction worth the name:
    /// 0.001 is 0.06°.
    private static let smallestShare = 1e-3

    /// Finds the attitude from two vectors in the device's frame; fails when one is zero or not finite, or when both are
    /// parallel.
    ///
    /// - Parameters:
    ///   - acceleration: Specific force in m/s²; at rest the axis that points up reads +9.81.
    ///   - field: The magnetic field in µT.
    package init?(acceleration: SIMD3<Double>, field: SIMD3<Double>) {
        let a = length(acceleration)
        let m = length(field)
        let eastward = cross(field, acceleration)
        let level = length(eastward)
        // Written so that NaN and infinity fail as well.
        guard a > 0, m > 0, level > Attitude.smallestShare * a * m, level < .infinity else { return nil }
        up = acceleration / a
        east = eastward / level
        north = cross(up, east)
        self.acceleration = a
        self.field = m
        horizontalField = level / a
        verticalField = dot(field, up)
    }

    /// Takes an attitude that is known, and the field that belongs to it.
    init(frame: Matrix3, field: Double, horizontalField: Double, verticalField: Double) {
        (east, north, up) = (frame.x, frame.y, frame.z)
        acceleration = Gravity.standard
        self.field = field
        self.horizontalField = horizontalField
        self.verticalField = verticalField
    }

    /// The rotation from the device's frame to east, magnetic north and up.
    var rotation: Quaternion { Quaternion(Matrix3(east, north, up)) }

    /// The share of an axis that points straight up (1) or down (−1).
    package func verticalShare(of axis: DeviceAxis) -> Double {
        axis.component(of: up)
    }

    /// Whether an axis is far enough from vertical to point anywhere.
    package func hasHeading(of axis: DeviceAxis) -> Bool {
        let (toEast, toNorth) = components(of: axis)
        return (toEast * toEast + toNorth * toNorth).squareRoot() > Attitude.smallestShare
    }

    /// Where an axis points, in degrees clockwise from magnetic north, from 0 up to but not including 360; `nil` when it is
    /// vertical.
    package func headingDegrees(of axis: DeviceAxis) -> Double? {
        guard hasHeading(of: axis) else { return nil }
        let (toEast, toNorth) = components(of: axis)
        return Angle.normalizedDegrees(atan2(toEast, toNorth) * 180 / .pi)
    }

    /// How far an axis points to the east and to the north.
    func components(of axis: DeviceAxis) -> (toEast: Double, toNorth: Double) {
        (axis.component(of: east), axis.component(of: north))
    }
}

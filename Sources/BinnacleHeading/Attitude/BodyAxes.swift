package import Binnacle
import SensorGeometry

/// How a body lies in the device, and its frame of the Earth.
package struct BodyAxes {
    let frame: EarthFrame
    /// From the device's axes to those of the body; its rows are the body's axes.
    private let fromDevice: Matrix3
    private let toDevice: Quaternion
    private let fromEastNorthUp: Quaternion

    /// Creates the axes of a body whose forward and upward axes are known in the device.
    ///
    /// - Precondition: They lie along different axes.
    package init(_ frame: EarthFrame, forward: DeviceAxis, up: DeviceAxis) {
        self.frame = frame
        let (ahead, upward) = (forward.vector, up.vector)
        let left = cross(upward, ahead)
        fromDevice = frame == .enu ? Matrix3(ahead, left, upward) : Matrix3(ahead, -left, -upward)
        toDevice = Quaternion(fromDevice.transposed)
        fromEastNorthUp = frame.fromEastNorthUp
    }

    func vector(_ device: Vector3) -> Vector3 { fromDevice * device }

    /// The attitude of the body, whose device has an orientation in east, north and up; w is 0 or more.
    package func attitude(_ device: Quaternion) -> Quaternion {
        let attitude = (fromEastNorthUp * device * toDevice).normalized
        guard attitude.w < 0 else { return attitude }
        return Quaternion(w: -attitude.w, x: -attitude.x, y: -attitude.y, z: -attitude.z)
    }
}

extension EarthFrame {
    /// The rotation to this frame from east, north and up.
    var fromEastNorthUp: Quaternion {
        let half = 0.5.squareRoot()
        return self == .enu ? .identity : Quaternion(w: 0, x: half, y: half, z: 0)
    }
}

extension DeviceAxis {
    /// The direction as a unit vector.
    var vector: Vector3 {
        var vector = Vector3.zero
        vector[column] = isReversed ? -1 : 1
        return vector
    }
}

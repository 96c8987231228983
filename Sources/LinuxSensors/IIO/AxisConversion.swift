import Binnacle

/// Turns the raw values of three axes into m/s² or µT in the device's frame, in one step.
///
/// The order is fixed: (raw + offset) × scale for each axis by itself, then the mount matrix, then the sign. A scale
/// that were applied after a matrix that swaps axes would be the wrong axis's.
///
/// Source: Linux, Documentation/ABI/testing/sysfs-bus-iio, `in_*_scale`, `in_*_offset`, `in_*_mount_matrix`.
package struct AxisConversion: Sendable, Equatable {
    private let rows: (x: Row, y: Row, z: Row)

    private struct Row: Equatable {
        var x = 0.0
        var y = 0.0
        var z = 0.0
        var constant = 0.0

        func apply(_ x: Double, _ y: Double, _ z: Double) -> Float {
            Float(self.x * x + self.y * y + self.z * z + constant)
        }
    }

    /// - Parameters:
    ///   - scales: Of x, y and z, into the unit that `factor` starts from.
    ///   - offsets: Of x, y and z, added to the raw value.
    ///   - matrix: From the sensor's axes to the device's.
    ///   - factor: From the kernel's unit to m/s² or µT, negative where the sign is the other.
    package init(scales: [Double], offsets: [Double], matrix: MountMatrix, factor: Double) {
        func row(_ start: Int) -> Row {
            let m = (0..<3).map { matrix.elements[start + $0] * scales[$0] * factor }
            return Row(
                x: m[0], y: m[1], z: m[2], constant: m[0] * offsets[0] + m[1] * offsets[1] + m[2] * offsets[2])
        }
        rows = (row(0), row(3), row(6))
    }

    package func apply(x: Double, y: Double, z: Double) -> (x: Float, y: Float, z: Float) {
        (rows.x.apply(x, y, z), rows.y.apply(x, y, z), rows.z.apply(x, y, z))
    }

    package static func == (left: AxisConversion, right: AxisConversion) -> Bool {
        left.rows == right.rows
    }
}

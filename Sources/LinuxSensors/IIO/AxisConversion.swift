import Binnacle
package import Kernels
import SensorGeometry

/// Turns the raw values of three axes into m/s², µT or rad/s in the device's frame, in one step.
///
/// The order is fixed: (raw + offset) × scale for each axis by itself, then the mount matrix, then the sign. A scale
/// that were applied after a matrix that swaps axes would be the wrong axis's.
///
/// Source: Linux, Documentation/ABI/testing/sysfs-bus-iio, `in_*_scale`, `in_*_offset`, `in_*_mount_matrix`.
package struct AxisConversion: Sendable, Equatable {
    /// The same as the kernels take it.
    package let kernel: ScanConversion

    /// - Parameters:
    ///   - scales: Of x, y and z, into the unit that `factor` starts from.
    ///   - offsets: Of x, y and z, added to the raw value.
    ///   - matrix: From the sensor's axes to the device's.
    ///   - factor: From the kernel's unit to m/s², µT or rad/s, negative where the sign is the other.
    package init(scales: [Double], offsets: [Double], matrix: MountMatrix, factor: Double) {
        func row(_ number: Int) -> SIMD4<Double> {
            let m = (0..<3).map { matrix.matrix.rows[number][$0] * scales[$0] * factor }
            return SIMD4(m[0], m[1], m[2], m[0] * offsets[0] + m[1] * offsets[1] + m[2] * offsets[2])
        }
        kernel = ScanConversion(x: row(0), y: row(1), z: row(2))
    }

    package func apply(x: Double, y: Double, z: Double) -> (x: Float, y: Float, z: Float) {
        kernel.apply(x: x, y: y, z: z)
    }
}

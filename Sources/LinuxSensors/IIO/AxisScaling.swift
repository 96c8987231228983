package import Kernels
import SensorGeometry

/// The conversion of the raw values of three axes to m/s², µT or rad/s in the device's frame, as the device describes it.
///
/// The order is fixed: (raw + offset) × scale for each axis, then the mount matrix, then the sign. A scale applied after a matrix
/// that swaps axes would be the wrong axis's.
///
/// Source: Linux, Documentation/ABI/testing/sysfs-bus-iio, `in_*_scale`, `in_*_offset`, `in_*_mount_matrix`.
package struct AxisScaling: Sendable, Equatable {
    /// The scales of x, y and z to the kernel's unit.
    package let scales: [Double]
    /// The offsets of x, y and z, added to the raw value.
    package let offsets: [Double]
    /// From the sensor's axes to the device's.
    package let matrix: MountMatrix
    /// From the kernel's unit to m/s², µT or rad/s; negative if the sign is reversed.
    package let factor: Double

    package init(scales: [Double], offsets: [Double], matrix: MountMatrix, factor: Double) {
        self.scales = scales
        self.offsets = offsets
        self.matrix = matrix
        self.factor = factor
    }

    /// The whole conversion as one step.
    package var conversion: ScanConversion {
        func row(_ number: Int) -> SIMD4<Double> {
            let m = (0..<3).map { matrix.matrix.rows[number][$0] * scales[$0] * factor }
            return SIMD4(m[0], m[1], m[2], m[0] * offsets[0] + m[1] * offsets[1] + m[2] * offsets[2])
        }
        return ScanConversion(x: row(0), y: row(1), z: row(2))
    }
}

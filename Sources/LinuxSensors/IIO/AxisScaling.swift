/// How a device says that the raw values of three axes become m/s², µT or rad/s in the device's frame.
package struct AxisScaling: Sendable, Equatable {
    /// Of x, y and z, into the kernel's unit.
    package let scales: [Double]
    /// Of x, y and z, added to the raw value.
    package let offsets: [Double]
    /// From the sensor's axes to the device's.
    package let matrix: MountMatrix
    /// From the kernel's unit to m/s², µT or rad/s, negative where the sign is the other.
    package let factor: Double

    /// Creates a scaling.
    package init(scales: [Double], offsets: [Double], matrix: MountMatrix, factor: Double) {
        self.scales = scales
        self.offsets = offsets
        self.matrix = matrix
        self.factor = factor
    }

    /// All of it in one step.
    package var conversion: AxisConversion {
        AxisConversion(scales: scales, offsets: offsets, matrix: matrix, factor: factor)
    }
}

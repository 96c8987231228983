/// A sensor of a virtual device, with its numbers in the HID usage tables.
///
/// The numbers are those of the HID Usage Tables 1.5, chapter 24 (usage page 0x20, sensors).
package enum VirtualSensor: Sendable, CaseIterable {
    /// The specific force, in m/s².
    case accelerometer
    /// The angular velocity, in degrees per second.
    case gyroscope
    /// The magnetic field, in µT.
    case magnetometer

    private var row: (usage: UInt16, axes: [UInt16], exponent: Int, unitsPerCount: Double, driver: String) {
        switch self {
        // A count is a thousandth of standard gravity.
        case .accelerometer: (0x73, [0x0453, 0x0454, 0x0455], -3, 0.009_806_65, "hid-sensor-accel-3d")
        case .gyroscope: (0x76, [0x0457, 0x0458, 0x0459], -3, 0.001, "hid-sensor-gyro-3d")
        // A count is a milligauss.
        case .magnetometer: (0x83, [0x0485, 0x0486, 0x0487], 0, 0.1, "hid-sensor-magn-3d")
        }
    }

    /// The usage of the physical collection, which selects the kernel's driver.
    var usage: UInt16 { row.usage }

    /// The usages of the axes x, y and z.
    var axisUsages: [UInt16] { row.axes }

    /// The default power of ten of a count, in the sensor's default unit: g, degrees per second, or milligauss.
    var unitExponent: Int { row.exponent }

    /// The size of such a count in m/s², degrees per second, or µT.
    package var unitsPerCount: Double { row.unitsPerCount }

    /// The kernel's driver, in most distributions a separate module.
    package var driver: String { row.driver }

    /// Converts values in the sensor's unit to the nearest counts in a range; `nil` when a value is NaN.
    package func counts(
        _ values: SIMD3<Double>, in range: ClosedRange<Int32>, finerBy divisor: Double = 1
    ) -> SIMD3<Int32>? {
        var counts = SIMD3<Int32>()
        for axis in 0..<3 {
            let count = values[axis] / unitsPerCount * divisor
            guard !count.isNaN else { return nil }
            let limited = min(max(count, Double(range.lowerBound)), Double(range.upperBound))
            // Round half away from zero, symmetrically for both signs.
            counts[axis] = Int32(limited.rounded())
        }
        return counts
    }
}

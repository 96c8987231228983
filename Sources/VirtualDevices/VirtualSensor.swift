/// A sensor of a virtual device, with its numbers in the HID usage tables.
///
/// The numbers are those of the HID Usage Tables 1.5, chapter 24 (usage page 0x20, sensors).
package enum VirtualSensor: UInt8, Sendable, CaseIterable, Comparable {
    /// The specific force, in m/s².
    case accelerometer
    /// The angular velocity, in degrees per second.
    case gyroscope
    /// The magnetic field, in µT.
    case magnetometer

    private struct Properties {
        let usage: UInt16
        let axisUsages: [UInt16]
        let unitExponent: Int
        let unitsPerCount: Double
        let driver: String
    }

    private var properties: Properties {
        switch self {
        case .accelerometer:
            // A count is a thousandth of standard gravity.
            Properties(
                usage: 0x73, axisUsages: [0x0453, 0x0454, 0x0455], unitExponent: -3, unitsPerCount: 0.009_806_65,
                driver: "hid-sensor-accel-3d")
        case .gyroscope:
            Properties(
                usage: 0x76, axisUsages: [0x0457, 0x0458, 0x0459], unitExponent: -3, unitsPerCount: 0.001,
                driver: "hid-sensor-gyro-3d")
        case .magnetometer:
            // A count is a milligauss.
            Properties(
                usage: 0x83, axisUsages: [0x0485, 0x0486, 0x0487], unitExponent: 0, unitsPerCount: 0.1,
                driver: "hid-sensor-magn-3d")
        }
    }

    /// The usage of the physical collection, which selects the kernel's driver.
    var usage: UInt16 { properties.usage }

    /// The usages of the axes x, y and z.
    var axisUsages: [UInt16] { properties.axisUsages }

    /// The default power of ten of a count, in the sensor's default unit: g, degrees per second, or milligauss.
    var unitExponent: Int { properties.unitExponent }

    /// The size of such a count in m/s², degrees per second, or µT.
    package var unitsPerCount: Double { properties.unitsPerCount }

    /// The kernel's driver, in most distributions a separate module.
    package var driver: String { properties.driver }

    /// The order of sensors in a device.
    package static func < (left: VirtualSensor, right: VirtualSensor) -> Bool { left.rawValue < right.rawValue }

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

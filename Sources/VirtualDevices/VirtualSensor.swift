/// What a virtual device measures: the part of the HID usage tables and of the input layer that sensors need.
///
/// The numbers are those of the HID Usage Tables 1.5, chapter 24 (usage page 0x20, sensors).
package enum VirtualSensor: UInt8, Sendable, CaseIterable, Comparable {
    /// The specific force, in m/s².
    case accelerometer
    /// The angular velocity, in degrees a second.
    case gyroscope
    /// The magnetic field, in µT.
    case magnetometer

    /// The usage of the physical collection, from which the kernel chooses its driver.
    var usage: UInt16 {
        switch self {
        case .accelerometer: 0x73
        case .gyroscope: 0x76
        case .magnetometer: 0x83
        }
    }

    /// The usages of the axes x, y and z.
    var axisUsages: [UInt16] {
        switch self {
        case .accelerometer: [0x0453, 0x0454, 0x0455]
        case .gyroscope: [0x0457, 0x0458, 0x0459]
        case .magnetometer: [0x0485, 0x0486, 0x0487]
        }
    }

    /// The power of ten by which a count is multiplied where nothing else is said, in the unit that the sensor has without
    /// any: g, degrees a second, and milligauss.
    var unitExponent: Int {
        switch self {
        case .accelerometer, .gyroscope: -3
        case .magnetometer: 0
        }
    }

    /// What such a count is, in m/s², degrees a second, or µT.
    package var unitsPerCount: Double {
        switch self {
        // A thousandth of standard gravity.
        case .accelerometer: 0.009_806_65
        case .gyroscope: 0.001
        // A milligauss.
        case .magnetometer: 0.1
        }
    }

    /// The kernel's driver, which is a module of its own in most distributions.
    package var driver: String {
        switch self {
        case .accelerometer: "hid-sensor-accel-3d"
        case .gyroscope: "hid-sensor-gyro-3d"
        case .magnetometer: "hid-sensor-magn-3d"
        }
    }

    /// Whether it comes first in a device's list.
    package static func < (left: VirtualSensor, right: VirtualSensor) -> Bool { left.rawValue < right.rawValue }

    /// Measured values as counts: the nearest ones, and at the ends of the range those.
    ///
    /// - Parameters:
    ///   - values: The three axes in the sensor's unit.
    ///   - range: The counts that the device has.
    ///   - divisor: By how much the device's counts are finer than ``unitsPerCount``.
    /// - Returns: The counts; `nil` when a value is no number.
    package func counts(
        _ values: SIMD3<Double>, in range: ClosedRange<Int32>, finerBy divisor: Double = 1
    ) -> SIMD3<Int32>? {
        var counts = SIMD3<Int32>()
        for axis in 0..<3 {
            let count = values[axis] / unitsPerCount * divisor
            guard !count.isNaN else { return nil }
            let limited = min(max(count, Double(range.lowerBound)), Double(range.upperBound))
            // Halves away from zero, so that both signs are treated alike.
            counts[axis] = Int32(limited.rounded())
        }
        return counts
    }
}

import SensorGeometry

/// What is known of a driver's events beyond its attributes.
struct ChipRule: Sendable, Equatable {
    /// The unit of a threshold.
    enum Threshold: Sendable, Equatable {
        /// m/s², times the rate in Hz: a change a second, in m/s³.
        case ratePerSecond
        /// A step of so many m/s².
        case step(Double)
        /// A step of a part of the acceleration that the chip can measure.
        case ofRange(Double)
        /// g, in steps of so many, whatever the attribute `…_scale` says; an integer is in that attribute's unit.
        case g(step: Double)
    }

    /// The beginning of the driver's name, with `_` in place of `-`.
    let driver: String
    let threshold: Threshold
    /// Whether the events of movement compare with the acceleration before, so that gravity is no movement.
    let isRelative: Bool
    /// The largest threshold that the driver takes, in its units; `nil` without a limit.
    let limit: Double?
    /// What a period is counted in, where the driver does not take seconds.
    var periodSeconds = 1.0

    private static let g = Gravity.standard

    /// From the drivers of Linux 6.12 and 7.2, and the data sheets of the chips where these give the unit of a register.
    ///
    /// - inv_mpu6050, inv_icm42600: write_event_value takes micro-m/s³ and divides by the rate.
    /// - bmc150-accel: the slope register, 3.91 mg at ±2 g (BMC150, slope_th), compares two samples.
    /// - bma400: generic interrupt, 8 mg, with the reference updated at every sample (BMA400, gen1_act_refu);
    ///   a period counts samples at 100 Hz.
    /// - st_lsm6dsx: WK_THS of 1/64 of the range, on a slope filter (LSM6DSO, WAKE_UP_THS).
    /// - mma8452: transient threshold of 0.063 g, behind a high-pass filter (MMA8452Q, TRANSIENT_THS).
    /// - adxl345, which has events on newer kernels: its thresholds are steps of 0.0625 that the driver converts to g, and its attribute
    ///   `…_scale` is that of a step nevertheless, so that a threshold in m/s² would be 16 times as high as what is written.
    /// - kxcjk-1013: 1/16 g (KXCJ9, WAKEUP_THRESHOLD); the data sheets do not agree whether gravity is taken off.
    static let all = [
        ChipRule(driver: "inv_mpu", threshold: .ratePerSecond, isRelative: true, limit: nil),
        ChipRule(driver: "inv_icm", threshold: .ratePerSecond, isRelative: true, limit: nil),
        ChipRule(driver: "bmc150", threshold: .ofRange(1.0 / 512), isRelative: true, limit: 255),
        ChipRule(driver: "bma400", threshold: .step(0.008 * g), isRelative: true, limit: 255, periodSeconds: 0.01),
        ChipRule(driver: "st_lsm6dsx", threshold: .ofRange(1.0 / 64), isRelative: true, limit: 31),
        ChipRule(driver: "mma8452", threshold: .step(0.063 * g), isRelative: true, limit: 127),
        ChipRule(driver: "adxl345", threshold: .g(step: 1.0 / 16), isRelative: false, limit: 255.0 / 16),
        ChipRule(driver: "kxcjk", threshold: .step(g / 16), isRelative: false, limit: 255),
    ]

    /// A name of a driver or an interrupt for comparing.
    static func plain(_ name: String) -> String { String(name.lowercased().map { $0 == "-" ? "_" : $0 }) }
}

public import Binnacle

/// The settings for reading a device.
public struct SensorSettings: CheckedSettings {
    /// The meaning of the accelerometer's sign.
    public enum Acceleration: String, Sendable, CaseIterable {
        /// The axis that points up reads +9.81 m/s² at rest, as the kernel documents it.
        case specificForce = "specific_force"
        /// The axis that points down reads +9.81 m/s² at rest, as in many laptops.
        case gravity

        var factor: Double { self == .gravity ? -1 : 1 }
    }

    /// The wanted sampling rate in Hz, above 0 and up to 1 MHz; the device uses the nearest that it has.
    public var rateHz = 100.0
    /// The rate that each kind needs, in Hz, if it is known and the user asked for no rate.
    package var neededRatesHz: [SampleKind: Double] = [:]
    /// The longest time before a sample is read, at most an hour, so that one wake-up serves many samples; zero reads each at once.
    public var latency = Duration.milliseconds(50)
    /// ``latency`` while nothing moves; `nil` is the same.
    package var restLatency: Duration?
    /// The polling interval of a device without a buffer, at most an hour.
    public var updateInterval = Duration.milliseconds(100)
    /// Whether the device is polled through sysfs although it has a buffer.
    public var isPolled = false
    /// The trigger of the device, instead of its own or the current one.
    public var trigger: String?
    /// The meaning of the accelerometer's sign.
    public var acceleration = Acceleration.specificForce
    /// The mount matrix; `nil` uses that of the kernel or udev.
    public var mountMatrix: MountMatrix?
    /// The matrix from the gyroscope's axes to the device's, used unchanged instead of the mount matrix.
    public var gyroscopeMatrix: MountMatrix?

    /// What is wanted of the chip; `nil` when it is not asked.
    package var chip: ChipSettings?

    /// The defaults.
    public init() {}

    package func findProblems(_ list: inout ProblemList<SensorSettings>) {
        list.require(\.rateHz, rateHz > 0 && rateHz <= 1e6, "(\(rateHz)) is not above 0 and up to 1000000")
        let longest = Duration.seconds(3600)
        list.require(\.latency, (.zero...longest).contains(latency), "(\(latency)) is not from 0 to 3600 s")
        list.require(
            \.updateInterval, updateInterval > .zero && updateInterval <= longest,
            "(\(updateInterval)) is not above 0 and up to 3600 s")
    }

    /// The rate for a device with some kinds, which share a rate.
    package func rateHz(for kinds: [SampleKind]) -> Double { kinds.map { neededRatesHz[$0] ?? rateHz }.max() ?? rateHz }

    /// The settings for a device that delivers the samples of another request as well.
    func shared(with guest: SensorRequest) -> SensorSettings {
        var settings = self
        for kind in guest.kinds { settings.neededRatesHz[kind] = guest.settings.rateHz(for: [kind]) }
        settings.latency = min(latency, guest.settings.latency)
        settings.restLatency = nil
        settings.updateInterval = min(updateInterval, guest.settings.updateInterval)
        // What needs the magnetometer needs it at rest, too.
        if chip?.reports.isEmpty == true { settings.chip = nil } else { settings.chip?.rests = false }
        return settings
    }

    /// The matrix and the factor from raw values to samples of a kind; `known` is the matrix of the kernel or udev.
    func mounting(
        _ kind: SampleKind, known: () throws(SensorFailure) -> MountMatrix
    ) throws(SensorFailure) -> (matrix: MountMatrix, factor: Double) {
        if kind == .gyroscope, let gyroscopeMatrix { return (gyroscopeMatrix, 1) }
        let matrix: MountMatrix
        if let mountMatrix { matrix = mountMatrix } else { matrix = try known() }
        switch kind {
        case .accelerometer: return (matrix, acceleration.factor)
        // The kernel's unit is the gauss.
        case .magnetometer: return (matrix, 100)
        case .gyroscope: return (matrix, matrix.turnSign)
        }
    }
}

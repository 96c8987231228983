package import Binnacle

/// The settings for reading a device.
public struct SensorSettings: Sendable, Equatable {
    /// The meaning of the accelerometer's sign.
    public enum Acceleration: String, Sendable, CaseIterable {
        /// The axis that points up reads +9.81 m/s² at rest, as the kernel documents it.
        case specificForce = "specific_force"
        /// The axis that points down reads +9.81 m/s² at rest, as in many laptops.
        case gravity

        var factor: Double { self == .gravity ? -1 : 1 }
    }

    /// The wanted sampling rate in Hz; the device uses the nearest that it has.
    public var rateHz = 100.0
    /// The rate that each kind needs, in Hz, if it is known and the user asked for no rate.
    package var neededRatesHz: [SampleKind: Double] = [:]
    /// The longest time before a sample is read, so that one wake-up serves many samples; zero reads each at once.
    public var latency = Duration.milliseconds(50)
    /// ``latency`` while nothing moves; `nil` is the same.
    package var restLatency: Duration?
    /// The polling interval of a device without a buffer.
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

    /// What is wanted while nothing moves; `nil` when a detector needs every sample.
    package var rest: RestSettings?
    /// What the chip is to report by itself; `nil` when it is not asked.
    package var chipReports: ChipReports?

    /// Says what is done without the chip's events; `nil` when nothing was wanted of them.
    func withoutChip(because reason: String) -> String? {
        let awake = rest.map { $0.watch != .samples } == true ? "does not sleep at rest" : nil
        let taps = chipReports?.kinds.contains(.taps) == true ? "looks for taps in its samples" : nil
        let steps = chipReports?.kinds.contains(.steps) == true ? "counts steps in its samples" : nil
        let words = [awake, taps, steps].compactMap { $0 }.joined(separator: ", and ")
        return words.isEmpty ? nil : words + ": " + reason
    }

    /// The defaults.
    public init() {}

    /// The rate for a device with some kinds, which share a rate.
    package func rateHz(for kinds: [SampleKind]) -> Double { kinds.map { neededRatesHz[$0] ?? rateHz }.max() ?? rateHz }

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

/// What a chip is to report by itself.
package struct ChipReports: Sendable, Equatable {
    package private(set) var kinds: Set<ChipReport>
    /// Whether that is wanted in any case.
    package private(set) var watch: MotionSettings.Watch

    /// `nil` for a detector that looks at the samples itself.
    package init?(_ kinds: Set<ChipReport>, watch: MotionSettings.Watch) {
        guard watch != .samples else { return nil }
        self.kinds = kinds
        self.watch = watch
    }

    /// What two detectors of one device want together.
    package func joined(with other: ChipReports) -> ChipReports {
        var all = other
        all.kinds.formUnion(kinds)
        all.watch = watch == other.watch ? watch : .automatic
        return all
    }
}

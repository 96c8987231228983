package import Binnacle

/// How a device is to be read.
public struct SensorSettings: Sendable, Equatable {
    /// What the accelerometer's sign means.
    public enum Acceleration: String, Sendable, CaseIterable {
        /// The axis that points up reads +9.81 m/s² at rest, as the kernel documents it.
        case specificForce = "specific_force"
        /// The axis that points down does, as many laptops have it.
        case gravity

        var factor: Double { self == .gravity ? -1 : 1 }
    }

    /// The wanted samples per second; the device takes the nearest that it can.
    public var rateHz = 100.0
    /// What each kind of sample is needed at, in samples a second, where that is known and no rate was asked for.
    package var neededRatesHz: [SampleKind: Double] = [:]
    /// The longest time that a sample may wait until it is read, so that one wake-up serves many; zero reads each at once.
    public var latency = Duration.milliseconds(50)
    /// How often a device without a buffer is read.
    public var updateInterval = Duration.milliseconds(100)
    /// Whether the device is read through sysfs although it has a buffer.
    public var isPolled = false
    /// The trigger that makes the device take its samples, instead of its own or the one that is set.
    public var trigger: String?
    /// What the accelerometer's sign means.
    public var acceleration = Acceleration.specificForce
    /// The mount matrix, instead of the one that the kernel or udev knows.
    public var mountMatrix: MountMatrix?
    /// The matrix that turns the gyroscope's axes into the device's, applied as it stands, instead of the mount matrix.
    public var gyroscopeMatrix: MountMatrix?

    /// The defaults.
    public init() {}

    /// The rate to ask a device for that gives some kinds, which it takes together.
    func rateHz(for kinds: [SampleKind]) -> Double { kinds.map { neededRatesHz[$0] ?? rateHz }.max() ?? rateHz }

    /// The matrix and the factor by which the values of a kind become samples; `known` is the matrix of the kernel or udev.
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

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

    /// The defaults.
    public init() {}
}

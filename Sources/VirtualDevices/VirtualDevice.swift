package import LinuxSystem

/// A device that the kernel takes for hardware, and that a program plays.
///
/// Used on one thread. It goes away with its object, if nobody has unplugged it before.
package protocol VirtualDevice: AnyObject {
    /// What it measures.
    var sensors: [VirtualSensor] { get }
    /// Whether the kernel has it.
    var isPlugged: Bool { get }
    /// Readable when the kernel asks something; `nil` when it never does, or the device is not plugged in.
    var descriptor: Int32? { get }
    /// Whether the kernel wants samples of any sensor; a device that is never told wants them always.
    var isWanted: Bool { get }
    /// Whether a driver for sensors has spoken to it since it was plugged in; one that no driver speaks to says yes.
    var isDriven: Bool { get }

    /// Gives it to the kernel, as new; one that is plugged in stays as it is.
    ///
    /// - Throws: ``SystemError`` when the kernel has no such devices, does not let us, or refuses this one.
    func plug() throws(SystemError)

    /// Takes it away from the kernel.
    func unplug()

    /// Answers the next thing that the kernel asks, if there is one.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: ``SystemError`` when the kernel takes no answer.
    func serve() throws(SystemError) -> Bool

    /// Measures: hands the kernel a sample, when it wants one.
    ///
    /// - Parameters:
    ///   - sensor: One of ``sensors``; what others measure is left out.
    ///   - values: The three axes in the sensor's unit.
    ///   - timeNanoseconds: When it was measured, on CLOCK_MONOTONIC.
    /// - Returns: Whether it was handed over.
    /// - Throws: ``SystemError`` when the kernel does not take it.
    func send(_ sensor: VirtualSensor, _ values: SIMD3<Double>, timeNanoseconds: Int64) throws(SystemError) -> Bool
}

/// What the kernel is told about who made a device.
enum VirtualIdentity {
    /// As in laptops, whose hubs are on I²C.
    static let bus: UInt16 = 0x18
    /// pid.codes, who keep the products 0x0001 to 0x0010 for what is not sold.
    static let vendor: UInt16 = 0x1209
    static let hub: UInt16 = 0x0001
    static let accelerometer: UInt16 = 0x0002
    static let version: UInt16 = 1
}

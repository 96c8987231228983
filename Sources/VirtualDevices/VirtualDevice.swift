package import LinuxSystem

/// A device that a program presents to the kernel in place of hardware.
///
/// Used on one thread. It is removed together with this object.
package protocol VirtualDevice: AnyObject {
    var sensors: [VirtualSensor] { get }
    /// Whether the device exists in the kernel.
    var isPlugged: Bool { get }
    /// Readable when the kernel has a request; `nil` for a device without requests, or one that is not plugged in.
    var descriptor: Int32? { get }
    /// Whether the kernel requests samples; always true for a device without requests.
    var isWanted: Bool { get }
    /// Whether a driver was bound since it was plugged in; always true for a device without requests.
    var isDriven: Bool { get }

    /// Creates the device in the kernel, unless it is plugged in.
    func plug() throws(SystemError)

    /// Removes the device from the kernel.
    func unplug()

    /// Answers the next request of the kernel, and returns whether there was one.
    func serve() throws(SystemError) -> Bool

    /// Sends the three axes of a sensor, in its unit, if the kernel requests samples; returns whether they were sent.
    func send(_ sensor: VirtualSensor, _ values: SIMD3<Double>, timeNanoseconds: Int64) throws(SystemError) -> Bool
}

/// The bus, vendor and products of the devices.
enum VirtualIdentity {
    /// I²C, as for the hubs of laptops.
    static let bus: UInt16 = 0x18
    /// pid.codes, which reserves the products 0x0001 to 0x0010 for devices that are not sold.
    static let vendor: UInt16 = 0x1209
    static let hub: UInt16 = 0x0001
    static let accelerometer: UInt16 = 0x0002
    static let version: UInt16 = 1
}

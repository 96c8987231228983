import Binnacle
import PlainText

/// The mechanical connection of two devices, which decides whether the gyroscope of one serves the accelerometer of the other.
///
/// A gyroscope that moves independently, such as that of a game controller beside a tablet, would make every heading wrong. It
/// has to be on the same chip, in the same sensor hub, or at least soldered to the same machine.
package enum DeviceKinship: Int, Comparable, Sendable {
    case chip
    case hub
    case machine

    /// The connection of two devices; `nil` when one may move without the other.
    package init?(_ one: SensorDevice, _ other: SensorDevice) {
        // The lid and the base of a laptop turn independently.
        if let place = one.location, let otherPlace = other.location, place != otherPlace { return nil }
        if one.parent == other.parent {
            self = .chip
        } else if let hub = Self.hub(of: one), hub == Self.hub(of: other) {
            self = .hub
        } else if Self.isBuiltIn(one), Self.isBuiltIn(other) {
            self = .machine
        } else {
            return nil
        }
    }

    package static func < (left: DeviceKinship, right: DeviceKinship) -> Bool { left.rawValue < right.rawValue }

    /// The device to choose among several that would do; `nil` when there is none.
    ///
    /// The machine's own come before game controllers, and then the one with the closest connection to any of `partners`, with which
    /// it makes a heading.
    package static func preferred(_ devices: [SensorDevice], beside partners: [SensorDevice] = []) -> SensorDevice? {
        func rank(_ device: SensorDevice) -> (Int, Int) {
            let kinship = partners.compactMap { DeviceKinship(device, $0) }.min()
            return (device.isController ? 1 : 0, kinship?.rawValue ?? .max)
        }
        return devices.min { rank($0) < rank($1) }
    }

    /// The gyroscope that turns with a device: the first of those with the closest connection.
    package static func gyroscope(for device: SensorDevice, among devices: [SensorDevice]) -> SensorDevice? {
        // A device that also has an accelerometer may be in the other half of a laptop.
        let candidates = devices.filter { $0.kinds == [.gyroscope] && $0.path != device.path }
        return candidates.compactMap { other in DeviceKinship(device, other).map { (device: other, kinship: $0) } }
            .min { $0.kinship < $1.kinship }?.device
    }

    /// Gives the gyroscopes and magnetometers of a sensor hub the axes that udev's database states for the hub's accelerometer.
    ///
    /// A key of that database names one sensor of the hub. Several accelerometers have to agree.
    static func shareMatrices(_ devices: inout [SensorDevice]) {
        for index in devices.indices where !devices[index].kinds.contains(.accelerometer) {
            let device = devices[index]
            let others = devices.filter { $0.kinds.contains(.accelerometer) && DeviceKinship(device, $0) == .hub }
            let matrices = others.map(\.hubAxes)
            // A hub that starts again may report its accelerometer last.
            guard let first = matrices.first else { continue }
            devices[index].hubMatrix = matrices.allSatisfy { $0 == first } ? first : nil
        }
    }

    /// The folder of the sensor hub to which a device belongs: `…/0018:1209:5E45.0001` of `…/HID-SENSOR-200076.3.auto` in it.
    ///
    /// Intel's and AMD's hubs make a HID device of each sensor (the kernel's ishtp-hid.c, amd_sfh_hid.c), in one folder: without
    /// the numbers of these devices it is `…/0020:1022:0001`. Other buses have two hubs there, such as uhid those on Bluetooth.
    private static func hub(of device: SensorDevice) -> Substring? {
        let parent = device.parent[...]
        guard let slash = parent.lastIndex(of: "/"), parent[slash...].hasPrefix("/HID-SENSOR-") else { return nil }
        let hub = parent[..<slash]
        guard let start = hub.lastIndex(of: "/"), let dot = hub.lastIndex(of: "."), dot > start else { return hub }
        // BUS_INTEL_ISHTP and BUS_AMD_SFH in the kernel's input.h.
        let isSplit = ["/001F:", "/0020:"].contains { hub[start...].hasPrefix($0) }
        return isSplit ? hub[..<dot] : hub
    }

    /// Whether, by its path, a device cannot be unplugged: a chip on a bus of the mainboard.
    private static func isBuiltIn(_ device: SensorDevice) -> Bool {
        device.interface == .iio && hub(of: device) == nil && !device.parent.contains("/usb")
    }
}

import Binnacle
import CEvdev
import Glibc
package import LinuxSystem
import PlainText

/// Finds the accelerometers, magnetometers and gyroscopes of a machine.
package struct DeviceFinder: Sendable {
    /// The folder that contains `/sys` and `/dev` of a tree that is read without udev; empty for the machine's own.
    let root: String

    static let subsystems = ["iio", "input"]

    /// Finds the machine's devices through udev, or without udev the IIO devices of a tree under `root`, for containers and
    /// tests.
    package init(under root: String? = nil) {
        self.root = root ?? ""
    }

    /// Whether udev reports devices that appear and disappear.
    var usesUdev: Bool { root.isEmpty }

    /// Lists all devices in a stable order, each with a unique identity.
    ///
    /// This may block until a sleeping device has woken up.
    package func devices() throws(SystemError) -> [SensorDevice] {
        var devices: [SensorDevice] = []
        if usesUdev {
            let udev = try Udev()
            for path in try udev.paths(subsystems: Self.subsystems) {
                if let device = udev.device(path: path).flatMap(Self.describe) { devices.append(device) }
            }
        } else {
            let folder = SysfsDirectory.iioDevices(under: root)
            guard folder.has(".") else {
                throw SystemError(code: ENOENT, call: "opendir", path: folder.path)
            }
            devices = folder.directories("iio:device").compactMap { directory in
                let node = "\(root)/dev/\(directory.name)"
                return Self.iioDevice(directory, node: node, properties: [:], root: root)
            }
        }
        // Who names no device means the machine's own.
        devices.sort {
            $0.isController == $1.isController ? $0.path.naturalKey < $1.path.naturalKey : $1.isController
        }
        DeviceIdentity.distinguish(&devices)
        DeviceKinship.shareMatrices(&devices)
        return devices
    }

    /// The IIO devices with kinds that are left out, because axes are missing, and why, in words.
    package func incomplete() -> [(name: String, path: String, reason: String)] {
        SysfsDirectory.iioDevices(under: root).directories("iio:device").flatMap { directory in
            let name = (try? directory.textIfPresent("name")) ?? directory.name
            return IIODevice.flaws(in: directory).map { (name, directory.path, $0) }
        }
    }

    /// A device by its folder in sysfs; `nil` when it is not a sensor or was removed.
    func device(path: String) -> SensorDevice? {
        guard usesUdev, let udev = try? Udev() else { return nil }
        return udev.device(path: path).flatMap(Self.describe)
    }

    /// Whether a device may be a sensor, also one of single values, by its name, which excludes triggers and joysticks.
    static func mayBeSensor(_ device: UdevDevice) -> Bool {
        let name = device.path.split(separator: "/").last ?? ""
        return ["iio:device", "event", "hwmon"].contains { name.hasPrefix($0) }
    }

    private static func describe(_ device: UdevDevice) -> SensorDevice? {
        switch device.subsystem {
        case "iio":
            iioDevice(
                SysfsDirectory(path: device.path), node: device.node, properties: device.properties, root: "")
        case "input": evdevDevice(device)
        default: nil
        }
    }

    private static func iioDevice(
        _ directory: SysfsDirectory, node: String?, properties: [String: String], root: String
    ) -> SensorDevice? {
        let path = directory.path
        let kinds = IIODevice.kinds(in: directory)
        guard !kinds.isEmpty else { return nil }
        // An unreadable name or label is omitted; opening the device reports the reason.
        let name = try? directory.textIfPresent("name")
        let label = try? directory.textIfPresent("label")
        let location = try? directory.textIfPresent("location")
        let shown = name ?? directory.name
        return SensorDevice(
            interface: .iio, id: DeviceIdentity.text(path: String(path.dropFirst(root.utf8.count)), name: shown),
            name: shown, label: label,
            location: location ?? properties["ACCEL_LOCATION"] ?? Self.location(from: label),
            // stat(2), because access(2) fails for a device that a control group withholds as if it had no node.
            node: node.flatMap { (try? fileStatus($0)) != nil ? $0 : nil }, path: path, kinds: kinds,
            properties: properties,
            root: root, parent: (root.isEmpty ? directory : directory.resolved).parent.path)
    }

    /// The event node of an accelerometer, marked by udev or by the device itself; a joystick node of the same device is not one.
    private static func evdevDevice(_ device: UdevDevice) -> SensorDevice? {
        guard let node = device.node, node.split(separator: "/").last?.hasPrefix("event") == true else { return nil }
        let parent = SysfsDirectory(path: device.path).parent
        let isMarked = device.property("ID_INPUT_ACCELEROMETER") == "1"
        let hasProperty = parent.bits("properties", contain: [INPUT_PROP_ACCELEROMETER])
        guard isMarked || hasProperty else { return nil }
        // Without the property the axes are a joystick's.
        let turns = hasProperty && parent.bits("capabilities/abs", contain: [ABS_RX, ABS_RY, ABS_RZ])
        let name = try? parent.textIfPresent("name")
        let properties = device.properties
        let shown = name ?? String(node.split(separator: "/").last ?? "")
        return SensorDevice(
            interface: .evdev, id: DeviceIdentity.text(path: device.path, name: shown), name: shown,
            label: properties["ID_INPUT_LABEL"], location: properties["ACCEL_LOCATION"], node: node, path: device.path,
            kinds: turns ? [.accelerometer, .gyroscope] : [.accelerometer], properties: properties, root: "",
            parent: parent.path)
    }

    /// The location in the kernel's labels for accelerometers: `accel-display`, `accel-base`.
    private static func location(from label: String?) -> String? {
        guard let label, label.hasPrefix("accel-") else { return nil }
        return String(label.dropFirst(6))
    }
}

extension String {
    /// Orders numbers in a path by their value: device2 before device10.
    fileprivate var naturalKey: String {
        var key = ""
        var digits = ""
        for character in self + " " {
            if character.isNumber {
                digits.append(character)
            } else {
                if !digits.isEmpty { key += String(repeating: "0", count: max(0, 12 - digits.count)) + digits }
                digits = ""
                key.append(character)
            }
        }
        return key
    }
}

public import Binnacle

/// A device of the machine that measures acceleration, a magnetic field or angular velocity, as it was found.
public struct SensorDevice: Sendable, Equatable {
    /// The kernel's subsystem through which it is read.
    public enum Interface: String, Sendable {
        /// Industrial I/O.
        case iio
        /// The input layer's event devices.
        case evdev
    }

    /// How it is read.
    public let interface: Interface
    /// The identity, which stays the same when the device is plugged in again and gets another number.
    public internal(set) var id: String
    /// The name that its driver gives it.
    public let name: String
    /// The label from the firmware or a udev rule.
    public let label: String?
    /// Where it sits, such as `display` or `base`.
    public let location: String?
    /// The node in `/dev`; `nil` when it has none.
    public let node: String?
    /// Its folder in sysfs.
    public let path: String
    /// What it measures.
    public let kinds: [SampleKind]
    /// udev's properties of it.
    public let properties: [String: String]
    /// The key of the device in udev's hardware database; `nil` when its bus has none.
    package var modalias: String? {
        for name in ["../modalias", "device/modalias", "../device/modalias"] {
            if let text = try? directory.textIfPresent(name) { return text }
        }
        return properties["MODALIAS"]
    }

    /// The folder under which `/sys` and `/dev` lie; empty for the machine's own.
    let root: String
    /// The folder in sysfs that it is in, where the path leads over symbolic links: that of its chip, or of its part of a
    /// sensor hub.
    let parent: String

    /// Whether it sits in a part of the machine; the drivers of some laptops call the display the lid.
    func isAt(_ place: String) -> Bool { location == place || (place == "display" && location == "lid") }

    /// Whether it may be fixed to a screen: not in a laptop's base, and not the chip that protects a disk.
    var mayBeInScreen: Bool {
        location != "base" && !name.lowercased().contains("lis3lv02d")
            && properties["ID_INPUT_JOYSTICK"] != "1"
    }

    var directory: SysfsDirectory { SysfsDirectory(path: path) }
}

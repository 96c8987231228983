public import Binnacle
import PlainText

/// A device of the machine that measures acceleration, a magnetic field or angular velocity, as found at the search.
public struct SensorDevice: Sendable, Equatable {
    /// The kernel's subsystem through which it is read.
    public enum Interface: String, Sendable {
        /// Industrial I/O.
        case iio
        /// The input layer's event devices.
        case evdev
    }

    /// The interface through which it is read.
    public let interface: Interface
    /// The identity, unchanged when the device is plugged in again and gets another number.
    public internal(set) var id: String
    /// The name from its driver.
    public let name: String
    /// The label from the firmware or a udev rule.
    public let label: String?
    /// The location, such as `display` or `base`.
    public let location: String?
    /// The node in `/dev`; `nil` when it has none.
    package let node: String?
    /// Its folder in sysfs.
    public let path: String
    /// The kinds of samples.
    public let kinds: [SampleKind]
    /// The device's udev properties.
    public let properties: [String: String]
    /// The key of the device in udev's hardware database; `nil` if its bus has none.
    package var modalias: String? {
        for name in ["../modalias", "device/modalias", "../device/modalias"] {
            if let text = try? directory.textIfPresent(name) { return text }
        }
        return properties["MODALIAS"]
    }

    /// The folder that contains `/sys` and `/dev`; empty for the machine's own.
    let root: String
    /// The parent folder in sysfs with symbolic links resolved: that of its chip, or of its part of a sensor hub.
    let parent: String

    /// Whether it is in the base of a laptop.
    var isInBase: Bool { location == "base" }

    /// Whether it is at a location; the drivers of some laptops call the display the lid.
    func isAt(_ place: String) -> Bool { location == place || (place == "display" && location == "lid") }

    /// Whether it may be fixed to a screen: it is neither in a laptop's base, nor the chip that protects a disk, nor in a controller that
    /// is held.
    var mayBeInScreen: Bool { !isInBase && !name.lowercased().contains("lis3lv02d") && !isController }

    /// Whether it is in a game controller, whose accelerometer is an input device of its own that udev marks as no joystick.
    ///
    /// The names are those of the kernel's drivers (hid-playstation, hid-sony, hid-nintendo, hid-wiimote). USB alone is no sign: a handheld
    /// console's own sensor is there, too.
    var isController: Bool {
        guard properties["ID_INPUT_JOYSTICK"] != "1" else { return true }
        let name = name.lowercased()
        return interface == .evdev
            && (properties["ID_BUS"] == "bluetooth"
                || ["controller", "joy-con", "wii remote"].contains(where: name.contains))
    }

    /// The axes of a sensor hub by udev's entry for its accelerometer; `nil` of a device that is in none, or has an accelerometer.
    var hubMatrix: MountMatrix?

    /// What udev's matrix of an accelerometer says of the other sensors of its hub: a rotation, because the sign of the acceleration,
    /// which a determinant of −1 carries, is not theirs.
    var hubAxes: MountMatrix? {
        guard let matrix = properties["ACCEL_MOUNT_MATRIX"].flatMap({ try? MountMatrix($0) }) else { return nil }
        return (isInBase ? matrix.openedFlat : matrix).proper
    }

    /// What udev says of how it is built in, which its samples depend on.
    var mounting: [String?] { [properties["ACCEL_MOUNT_MATRIX"], isInBase ? "base" : nil, hubMatrix?.description] }

    var directory: SysfsDirectory { SysfsDirectory(path: path) }

    /// Says that the node through which its buffer is read is missing.
    var missingNode: String {
        "its node /dev/\(directory.name) is not there; a container needs to be started with it (--device)"
    }

    /// The temperature that an IIO device measures in its chip; `nil` without one, or when it cannot be read now.
    ///
    /// In thousandths of a degree, by the kernel's ABI.
    package var temperatureCelsius: Double? {
        guard interface == .iio else { return nil }
        if let value = (try? directory.number("in_temp_input")) ?? nil { return value / 1000 }
        guard let raw = (try? directory.number("in_temp_raw")) ?? nil,
            let scale = (try? directory.number("in_temp_scale")) ?? nil
        else { return nil }
        return (raw + ((try? directory.number("in_temp_offset")) ?? nil ?? 0)) * scale / 1000
    }
}

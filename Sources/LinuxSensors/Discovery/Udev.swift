import CUdev
import Glibc
import LinuxSystem

/// libudev's context; contexts and devices count references and are released with their last owner.
final class Udev {
    let raw: OpaquePointer

    init() throws(SystemError) {
        guard cudev_problem() == nil else {
            throw SystemError(code: ELIBACC, call: "loading libudev.so.1 (Debian has it in libudev1)")
        }
        guard let raw = udev_new() else { throw SystemError(code: ENOMEM, call: "udev_new") }
        self.raw = raw
    }

    deinit {
        udev_unref(raw)
    }

    /// The folders in sysfs of all devices of the subsystems, in udev's order.
    func paths(subsystems: [String]) throws(SystemError) -> [String] {
        guard let enumeration = udev_enumerate_new(raw) else {
            throw SystemError(code: ENOMEM, call: "udev_enumerate_new")
        }
        defer { udev_enumerate_unref(enumeration) }
        for subsystem in subsystems { udev_enumerate_add_match_subsystem(enumeration, subsystem) }
        let code = udev_enumerate_scan_devices(enumeration)
        guard code >= 0 else { throw SystemError(code: -code, call: "udev_enumerate_scan_devices") }
        var paths: [String] = []
        var entry = udev_enumerate_get_list_entry(enumeration)
        while let current = entry {
            if let name = udev_list_entry_get_name(current) { paths.append(String(cString: name)) }
            entry = udev_list_entry_get_next(current)
        }
        return paths
    }

    /// A device by its folder in sysfs; `nil` when it was removed.
    func device(path: String) -> UdevDevice? {
        udev_device_new_from_syspath(raw, path).map(UdevDevice.init(owning:))
    }
}

final class UdevDevice {
    private let raw: OpaquePointer

    init(owning raw: OpaquePointer) {
        self.raw = raw
    }

    deinit {
        udev_device_unref(raw)
    }

    var path: String { Self.text(udev_device_get_syspath(raw)) ?? "" }
    var subsystem: String { Self.text(udev_device_get_subsystem(raw)) ?? "" }
    var node: String? { Self.text(udev_device_get_devnode(raw)) }
    /// The action (`add`, `remove` …) of a device that a monitor reported.
    var action: String? { Self.text(udev_device_get_action(raw)) }

    func property(_ name: String) -> String? { Self.text(udev_device_get_property_value(raw, name)) }

    var properties: [String: String] {
        var properties: [String: String] = [:]
        var entry = udev_device_get_properties_list_entry(raw)
        while let current = entry {
            if let name = Self.text(udev_list_entry_get_name(current)) {
                properties[name] = Self.text(udev_list_entry_get_value(current)) ?? ""
            }
            entry = udev_list_entry_get_next(current)
        }
        return properties
    }

    private static func text(_ pointer: UnsafePointer<CChar>?) -> String? {
        pointer.map { String(cString: $0) }
    }
}

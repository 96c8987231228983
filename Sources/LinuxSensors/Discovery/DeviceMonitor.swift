import CUdev
import Glibc
import LinuxSystem

/// udev's reports of devices that are added, changed or removed.
final class DeviceMonitor {
    enum Change: Equatable {
        case present(path: String)
        case removed(path: String)
    }

    private let udev: Udev
    private let raw: OpaquePointer

    init() throws(SystemError) {
        udev = try Udev()
        let udev = udev
        let raw = try systemPointer("udev_monitor_new_from_netlink") { udev_monitor_new_from_netlink(udev.raw, "udev") }
        self.raw = raw
        // An old laptop's light sensor is one of hwmon, and no device of the finder's.
        for subsystem in DeviceFinder.subsystems + ["hwmon"] {
            udev_monitor_filter_add_match_subsystem_devtype(raw, subsystem, nil)
        }
        let code = udev_monitor_enable_receiving(raw)
        guard code >= 0 else { throw SystemError(code: -code, call: "udev_monitor_enable_receiving") }
    }

    deinit {
        udev_monitor_unref(raw)
    }

    /// Readable when reports are pending.
    var descriptor: Int32 { udev_monitor_get_fd(raw) }

    /// Returns the pending reports in order, for devices that may be sensors, and whether the kernel's buffer overflowed.
    func removeAll() -> (changes: [Change], hasMissed: Bool) {
        var changes: [Change] = []
        while true {
            let device: UdevDevice
            do throws(SystemError) {
                device = UdevDevice(
                    owning: try systemPointer("udev_monitor_receive_device") { udev_monitor_receive_device(raw) })
            } catch {
                return (changes, error.code == ENOBUFS)
            }
            guard DeviceFinder.mayBeSensor(device) else { continue }
            switch device.action {
            case "remove", "offline": changes.append(.removed(path: device.path))
            default: changes.append(.present(path: device.path))
            }
        }
    }
}

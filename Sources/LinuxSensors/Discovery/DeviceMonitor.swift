import CUdev
import Glibc
import LinuxSystem

/// udev's word on devices that come and go.
final class DeviceMonitor {
    /// A device came, changed, or went.
    enum Change: Equatable {
        case present(path: String)
        case removed(path: String)
    }

    private let udev: Udev
    private let raw: OpaquePointer

    /// Starts to listen; what happens from now on is told.
    init() throws(SystemError) {
        udev = try Udev()
        let udev = udev
        let raw = try systemPointer("udev_monitor_new_from_netlink") { udev_monitor_new_from_netlink(udev.raw, "udev") }
        self.raw = raw
        for subsystem in DeviceFinder.subsystems {
            udev_monitor_filter_add_match_subsystem_devtype(raw, subsystem, nil)
        }
        let code = udev_monitor_enable_receiving(raw)
        guard code >= 0 else { throw SystemError(code: -code, call: "udev_monitor_enable_receiving") }
    }

    deinit {
        udev_monitor_unref(raw)
    }

    /// Readable when there is something to take.
    var descriptor: Int32 { udev_monitor_get_fd(raw) }

    /// Takes what was told since the last time, in its order.
    ///
    /// - Returns: What happened to devices that may be sensors, and whether more was told than there was room for.
    func takeAll() -> (changes: [Change], hasMissed: Bool) {
        var changes: [Change] = []
        while true {
            errno = 0
            guard let pointer = udev_monitor_receive_device(raw) else { return (changes, errno == ENOBUFS) }
            let device = UdevDevice(owning: pointer)
            guard DeviceFinder.mayBeSensor(device) else { continue }
            switch device.action {
            case "remove", "offline": changes.append(.removed(path: device.path))
            default: changes.append(.present(path: device.path))
            }
        }
    }
}

import Glibc

/// Says why something may not be opened, and what would open it.
enum Permission {
    /// Whether this process may read and write a file.
    static func allows(_ path: String, writing: Bool) -> Bool {
        access(path, writing ? R_OK | W_OK : R_OK) == 0
    }

    /// Adds to a refusal whose it is, and the rule that would change it; any other failure stays as it is.
    ///
    /// - Parameters:
    ///   - failure: What was refused.
    ///   - path: The node or the control.
    ///   - device: The device it belongs to.
    /// - Returns: The failure, with the owner, the group and the mode of the file, and a udev rule.
    static func explain(_ failure: SensorFailure, _ path: String?, _ device: SensorDevice) -> SensorFailure {
        guard failure.category == .permission, let path else { return failure }
        if failure.code == EROFS {
            return SensorFailure(
                .permission,
                "\(path) is on a read-only mount, as in a service with ProtectKernelTunables=yes: add "
                    + "ReadWritePaths=/sys/devices to its unit", code: failure.code)
        }
        return SensorFailure(.permission, refusal(path, device), code: failure.code)
    }

    /// Who may use a file, and the rule that would let the group `binnacle` use it.
    static func refusal(_ path: String, _ device: SensorDevice) -> String {
        var status = stat()
        let owner =
            stat(path, &status) == 0
            ? "belongs to \(user(status.st_uid)):\(group(status.st_gid)) with mode 0\(String(status.st_mode & 0o7777, radix: 8))"
            : "cannot be looked at"
        return "\(path) \(owner), and this process runs as \(user(geteuid())): \(remedy(path, device))"
    }

    private static func remedy(_ path: String, _ device: SensorDevice) -> String {
        switch device.interface {
        case .evdev:
            return
                "add the user to the group 'input', or install a udev rule: SUBSYSTEM==\"input\", KERNEL==\"event*\", "
                + "ENV{ID_INPUT_ACCELEROMETER}==\"1\", GROUP=\"binnacle\", MODE=\"0660\""
        case .iio where path == device.node:
            return "install a udev rule: SUBSYSTEM==\"iio\", KERNEL==\"iio:device*\", GROUP=\"binnacle\", MODE=\"0660\""
        case .iio:
            return "install the udev rule 60-binnacle.rules, which gives the group 'binnacle' the buffer's controls, "
                + "and add the user to that group"
        }
    }

    private static func user(_ id: uid_t) -> String {
        getpwuid(id).map { String(cString: $0.pointee.pw_name) } ?? String(id)
    }

    private static func group(_ id: gid_t) -> String {
        getgrgid(id).map { String(cString: $0.pointee.gr_name) } ?? String(id)
    }
}

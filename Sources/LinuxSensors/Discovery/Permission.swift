import Glibc
import LinuxSystem

/// Explains why a file may not be opened, with the remedy.
enum Permission {
    /// Throws a failure with the remedy if this process may not read, and if asked write, a file.
    static func check(_ path: String, writing: Bool) throws(SensorFailure) {
        try mapError({ SensorFailure(.permission, refusal(path, $0.code), code: $0.code) }) { () throws(SystemError) in
            try systemCall("access", path: path) { access(path, writing ? R_OK | W_OK : R_OK) }
        }
    }

    /// The owner, group and mode of a file, and the remedy.
    static func refusal(_ path: String, _ code: Int32) -> String {
        if code == EROFS {
            return "\(path) is on a read-only mount, as in a service with ProtectKernelTunables=yes: add "
                + "ReadWritePaths=/sys/devices to its unit"
        }
        // Owner and mode are not the reason: a control group denies whole classes of devices, also to root.
        if code == EPERM, path.hasPrefix("/dev/") {
            let kind = path.hasPrefix("/dev/input/") ? "input" : "iio"
            return
                "\(path) is withheld from this process by its control group, as in a service with DevicePolicy=closed: "
                + "add DeviceAllow=char-\(kind) r to its unit"
        }
        var owner = "cannot be looked at"
        if let status = try? fileStatus(path) {
            let (user, group) = (
                AccountDatabase.name(ofUser: status.st_uid), AccountDatabase.name(ofGroup: status.st_gid)
            )
            owner = "belongs to \(user):\(group) with mode 0\(String(status.st_mode & 0o7777, radix: 8))"
        }
        return "\(path) \(owner), and this process runs as \(AccountDatabase.name(ofUser: geteuid())): "
            // The rule covers nodes and controls; the group `input` would also grant access to every keyboard.
            + "install the udev rule 70-binnacle.rules, which gives the sensors to the group 'binnacle', and add the user to "
            + "that group"
    }
}

import Glibc
import Synchronization

/// Says why something may not be opened, and what would open it.
enum Permission {
    /// Looks whether this process may read a file, and write it.
    ///
    /// - Parameters:
    ///   - path: The node or the control.
    ///   - writing: Whether it is to be written, too.
    /// - Throws: ``SensorFailure`` when it may not; it says what to do.
    static func check(_ path: String, writing: Bool) throws(SensorFailure) {
        guard access(path, writing ? R_OK | W_OK : R_OK) != 0 else { return }
        let code = errno
        throw SensorFailure(.permission, refusal(path, code), code: code)
    }

    /// Who may use a file, and what would let this process use it.
    ///
    /// - Parameters:
    ///   - path: The node or the control.
    ///   - code: The system's error number.
    /// - Returns: The file's owner, group and mode, and the remedy.
    static func refusal(_ path: String, _ code: Int32) -> String {
        if code == EROFS {
            return "\(path) is on a read-only mount, as in a service with ProtectKernelTunables=yes: add "
                + "ReadWritePaths=/sys/devices to its unit"
        }
        // Owner and mode are not asked then: a control group refuses whole classes of devices, to root as well.
        if code == EPERM, path.hasPrefix("/dev/") {
            let kind = path.hasPrefix("/dev/input/") ? "input" : "iio"
            return
                "\(path) is withheld from this process by its control group, as in a service with DevicePolicy=closed: "
                + "add DeviceAllow=char-\(kind) r to its unit"
        }
        var status = stat()
        let owner =
            stat(path, &status) == 0
            ? "belongs to \(user(status.st_uid)):\(group(status.st_gid)) with mode 0\(String(status.st_mode & 0o7777, radix: 8))"
            : "cannot be looked at"
        return "\(path) \(owner), and this process runs as \(user(geteuid())): \(remedy)"
    }

    /// The rule knows which nodes and controls there are; the group `input` would open every keyboard, too.
    private static var remedy: String {
        "install the udev rule 70-binnacle.rules, which gives the sensors to the group 'binnacle', and add the user to "
            + "that group"
    }

    /// The account database's answers lie in memory that the next question overwrites, whoever asks it.
    private static let accounts = Mutex(())

    private static func user(_ id: uid_t) -> String {
        accounts.withLock { _ in getpwuid(id).map { String(cString: $0.pointee.pw_name) } ?? String(id) }
    }

    private static func group(_ id: gid_t) -> String {
        accounts.withLock { _ in getgrgid(id).map { String(cString: $0.pointee.gr_name) } ?? String(id) }
    }
}

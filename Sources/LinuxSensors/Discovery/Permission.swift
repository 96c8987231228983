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
    /// - Returns: The failure, with the owner, the group and the mode of the file, and a udev rule.
    static func explain(_ failure: SensorFailure, _ path: String?) -> SensorFailure {
        guard failure.category == .permission, let path else { return failure }
        if failure.code == EROFS {
            return SensorFailure(
                .permission,
                "\(path) is on a read-only mount, as in a service with ProtectKernelTunables=yes: add "
                    + "ReadWritePaths=/sys/devices to its unit", code: failure.code)
        }
        return SensorFailure(.permission, refusal(path), code: failure.code)
    }

    /// Who may use a file, and the rule that would let the group `binnacle` use it.
    static func refusal(_ path: String) -> String {
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

    private static func user(_ id: uid_t) -> String {
        getpwuid(id).map { String(cString: $0.pointee.pw_name) } ?? String(id)
    }

    private static func group(_ id: gid_t) -> String {
        getgrgid(id).map { String(cString: $0.pointee.gr_name) } ?? String(id)
    }
}

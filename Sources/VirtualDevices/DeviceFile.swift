import Glibc
package import LinuxSystem

/// The device files through which programs create devices in the kernel.
package enum DeviceFile: String, Sendable, CaseIterable {
    case uhid
    case uinput

    /// The file's usual path.
    package var path: String { "/dev/\(module)" }

    /// The kernel module that provides it.
    package var module: String { rawValue }

    /// The option in the kernel's configuration.
    private var choice: String {
        switch self {
        case .uhid: "CONFIG_UHID"
        case .uinput: "CONFIG_INPUT_UINPUT"
        }
    }

    /// Opens a character device for reading and writing, not blocking; throws ENODEV for any other file.
    package func open(_ path: String) throws(SystemError) -> Descriptor {
        let file = try Descriptor(path: path, flags: O_RDWR | O_NONBLOCK | O_NOCTTY)
        guard try fileStatus(of: file.raw, path: path).kind == S_IFCHR else {
            throw SystemError(code: ENODEV, call: "open", path: path)
        }
        return file
    }

    /// The lines of a message about why the file could not be opened, and what to do about it.
    package func remedy(for error: SystemError, path: String) -> [String] {
        if error.isPermission {
            return [
                "\(path): you may not make devices (\(error.reason)): an account that may can also send key strokes, so "
                    + "it is root's",
                "run this as root, or let a group do it with a line in /etc/udev/rules.d/60-\(module).rules:",
                "    KERNEL==\"\(module)\", GROUP=\"input\", MODE=\"0660\", OPTIONS+=\"static_node=\(module)\"",
            ]
        }
        if error.isMissing || error.isDeviceGone {
            return [
                "\(path): this kernel has no \(module) at work (\(error.reason))",
                "load its module with 'modprobe \(module)' as root; when there is none, the kernel was built without "
                    + "\(choice); in a container, the file has to be let in",
                "without it, 'binnacle run --simulate MODEL' or 'binnacle run --trace FILE' try rules without devices",
            ]
        }
        return ["\(path): \(error.call): \(error.reason)"]
    }
}

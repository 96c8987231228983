import Glibc
package import LinuxSystem

/// The two files through which the kernel takes devices from programs.
package enum DeviceFile: Sendable, CaseIterable {
    /// HID devices.
    case uhid
    /// Input devices.
    case uinput

    /// Where it is.
    package var path: String {
        switch self {
        case .uhid: "/dev/uhid"
        case .uinput: "/dev/uinput"
        }
    }

    /// The module that makes it.
    package var module: String {
        switch self {
        case .uhid: "uhid"
        case .uinput: "uinput"
        }
    }

    /// The choice in the kernel's configuration.
    private var choice: String {
        switch self {
        case .uhid: "CONFIG_UHID"
        case .uinput: "CONFIG_INPUT_UINPUT"
        }
    }

    /// Opens it, or another file in its place.
    ///
    /// - Parameter path: The file; nothing else than a character device is taken, because it is written to.
    /// - Returns: The file, open for reading and writing, not blocking.
    /// - Throws: ``SystemError``; ENODEV for a file that is no device.
    package func open(_ path: String) throws(SystemError) -> Descriptor {
        let file = try Descriptor(path: path, flags: O_RDWR | O_NONBLOCK | O_NOCTTY)
        var status = stat()
        try systemCall("fstat", path: path) { fstat(file.raw, &status) }
        guard status.st_mode & S_IFMT == S_IFCHR else { throw SystemError(code: ENODEV, call: "open", path: path) }
        return file
    }

    /// What is missing, and what to do about it; one line for each thing.
    ///
    /// - Parameters:
    ///   - error: What the system said when the file was opened.
    ///   - path: The file.
    /// - Returns: The lines of a message.
    package func remedy(for error: SystemError, path: String) -> [String] {
        if error.isPermission {
            return [
                "\(path): you may not make devices (\(error.reason)): whoever may can also type as if at the keyboard, so "
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

import Glibc
import LinuxSystem

/// Why a device cannot be used, or no longer.
public struct SensorFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of trouble, which decides what is tried next.
    public enum Category: Sendable, Equatable {
        /// There is no such device.
        case missing
        /// The device was removed.
        case removed
        /// This process may not use it.
        case permission
        /// What the kernel says of the device makes no sense.
        case description
        /// Somebody else has it open.
        case busy
        /// It fails.
        case inputOutput
        /// It says nothing.
        case silent
    }

    /// The kind of trouble.
    public let category: Category
    /// What is wrong, where, and what to do about it.
    public let description: String
    /// The system's error number, when a call was refused.
    public let code: Int32?

    /// Creates a failure.
    package init(_ category: Category, _ description: String, code: Int32? = nil) {
        self.category = category
        self.description = description
        self.code = code
    }

    /// Judges a call that failed.
    init(_ error: SystemError) {
        let category: Category =
            if error.isDeviceGone {
                .removed
            } else if error.isPermission {
                .permission
            } else if error.code == EBUSY {
                .busy
            } else {
                .inputOutput
            }
        // A refusal is of use only to someone who learns whose the file is, and what would open it.
        let description = category == .permission ? error.path.map { Permission.refusal($0, error.code) } : nil
        self.init(category, description ?? error.description, code: error.code)
    }
}

import Glibc
import LinuxSystem

/// Why a device cannot be used, or cannot be used any more.
public struct SensorFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure, which decides what is tried next.
    public enum Category: Sendable, Equatable {
        /// There is no such device.
        case missing
        /// The device was removed.
        case removed
        /// This process may not use it.
        case permission
        /// The kernel's description of the device makes no sense.
        case description
        /// Another program has it open.
        case busy
        /// A read or a write failed.
        case inputOutput
        /// It gives no samples.
        case silent
    }

    /// The kind of failure.
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

    /// Classifies a call that failed.
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
        // A user needs the owner of the file and the remedy.
        let description = category == .permission ? error.path.map { Permission.refusal($0, error.code) } : nil
        self.init(category, description ?? error.description, code: error.code)
    }
}

extension SensorFailure {
    /// Tries what a driver may refuse, and goes on without it; a failure that is not tolerated is thrown.
    static func tolerating(
        _ isTolerated: (Category) -> Bool = { $0 == .inputOutput }, _ attempt: () throws(SensorFailure) -> Void
    ) throws(SensorFailure) {
        do throws(SensorFailure) {
            try attempt()
        } catch {
            guard isTolerated(error.category) else { throw error }
        }
    }
}

import Binnacle
import Glibc
import LinuxSystem
import PlainText

/// Why a device cannot be used, or can no longer be used.
public struct SensorFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure, which decides what is tried next.
    public enum Category: Sendable, Equatable {
        /// There is no such device.
        case missing
        /// The device was removed.
        case removed
        /// This process lacks the permission.
        case permission
        /// The kernel's description of the device is invalid.
        case description
        /// Another program uses it.
        case busy
        /// A read or a write failed.
        case inputOutput
        /// The device delivers no samples.
        case silent
        /// The request for a sensor is invalid.
        case invalid
    }

    /// The kind of failure.
    public let category: Category
    /// What is wrong, where, and the remedy.
    public let description: String
    /// The system's error number, when a call was refused.
    package let code: Int32?

    package init(_ category: Category, _ description: String, code: Int32? = nil) {
        self.category = category
        self.description = description
        self.code = code
    }

    init(_ error: SystemError) {
        // A bus says ENXIO as well when a chip does not answer once.
        let isOfBus = error.code == ENXIO && error.path?.contains("/sys/") ?? false
        let category: Category =
            if error.isDeviceGone, !isOfBus {
                .removed
            } else if error.isPermission {
                .permission
            } else if error.code == EBUSY {
                .busy
            } else {
                .inputOutput
            }
        // The user needs the owner of the file and the remedy.
        let description = category == .permission ? error.path.map { Permission.refusal($0, error.code) } : nil
        self.init(category, description ?? error.description, code: error.code)
    }
}

extension SensorFailure: DeviceFailure {
    package var isMissingDevice: Bool { category == .missing }

    /// Tries a call that a driver may refuse, and ignores a refusal; a failure that is not tolerated is thrown.
    ///
    /// A driver also calls itself busy for a setting that it cannot change now: who reads a device is known when its node is open.
    static func tolerating(
        _ isTolerated: (Category) -> Bool = { $0 == .inputOutput || $0 == .busy },
        _ attempt: () throws(SensorFailure) -> Void
    ) throws(SensorFailure) {
        do throws(SensorFailure) {
            try attempt()
        } catch {
            guard isTolerated(error.category) else { throw error }
        }
    }
}

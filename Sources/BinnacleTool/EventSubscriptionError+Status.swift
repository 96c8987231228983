import EventSocket
import Station

extension EventSubscriptionError {
    /// The exit status.
    var exitStatus: ExitStatus {
        switch self {
        case .noPermission: .noPermission
        case .notRunning, .refused, .disconnected, .notUnderstood, .system: .unavailable
        }
    }
}

import EventSocket
import Station

extension EventSubscriptionError {
    /// What a script is told.
    var exitStatus: ExitStatus {
        switch self {
        case .noPermission: .noPermission
        case .notRunning, .refused, .disconnected, .notUnderstood, .system: .unavailable
        }
    }
}

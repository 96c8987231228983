import PlainText

/// Why there are no events from a daemon.
public enum EventSubscriptionError: Error, Sendable, Equatable, CustomStringConvertible {
    /// No daemon answers on the socket, or there is none.
    case notRunning(path: String)
    /// A daemon has the socket, and does not accept the connection: it is stopped, or more clients wait than have room.
    /// Where it has too many connections, the reason is the daemon's.
    case busy(path: String, reason: String? = nil)
    /// The permission to connect is missing; the reason is the daemon's, if it has sent one.
    case noPermission(path: String, reason: String?)
    /// The daemon refuses the request or the connection.
    case refused(reason: String)
    /// The daemon has closed the connection.
    case disconnected
    /// The server is not a Binnacle daemon.
    case notUnderstood(reason: String)
    /// A system call failed.
    case system(reason: String)

    /// The error and the remedy.
    public var description: String {
        switch self {
        case .notRunning(let path):
            "\(path): no daemon answers; is the service running, and has its configuration a [socket]? "
                + (SocketPath.withoutConfiguration() == nil
                    ? "A daemon that you run without a configuration has none: 'binnacle run --set socket.path="
                        + "\(SocketPath.example())' gives it one, and --socket asks there"
                    : "'binnacle run' starts a daemon of your own")
        case .busy(let path, let reason):
            "\(path): "
                + (reason.map { "\($0); close one, or try again later" }
                    ?? "the daemon does not accept the connection: it is stopped, busy, or has no descriptor left; "
                    + "try again, and look at its log if it stays so")
        case .noPermission(let path, let reason):
            "\(path): " + (reason ?? "you may not connect; the socket's group and mode decide who may")
        case .refused(let reason): "the daemon refuses: \(reason)"
        case .disconnected: "the daemon has closed the connection"
        case .notUnderstood(let reason): "the server is not a Binnacle daemon: \(reason)"
        case .system(let reason): reason
        }
    }

    /// The error for a refusal of the daemon.
    package static func refusal(_ message: String, path: String) -> EventSubscriptionError {
        // The text is from an unknown server, and a line end would begin a message of our own.
        let message = message.printable
        return message.hasPrefix(SocketMessage.noPermission)
            ? .noPermission(path: path, reason: message) : .refused(reason: message)
    }

    /// Whether a later attempt may succeed.
    package var isTransient: Bool {
        switch self {
        case .notRunning, .busy, .disconnected: true
        case .noPermission, .refused, .notUnderstood, .system: false
        }
    }
}

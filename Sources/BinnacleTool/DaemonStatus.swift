import EventSocket
import LinuxSystem
import PlainText
import Station

enum DaemonStatus {
    /// A daemon whose event thread hangs does not answer; a monitoring script must not hang with it.
    private static let longestWait: Int64 = 5_000_000_000

    /// The status as sent, and parsed; throws if no daemon answers, or the answer has no `state`.
    static func ask(_ path: String) throws(StationError) -> (line: String, status: JSONValue) {
        let line = try mapError({ StationError($0) }) { () throws(EventSubscriptionError) in try answer(path) }
        guard let status = try? JSONReader.value(of: line.utf8), status["state"]?.text != nil else {
            throw StationError(.unavailable, "\(path): the answer has no state: is this Binnacle's socket?")
        }
        return (line, status)
    }

    private static func answer(_ path: String) throws(EventSubscriptionError) -> String {
        let connection = try SocketConnection(path: path)
        try connection.send("{\"status\":{}}")
        guard let line = try connection.readLine(deadline: SystemClock.monotonic() + longestWait) else {
            throw .system(reason: "\(path): the daemon does not answer within 5 s")
        }
        switch try? SocketMessage(parsing: line) {
        case .status(let text): return text
        case .error(let message, _): throw .refusal(message, path: path)
        default: throw .notUnderstood(reason: "the answer is not a status")
        }
    }
}

extension StationError {
    init(_ error: EventSubscriptionError) {
        let status: ExitStatus = if case .noPermission = error { .noPermission } else { .unavailable }
        self.init(status, error.description)
    }
}

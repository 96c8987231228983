import EventSocket
import LinuxSystem
import PlainText
import Station

enum DaemonStatus {
    /// The status as sent, and parsed; throws if no daemon answers, or the answer has no `state`.
    static func ask(_ path: String) throws(StationError) -> (line: String, status: JSONValue) {
        let line = try mapError({ StationError($0) }) { () throws(EventSubscriptionError) in
            try SocketConnection.status(path: path)
        }
        guard let status = try? JSONReader.value(of: line.utf8), status["state"]?.text != nil else {
            throw .unavailable("\(path): the answer has no state: is this Binnacle's socket?")
        }
        return (line, status)
    }
}

extension StationError {
    init(_ error: EventSubscriptionError) {
        let status: ExitStatus = if case .noPermission = error { .noPermission } else { .unavailable }
        self.init(status, error.description)
    }
}

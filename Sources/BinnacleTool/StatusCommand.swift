import Binnacle
import CommandRows
import EventSocket
import Handlers
import LinuxSystem
import PlainText
import Station

/// `binnacle status`: shows the status of the running daemon.
struct StatusCommand {
    private let path: String
    private let writesJSON: Bool

    init(_ arguments: Arguments) throws(StationError) {
        try arguments.refuseOperands("status")
        path = arguments.socketPath
        writesJSON = arguments.has(.json)
    }

    func run(_ output: LineWriter) throws(StationError) -> ExitStatus {
        let line: String
        do throws(EventSubscriptionError) {
            line = try answer()
        } catch {
            throw StationError(error.exitStatus, error.description)
        }
        guard let status = try? JSONReader.value(of: line.utf8), let state = status["state"]?.text else {
            throw StationError(.unavailable, "\(path): what answers there does not say how it is")
        }
        if writesJSON {
            output.write(JSONReader.harmless(line))
        } else {
            for line in StatusText.lines(status) { output.write(line.printable) }
        }
        return state == "ok" ? .ok : .degraded
    }

    /// A daemon whose event thread hangs does not answer; a monitoring script must not hang with it.
    private static let longestWait: Int64 = 5_000_000_000

    private func answer() throws(EventSubscriptionError) -> String {
        let connection = try SocketConnection(path: path)
        try connection.send("{\"status\":{}}")
        guard let line = try connection.readLine(deadline: SystemClock.monotonic() + Self.longestWait) else {
            throw .system(reason: "\(path): the daemon does not answer within 5 s")
        }
        switch try? SocketMessage(parsing: line) {
        case .status(let text): return text
        case .error(let message, _): throw .refusal(message, path: path)
        default: throw .notUnderstood(reason: "it answers something else")
        }
    }
}

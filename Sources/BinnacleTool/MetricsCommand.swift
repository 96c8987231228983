import CommandRows
import Glibc
import LinuxSystem
import PlainText
import Station

/// `binnacle metrics`: the daemon's status for Prometheus.
struct MetricsCommand {
    private let socketPath: String
    private let file: String?
    private let answersHTTP: Bool

    init(_ arguments: Arguments) throws(StationError) {
        try arguments.refuseOperands("metrics")
        socketPath = arguments.socketPath
        file = arguments.value(.metricsFile)
        answersHTTP = arguments.has(.http)
        guard file == nil || !answersHTTP else {
            throw StationError(.usage, "--file and --http are two ways of handing on: name one")
        }
    }

    func run(_ output: LineWriter) throws(StationError) -> ExitStatus {
        guard !answersHTTP else { return answer() }
        let text = MetricsText.text(try DaemonStatus.ask(socketPath).status)
        guard let file else {
            output.write(text: text)
            return .ok
        }
        do throws(SystemError) {
            // The account of node_exporter has to read the file.
            try SmallFile.replace(file, with: Array(text.utf8), mode: 0o644)
        } catch {
            throw StationError(error)
        }
        return .ok
    }

    // MARK: - One request

    private func answer() -> ExitStatus {
        let connection = HTTPConnection(input: STDIN_FILENO, output: STDOUT_FILENO)
        let (status, body): (String, String)
        let request = connection.request()
        switch (request?.method, request?.path) {
        case ("GET"?, "/metrics"?), ("HEAD"?, "/metrics"?):
            do throws(StationError) {
                (status, body) = ("200 OK", MetricsText.text(try DaemonStatus.ask(socketPath).status))
            } catch {
                (status, body) = ("503 Service Unavailable", error.description.printable + "\n")
            }
        case ("GET"?, _), ("HEAD"?, _): (status, body) = ("404 Not Found", "The metrics are at /metrics.\n")
        case (_?, _): (status, body) = ("405 Method Not Allowed", "Only GET is answered.\n")
        // Incomplete, too long, or malformed.
        case (nil, _): (status, body) = ("400 Bad Request", "Malformed request.\n")
        }
        let isOK = status.hasPrefix("200")
        // A client that does not read gets nothing; the systemd unit limits the time.
        connection.answer(
            status, type: "text/plain; \(isOK ? "version=0.0.4; " : "")charset=utf-8", Array(body.utf8),
            isHead: request?.method == "HEAD")
        return isOK ? .ok : .unavailable
    }
}

import CommandRows
import Glibc
import LinuxSystem
import PlainText
import Station

/// `binnacle metrics`: the daemon's status for Prometheus.
enum MetricsCommand {
    static func run(_ arguments: Arguments, _ console: Console) throws(StationError) -> ExitStatus {
        let socketPath = arguments.socketPath
        let file = arguments.value(.metricsFile)
        let answersHTTP = arguments.has(.http)
        let access = try HTTPAccess(arguments, isOpen: true)
        guard file == nil || !answersHTTP else {
            throw .usage("--file and --http are two ways of handing on: name one")
        }
        if !answersHTTP { try arguments.refuse([.host, .tokenFile], "is for requests: name --http") }
        guard !answersHTTP else { return answer(socketPath, access, console.errors) }
        guard let file else {
            console.output.write(text: MetricsText.text(try DaemonStatus.ask(socketPath).status))
            return .ok
        }
        let status: JSONValue
        do throws(StationError) {
            status = try DaemonStatus.ask(socketPath).status
        } catch {
            // Whatever the reason, values of before would look like those of now.
            try Self.replace(file, with: MetricsText.away)
            throw error
        }
        try Self.replace(file, with: MetricsText.text(status))
        return .ok
    }

    private static func replace(_ file: String, with text: String) throws(StationError) {
        // Only a file of metrics is replaced: root might name /dev/null or a pipe, and a link leads to another file.
        if let status = try? fileStatus(file, followsLink: false), !status.isRegular {
            throw .cannotCreate(
                "\(file.printable): is no regular file and is left alone: name a regular file, or one that is not there yet"
            )
        }
        let explain = { (error: SystemError) in
            StationError(
                .cannotCreate,
                "\(file.printable): cannot be replaced: \(error.reason)"
                    + (error.isPermission ? "; name a file in a folder that this account may write to" : ""))
        }
        try mapError(explain) { () throws(SystemError) in
            // The account of node_exporter has to read the file.
            try SmallFile.replace(file, with: Array(text.utf8), mode: 0o644)
        }
    }

    // MARK: - One request

    private static func answer(_ socketPath: String, _ access: HTTPAccess, _ errors: LineWriter) -> ExitStatus {
        let connection = HTTPConnection(input: STDIN_FILENO, output: STDOUT_FILENO)
        do throws(HTTPRefusal) {
            let request = try connection.request()
            try access.check(request, on: STDIN_FILENO)
            guard request.path == "/metrics" else { throw .notFound("The metrics are at /metrics.") }
            let status = try mapError({ HTTPRefusal.unavailable($0.description.printable) }) {
                () throws(StationError) in
                try DaemonStatus.ask(socketPath).status
            }
            connection.answer(
                "200 OK", type: "text/plain; version=0.0.4; charset=utf-8", Array(MetricsText.text(status).utf8))
            if connection.stream.hasStalled {
                errors.write("binnacle: metrics: \(HTTPConnection.stalling.text(1, nil))")
            }
            return .ok
        } catch {
            connection.refuse(error)
            return .unavailable
        }
    }
}

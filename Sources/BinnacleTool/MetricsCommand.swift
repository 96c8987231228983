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
            // node_exporter has an account of its own.
            try SmallFile.replace(file, with: Array(text.utf8), mode: 0o644)
        } catch {
            throw StationError(error)
        }
        return .ok
    }

    // MARK: - One request

    private static let longestHead = 8192
    private static let longestWait: Int64 = 5_000_000_000

    /// Reads the head of a request, and answers it.
    private func answer() -> ExitStatus {
        let (status, body): (String, String)
        let request = request()
        switch request {
        case ["GET", "/metrics"]?, ["HEAD", "/metrics"]?:
            do throws(StationError) {
                (status, body) = ("200 OK", MetricsText.text(try DaemonStatus.ask(socketPath).status))
            } catch {
                (status, body) = ("503 Service Unavailable", error.description.printable + "\n")
            }
        case let other? where other[0] == "GET" || other[0] == "HEAD":
            (status, body) = ("404 Not Found", "The metrics are at /metrics.\n")
        case .some: (status, body) = ("405 Method Not Allowed", "Only GET is answered.\n")
        // Half a request, one that never ends, or none at all.
        case nil: (status, body) = ("400 Bad Request", "This is no request that is answered.\n")
        }
        let isOK = status.hasPrefix("200")
        let head = [
            "HTTP/1.1 \(status)",
            "Content-Type: text/plain; \(isOK ? "version=0.0.4; " : "")charset=utf-8",
            "Content-Length: \(body.utf8.count)", "Cache-Control: no-store", "Connection: close",
        ]
        let text = head.joined(separator: "\r\n") + "\r\n\r\n" + (request?.first == "HEAD" ? "" : body)
        // A client that is gone, or takes nothing, gets nothing: a unit limits the time.
        try? writeAll(Array(text.utf8), to: STDOUT_FILENO)
        return isOK ? .ok : .unavailable
    }

    /// The method and the path of a request whose head is complete and of HTTP; `nil` for anything else.
    private func request() -> [String]? {
        let deadline = SystemClock.monotonic() + Self.longestWait
        var head: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 2048)
        let end = Array("\r\n\r\n".utf8)
        while !head.suffix(piece.count + end.count).contains(end) {
            guard head.count < Self.longestHead else { return nil }
            var waiting = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, SystemClock.milliseconds(until: deadline)) > 0 else { return nil }
            let count = read(STDIN_FILENO, &piece, piece.count)
            guard count > 0 else { return nil }
            head += piece[..<count]
        }
        let line = String(decoding: head.prefix { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard words.count == 3, words[2].hasPrefix("HTTP/1.") else { return nil }
        return Array(words.prefix(2))
    }
}

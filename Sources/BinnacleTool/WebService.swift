import Binnacle
import EventSocket
import Glibc
import LinuxSystem
import Pictures
import PlainText
import Station

/// Answers the requests of browsers for a page and its data; nothing can be changed through it.
struct WebService: Sendable {
    let socketPath: String
    /// The token of clients on other machines; `nil` admits none.
    let token: String?

    /// Maximum number of events sent to a page.
    private static let mostEvents = 5000
    /// After an hour the browser has to connect again.
    private static let longestStream: Int64 = 3_600_000_000_000

    private static let fields = [
        // Scripts and styles come from files of this service only, so no text can be executed.
        "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
            + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer", "Cross-Origin-Resource-Policy: same-origin",
        "Cross-Origin-Opener-Policy: same-origin",
    ]

    /// Answers one request; `isLocal` states that it came to a loopback address.
    func serve(_ connection: HTTPConnection, isLocal: Bool) {
        guard let request = connection.request() else {
            return refuse(connection, "400 Bad Request", "Malformed request.")
        }
        guard request.method == "GET" || request.method == "HEAD" else {
            return refuse(connection, "405 Method Not Allowed", "Only GET is answered.")
        }
        if let reason = refusal(of: request, isLocal: isLocal) {
            return refuse(connection, "403 Forbidden", reason)
        }
        let isHead = request.method == "HEAD"
        func answer(_ type: String, _ body: [UInt8]) {
            connection.answer("200 OK", type: type, body, fields: Self.fields, isHead: isHead)
        }
        switch request.path {
        case "/", "/day": answer("text/html; charset=utf-8", WebPage.html(token: isLocal ? nil : token))
        case "/page.css": answer("text/css; charset=utf-8", WebPage.style)
        case "/page.js": answer("text/javascript; charset=utf-8", WebPage.drawing)
        case "/web.js": answer("text/javascript; charset=utf-8", WebPage.script)
        case "/status":
            do throws(StationError) {
                answer("application/json", Array(try DaemonStatus.ask(socketPath).line.utf8))
            } catch {
                refuse(connection, "503 Service Unavailable", error.description.printable)
            }
        case "/events" where !isHead: sendEvents(connection, request)
        case "/stream" where !isHead: stream(connection)
        default: refuse(connection, "404 Not Found", "There is no such page.")
        }
    }

    private func refuse(_ connection: HTTPConnection, _ status: String, _ text: String) {
        connection.answer(
            status, type: "text/plain; charset=utf-8", Array((text + "\n").utf8), fields: Self.fields)
    }

    // MARK: - Access

    /// Why a request is refused; `nil` if it is allowed.
    private func refusal(of request: HTTPConnection.Request, isLocal: Bool) -> String? {
        guard request.count(of: "host") == 1, let host = request.field("host") else {
            return "The request needs one Host header."
        }
        // A page of another site in the same browser.
        if request.count(of: "origin") > 0, request.field("origin") != "http://\(host)" {
            return "Requests from other sites are refused."
        }
        if let site = request.field("sec-fetch-site"), site != "same-origin", site != "none" {
            // A link from another site may open the page, but not fetch its data.
            guard site == "cross-site" || site == "same-site", request.field("sec-fetch-mode") == "navigate" else {
                return "Requests from other sites are refused."
            }
        }
        if isLocal {
            // A foreign name that resolves to this machine (DNS rebinding).
            return Self.isLoopback(host) ? nil : "The host has to be localhost, 127.0.0.1 or [::1]."
        }
        guard let token else { return "Requests from other machines need --token-file." }
        guard let given = request.parameter("token"), Self.isEqual(given, token) else {
            return "The address lacks ?token= with the token of this service."
        }
        return nil
    }

    /// Whether a host name, with or without a port, is a loopback name, which no foreign site can have.
    private static func isLoopback(_ host: String) -> Bool {
        var name = Substring(host)
        if let colon = name.lastIndex(of: ":"),
            name[name.index(after: colon)...].allSatisfy({ ("0"..."9").contains($0) }),
            !name.hasSuffix("]")
        {
            name = name[..<colon]
        }
        return ["localhost", "127.0.0.1", "[::1]"].contains(name.lowercased())
    }

    /// Compares texts in a time that depends only on their lengths.
    private static func isEqual(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    // MARK: - Data

    /// Sends the stored events since a time as lines of JSON, up to the limit.
    private func sendEvents(_ connection: HTTPConnection, _ request: HTTPConnection.Request) {
        guard let text = request.parameter("since_ns"), let since = Int64(text) else {
            return refuse(connection, "400 Bad Request", "since_ns is missing: nanoseconds since 1970.")
        }
        let until = request.parameter("until_ns").flatMap { Int64($0) } ?? .max
        var wanted = SubscriptionRequest()
        wanted.sinceNanoseconds = since
        wanted.follows = false
        wanted.filter.kinds = EventKind.listed
        var lines: [String] = []
        do throws(EventSubscriptionError) {
            let client = try SocketConnection(path: socketPath)
            try client.send(wanted.json)
            let deadline = SystemClock.monotonic() + 10_000_000_000
            reading: while lines.count < Self.mostEvents, let line = try client.readLine(deadline: deadline) {
                switch try? SocketMessage(parsing: line) {
                case .event(let event, let json):
                    if let wall = event.wallNanoseconds, wall >= until { break reading }
                    lines.append(json)
                case .end: break reading
                case .error(let message, _): throw .refusal(message, path: socketPath)
                default: continue
                }
            }
        } catch {
            return refuse(connection, "503 Service Unavailable", error.description.printable)
        }
        connection.answer(
            "200 OK", type: "application/x-ndjson", Array((lines.joined(separator: "\n") + "\n").utf8),
            fields: Self.fields)
    }

    /// Sends readings and events as they arrive, until the client is gone or does not read.
    private func stream(_ connection: HTTPConnection) {
        var request = SubscriptionRequest()
        request.readings = LiveValuesRequest()
        request.filter.kinds = EventKind.listed
        // Further data from the client, or its end, ends the stream.
        let reader = SubscriptionReader(
            request, path: socketPath, patience: .none, cancelling: connection.input)
        let head =
            [
                "HTTP/1.1 200 OK", "Content-Type: text/event-stream", "Cache-Control: no-store", "Connection: close",
            ] + Self.fields
        let end = SystemClock.monotonic() + Self.longestStream
        var sent: LiveValues?
        guard connection.write(Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8)) else { return }
        while SystemClock.monotonic() < end {
            let (name, data): (String, String)
            do throws(EventSubscriptionError) {
                switch try reader.next() {
                case .readings(let readings):
                    (name, data) = ("readings", readings.omittingLanes(of: sent).json)
                    sent = readings
                case .event(_, let json): (name, data) = ("event", json)
                case .missed(let missed): (name, data) = ("missed", JSONObject.quoted(missed.reason))
                case .end, .cancelled: return
                }
            } catch {
                (name, data) = ("trouble", JSONObject.quoted(error.description))
            }
            // A line of JSON contains no newline.
            guard connection.write(Array("event: \(name)\ndata: \(data)\n\n".utf8)), name != "trouble" else { return }
        }
    }
}

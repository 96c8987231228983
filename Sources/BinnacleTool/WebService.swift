import Binnacle
import EventSocket
import LinuxSystem
import Pictures
import PlainText
import Station

/// Answers the requests of browsers for a page and its data; nothing but a calibration can be written through it.
struct WebService: Sendable {
    let socketPath: String
    let access: HTTPAccess
    let calibration: WebCalibration

    /// Maximum number of events sent to a page.
    private static let mostEvents = 5000
    /// The kinds that end the course of a detector; a page that lacked one would draw on what is no more.
    private static let courseEnds: Set<EventKind> = [.headingLost, .detectorFailed, .detectorUnavailable]
    /// How much of the events is kept before it is sent.
    private static let pieceBytes = 16_384
    /// The longest wait for the daemon's next event.
    private static let longestWait: Int64 = 10_000_000_000
    private static let longestAnswer: Int64 = 120_000_000_000
    /// After an hour the browser has to connect again.
    private static let longestStream: Int64 = 3_600_000_000_000

    /// Answers one request; `admits` is asked before an answer that may take longer than the request.
    func serve(_ connection: HTTPConnection, admits: () -> Bool = { true }) {
        do throws(HTTPRefusal) {
            let request = try connection.request(posting: [WebCalibration.saving])
            try access.check(request, on: connection.stream.input)
            guard admits() else { return }
            func answer(_ type: String, _ body: [UInt8]) { connection.answer("200 OK", type: type, body) }
            switch request.path {
            // The links of the page carry the token as its address does; it is all that is known to be letters and digits.
            case "/", "/day", "/calibration":
                let token = access.token.flatMap { request.parameter("token") == $0 ? $0 : nil }
                answer("text/html; charset=utf-8", WebPage.html(token: token))
            case "/page.css": answer("text/css; charset=utf-8", WebPage.style)
            case "/page.js": answer("text/javascript; charset=utf-8", WebPage.drawing)
            case "/panel.js": answer("text/javascript; charset=utf-8", WebPage.instruments)
            case "/web.js": answer("text/javascript; charset=utf-8", WebPage.script)
            case "/status":
                let status = try mapError({ HTTPRefusal.unavailable($0.description.printable) }) {
                    () throws(StationError) in
                    try DaemonStatus.ask(socketPath)
                }
                answer("application/json", Array(status.line.utf8))
            case "/events" where request.method == "GET": try sendEvents(connection, request)
            case "/stream" where request.method == "GET": stream(connection, request)
            case "/calibration/stream" where request.method == "GET":
                try calibration.stream(connection, request, socketPath: socketPath)
            case WebCalibration.saving where request.method == "POST":
                answer("text/plain; charset=utf-8", Array(try calibration.save(request).utf8))
            case "/events", "/stream", "/calibration/stream": throw .methodNotAllowed("GET")
            default: throw .notFound("There is no such page.")
            }
        } catch {
            connection.refuse(error)
        }
    }

    // MARK: - Data

    /// Sends the stored events since a time as lines of JSON, up to the limit, and a line about them and the time at the end.
    ///
    /// Of headings and attitudes, of which a turn has one for each degree, a part of a thousand of the time has one of each detector:
    /// the last, because it lasts until the next, so it may come after later events of other kinds. A heading that is held, which ends
    /// the valid one, counts on its own.
    private func sendEvents(_ connection: HTTPConnection, _ request: HTTPConnection.Request) throws(HTTPRefusal) {
        func time(_ name: String) throws(HTTPRefusal) -> Int64? {
            guard let text = request.parameter(name) else { return nil }
            guard let time = Int64(text) else {
                throw .malformed(
                    "\(name) has to be a whole number of nanoseconds since 1970, from \(Int64.min) to \(Int64.max).")
            }
            return time
        }
        guard let since = try time("since_ns") else {
            throw .malformed("since_ns is missing: nanoseconds since 1970.")
        }
        let until = try time("until_ns") ?? .max
        let pause = max(0, min(until, SystemClock.realtime()).subtractingReportingOverflow(since).partialValue) / 1000
        // The end of the present part of the time for each, and its last event.
        var courses: [String: (end: Int64, json: String)] = [:]
        var wanted = SubscriptionRequest()
        wanted.sinceNanoseconds = since
        wanted.follows = false
        var count = 0, laterCount = 0, unshownCount = 0, thinnedCount = 0, headingCount = 0
        var piece: [UInt8] = []
        var isBegun = false
        func send() -> Bool {
            defer { piece = [] }
            guard isBegun else {
                isBegun = true
                return connection.begin("200 OK", type: "application/x-ndjson", piece)
            }
            return connection.write(piece)
        }
        var notes: [String] = []
        let end = SystemClock.monotonic() + Self.longestAnswer
        do throws(EventSubscriptionError) {
            let client = try SocketConnection(path: socketPath)
            try client.send(wanted.json)
            reading: while true {
                guard SystemClock.monotonic() < end else {
                    throw .system(
                        reason:
                            "\(socketPath): the events of the page have not come to an end within two minutes: choose a shorter time"
                    )
                }
                guard let line = try client.readLine(deadline: SystemClock.monotonic() + Self.longestWait) else {
                    throw .system(reason: "\(socketPath): the daemon has sent nothing for 10 s")
                }
                switch try? SocketMessage(parsing: line) {
                case .event(let event, let json):
                    if let wall = event.wallNanoseconds, wall >= until {
                        // Events from before may follow where the clock was set back.
                        laterCount += 1
                        if laterCount > Self.mostEvents { break reading }
                        continue
                    }
                    laterCount = 0
                    if !EventKind.listed.contains(event.kind) {
                        let name = "\(event.kind.rawValue) \(event.figure(.age) == nil) \(event.detector ?? "")"
                        let (now, last) = (event.wallNanoseconds ?? 0, courses[name])
                        if thinnedCount == Self.mostEvents || last.map({ now < $0.end }) ?? false {
                            // The last part is as long as need be.
                            if let last { courses[name] = (last.end, json) }
                            headingCount += 1
                            continue
                        }
                        thinnedCount += 1
                        courses[name] = (Units.later(now, by: pause), json)
                        guard let last else { continue }
                        piece += Array(last.json.utf8)
                    } else {
                        // The curves go on to the end of the range.
                        guard count < Self.mostEvents * (Self.courseEnds.contains(event.kind) ? 2 : 1) else {
                            unshownCount += 1
                            continue
                        }
                        count += 1
                        piece += Array(json.utf8)
                    }
                    piece.append(UInt8(ascii: "\n"))
                    if piece.count >= Self.pieceBytes, !send() { return }
                // A daemon says it once.
                case .missed(let missed) where notes.count < 3: notes.append("missed: \(missed.reason)")
                case .end: break reading
                case .error(let message, _): throw .refusal(message, path: socketPath)
                default: continue
                }
            }
        } catch {
            guard isBegun else { throw .unavailable(error.description.printable) }
            notes.append(error.description)
        }
        for course in courses.values.sorted(by: { $0.end < $1.end }) { piece += Array((course.json + "\n").utf8) }
        if unshownCount > 0 { notes.append("only the first \(count) are listed, \(unshownCount) more are not") }
        if let note = LeftOutHeadings.note(headingCount) { notes.append(note) }
        var summary = JSONObject()
        summary.add("note", notes.joined(separator: "; "))
        summary.add("now_ms", raw: String(SystemClock.realtime() / 1_000_000))
        piece += Array("{\"end\":\(summary.text)}\n".utf8)
        _ = send()
    }

    /// Sends readings and events as they arrive, until the client is gone or does not read.
    ///
    /// A client that connects again gets the events that came meanwhile: the `id` of what it had last is IDENTITY/NUMBER.
    private func stream(_ connection: HTTPConnection, _ asked: HTTPConnection.Request) {
        var request = SubscriptionRequest()
        // A page that was hidden opens a new stream, which can send no field of its own.
        let name = "last-event-id"
        if let last = asked.values(name).last ?? asked.text(name), let slash = last.lastIndex(of: "/"),
            let number = UInt64(last[slash...].dropFirst())
        {
            (request.identity, request.after) = (String(last[..<slash]), number)
        }
        // Thirty times a second: a needle that jumps is hard to read.
        request.readings = LiveValuesRequest(intervalNanoseconds: 33_000_000, hasSpectrum: true)
        // Further data from the client, or its end, ends the stream.
        let reader = SubscriptionReader(
            request, path: socketPath, patience: .none, cancelling: connection.stream.input)
        let end = SystemClock.monotonic() + Self.longestStream
        var sent: LiveValues?
        var headingCount = 0
        var place: String?
        guard connection.begin("200 OK", type: "text/event-stream") else { return }
        while SystemClock.monotonic() < end {
            var (name, data) = ("", "")
            do throws(EventSubscriptionError) {
                switch try reader.next() {
                case .readings(let readings):
                    (name, data) = ("readings", readings.omittingKnown(of: sent).json)
                    sent = readings
                    // The page counts on where it connects again.
                    if headingCount > 0 { data += "\n\nevent: left-out\ndata: \(headingCount)" }
                    headingCount = 0
                case .event(let event, let json):
                    guard EventKind.listed.contains(event.kind) else {
                        headingCount += 1
                        continue
                    }
                    (name, data) = ("event", json)
                case .missed(let missed): (name, data) = ("missed", JSONObject.quoted(missed.reason))
                case .end, nil: return
                // Not requested.
                default: continue
                }
            } catch {
                (name, data) = ("trouble", JSONObject.quoted(error.description))
            }
            let reached = reader.position.map { "\($0.identity)/\($0.after)" }
            let id = reached == place ? nil : reached
            place = reached
            guard connection.write(event: name, id: id, data), name != "trouble" else { return }
        }
    }
}

package import Binnacle
package import PlainText

/// A line of the server.
package enum SocketMessage: Sendable, Equatable {
    /// The start of a subscription after a number, with the identity of the sequence and the newest number.
    case subscribed(identity: String, newest: UInt64, after: UInt64)
    /// An event, and its line.
    case event(Event, json: String)
    case missed(MissedEvents)
    case readings(LiveValues)
    case samples(StreamedSamples)
    case end
    /// The daemon's status, a JSON object.
    case status(String)
    /// It is changed as was asked.
    case changed(DaemonChange)
    /// A refusal; the column is the position in the request in bytes, if there is one.
    case error(message: String, column: Int?)
    /// A refusal of the connection for want of room, which a later attempt may find.
    case busy(message: String)
    /// A line of a newer daemon.
    case unknown(String)

    /// The prefix of a refusal for lack of permission.
    package static let noPermission = "no permission"

    /// The message as one line, without its end.
    package var json: String {
        var body = JSONObject()
        switch self {
        case .subscribed(let identity, let newest, let after):
            body.add("identity", identity)
            body.add("seq", raw: String(newest))
            body.add("after", raw: String(after))
            return Self.line("subscribed", body.text)
        case .event(_, let json): return json
        case .missed(let missed):
            if let count = missed.count { body.add("count", raw: String(count)) }
            if let first = missed.first { body.add("from", raw: String(first)) }
            if let last = missed.last { body.add("through", raw: String(last)) }
            body.add("reason", missed.reason)
            return Self.line("missed", body.text)
        case .readings(let readings): return Self.line("readings", readings.json)
        case .samples(let samples): return Self.line("samples", samples.json)
        case .end: return Self.line("end", body.text)
        case .status(let text): return Self.line("status", text)
        case .changed(let change): return change.json
        case .error(let message, let column):
            body.add("message", message)
            if let column { body.add("column", raw: String(column)) }
            return Self.line("error", body.text)
        case .busy(let message):
            body.add("message", message)
            body.add("busy", raw: "true")
            return Self.line("error", body.text)
        case .unknown(let line): return line
        }
    }

    /// Parses a line without its end; throws when it is not JSON.
    package init(parsing line: String) throws(JSONReader.SyntaxError) {
        let value = try JSONReader.value(of: line.utf8)
        if let event = Event(value) {
            self = .event(event, json: line)
            return
        }
        if let sequence = value["seq"]?.sequence, value["kind"] != nil {
            self = .missed(
                MissedEvents(
                    count: 1, first: sequence, last: sequence,
                    reason: "it is none that this version knows; the daemon is newer"))
            return
        }
        guard case .object(let members) = value, members.count == 1, let body = members.first?.value else {
            self = .unknown(line)
            return
        }
        switch members[0].key {
        case "subscribed":
            guard let identity = body["identity"]?.text, let newest = body["seq"]?.sequence else {
                self = .unknown(line)
                return
            }
            self = .subscribed(identity: identity, newest: newest, after: body["after"]?.sequence ?? newest)
        case "missed":
            self = .missed(
                MissedEvents(
                    count: body["count"]?.sequence, first: body["from"]?.sequence, last: body["through"]?.sequence,
                    reason: body["reason"]?.text ?? ""))
        case "readings": self = LiveValues(body).map(Self.readings) ?? .unknown(line)
        case "samples": self = StreamedSamples(body).map(Self.samples) ?? .unknown(line)
        case "end": self = .end
        case "status": self = .status(Self.inside(line))
        case "error" where body["busy"] == .boolean(true): self = .busy(message: body["message"]?.text ?? "")
        case "error": self = .error(message: body["message"]?.text ?? "", column: body["column"]?.integer.map(Int.init))
        default:
            let action = DaemonChange.Action(rawValue: members[0].key)
            let change = action.flatMap { action in
                body[action.member]?.text.map { DaemonChange(action, $0, problem: body["problem"]?.text) }
            }
            self = change.map(Self.changed) ?? .unknown(line)
        }
    }

    private static func line(_ key: String, _ body: String) -> String { "{\"\(key)\":\(body)}" }

    private static func inside(_ line: String) -> String {
        guard let colon = line.firstIndex(of: ":"), let brace = line.lastIndex(of: "}") else { return "{}" }
        return String(line[line.index(after: colon)..<brace])
    }
}

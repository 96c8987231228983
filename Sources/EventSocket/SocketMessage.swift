package import Binnacle
package import PlainText

/// A line that the server sends.
package enum SocketMessage: Sendable, Equatable {
    /// A subscription begins.
    ///
    /// - identity: What the numbers belong to.
    /// - newest: The number of the newest event.
    /// - after: The number behind which it begins.
    case subscribed(identity: String, newest: UInt64, after: UInt64)
    /// An event, and its line.
    case event(Event, json: String)
    /// Events that will not come.
    case missed(MissedEvents)
    /// There is nothing more.
    case end
    /// How the daemon is: an object of JSON.
    case status(String)
    /// The request is refused; the column is the byte of the request, when it is about one.
    case error(message: String, column: Int?)
    /// Something of a newer daemon, as the line that it is.
    case unknown(String)

    /// How the message of an error begins when whoever connects may not.
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
        case .end: return Self.line("end", body.text)
        case .status(let text): return Self.line("status", text)
        case .error(let message, let column):
            body.add("message", message)
            if let column { body.add("column", raw: String(column)) }
            return Self.line("error", body.text)
        case .unknown(let line): return line
        }
    }

    /// Reads a line.
    ///
    /// - Parameter line: The line, without its end.
    /// - Throws: What is wrong with a line that is not JSON.
    package init(parsing line: String) throws(JSONReader.SyntaxError) {
        let value = try JSONReader.value(of: line.utf8)
        if let event = Event(value) {
            self = .event(event, json: line)
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
        case "end": self = .end
        case "status": self = .status(Self.inside(line))
        case "error": self = .error(message: body["message"]?.text ?? "", column: body["column"]?.integer.map(Int.init))
        default: self = .unknown(line)
        }
    }

    private static func line(_ key: String, _ body: String) -> String { "{\"\(key)\":\(body)}" }

    /// What stands behind the only key of a line, as it stands there.
    private static func inside(_ line: String) -> String {
        guard let colon = line.firstIndex(of: ":"), let brace = line.lastIndex(of: "}") else { return "{}" }
        return String(line[line.index(after: colon)..<brace])
    }
}

extension JSONValue {
    /// The number of an event that this is.
    fileprivate var sequence: UInt64? {
        guard case .number(let text) = self else { return nil }
        return UInt64(text)
    }
}

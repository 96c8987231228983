package import PlainText

/// A client's request, its first and only line.
package enum SocketRequest: Sendable, Equatable {
    /// Events.
    case subscribe(SubscriptionRequest)
    /// The daemon's status.
    case status
    /// That a detector forgets what it has learned or counted.
    case reset(detector: String)

    /// An error in a request, with the correction.
    package typealias SyntaxError = JSONReader.SyntaxError

    /// The maximum size of a request with its line end, in bytes.
    package static let longestLine = 65_536
    /// The maximum number of sensors in a subscription.
    package static let mostSensors = 100
    /// The maximum size of a sensor's name and of an identity, in bytes.
    package static let longestName = 256

    /// Parses a line without its end.
    package init(parsing bytes: some Sequence<UInt8>) throws(SyntaxError) {
        let request = try JSONReader.locatedValue(of: bytes)
        guard let members = request.members, members.count == 1 else {
            throw request.error("a request is an object with one key, `subscribe`, `status` or `reset`")
        }
        let body = members[0].value
        switch members[0].key {
        case "subscribe": self = .subscribe(try SubscriptionRequest(reading: body))
        case "status":
            if let first = try body.requireMembers().first {
                throw SyntaxError(
                    message: "unknown key \(Spelling.quoted(first.key)) (`status` has none)", column: first.keyColumn)
            }
            self = .status
        case "reset":
            var name: String?
            for member in try body.requireMembers() {
                guard member.key == "detector" else { throw member.unknownKey(among: ["detector"]) }
                name = try member.value.name()
            }
            guard let name else { throw body.error("`reset` needs a `detector`") }
            self = .reset(detector: name)
        default:
            let hint = Spelling.hint(for: members[0].key, among: ["subscribe", "status", "reset"])
            throw SyntaxError(
                message: "unknown request \(Spelling.quoted(members[0].key)) (\(hint))", column: members[0].keyColumn)
        }
    }

    /// The request as one line, without its end.
    package var json: String {
        switch self {
        case .subscribe(let request): request.json
        case .status: #"{"status":{}}"#
        case .reset(let detector): "{\"reset\":{\"detector\":\(JSONObject.quoted(detector))}}"
        }
    }
}

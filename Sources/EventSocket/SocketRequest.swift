package import PlainText

/// A client's request, its first and only line.
package enum SocketRequest: Sendable, Equatable {
    case subscribe(SubscriptionRequest)
    case status
    /// That something of the daemon changes.
    case change(DaemonChange)

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
            throw request.error(
                "a request is an object with one key, \(Spelling.alternatives(Self.keys.map { "`\($0)`" }))")
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
        default:
            if let action = DaemonChange.Action(rawValue: members[0].key) {
                var name: String?
                for member in try body.requireMembers() {
                    guard member.key == action.member else { throw member.unknownKey(among: [action.member]) }
                    name = try member.value.name()
                }
                guard let name else { throw body.error("`\(action.rawValue)` needs a `\(action.member)`") }
                self = .change(DaemonChange(action, name))
                return
            }
            let hint = Spelling.hint(for: members[0].key, among: Self.keys)
            throw SyntaxError(
                message: "unknown request \(Spelling.quoted(members[0].key)) (\(hint))", column: members[0].keyColumn)
        }
    }

    private static let keys = ["subscribe", "status"] + DaemonChange.Action.allCases.map(\.rawValue)

    /// The request as one line, without its end.
    package var json: String {
        switch self {
        case .subscribe(let request): request.json
        case .status: #"{"status":{}}"#
        case .change(let change): change.json
        }
    }
}

/// What a client may change in the daemon: one thing that has a name.
package struct DaemonChange: Sendable, Equatable {
    package enum Action: String, CaseIterable, Sendable {
        /// A detector forgets what it has learned or counted.
        case reset
        /// A handler gets events.
        case arm
        /// A handler gets no events.
        case disarm

        package var member: String { self == .reset ? "detector" : "handler" }
    }

    package let action: Action
    package let name: String
    /// In an answer: why a restart will not know of it.
    package let problem: String?

    package init(_ action: Action, _ name: String, problem: String? = nil) {
        self.action = action
        self.name = name
        self.problem = problem
    }

    /// The request, and its answer, as one line.
    var json: String {
        let problem = problem.map { ",\"problem\":" + JSONObject.quoted($0) } ?? ""
        return "{\"\(action.rawValue)\":{\"\(action.member)\":\(JSONObject.quoted(name))\(problem)}}"
    }
}

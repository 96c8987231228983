import Binnacle
import PlainText

extension SubscriptionRequest {
    private static let keys = ["kinds", "sensors", "after", "identity", "since_ns", "follow"]

    /// Reads what is asked for.
    ///
    /// - Parameter body: What stands under `subscribe`.
    /// - Throws: ``SocketRequest/SyntaxError`` for the first thing that is wrong.
    init(reading body: LocatedJSONValue) throws(SocketRequest.SyntaxError) {
        self.init()
        for member in try body.requireMembers() {
            let value = member.value
            switch member.key {
            case "kinds": filter.kinds = try Self.kinds(value)
            case "sensors": filter.sensors = try Self.sensors(value)
            case "after":
                guard case .number(let text) = value.value, let number = UInt64(text) else {
                    throw value.error("`after` has to be the number of an event")
                }
                after = number
            case "identity": identity = try Self.name(value)
            case "since_ns":
                guard let time = value.value.integer else {
                    throw value.error("`since_ns` has to be a whole number of nanoseconds since 1970")
                }
                sinceNanoseconds = time
            case "follow":
                guard case .boolean(let follows) = value.value else {
                    throw value.error("`follow` has to be true or false")
                }
                self.follows = follows
            default:
                throw SocketRequest.SyntaxError(
                    message: "unknown key \(Spelling.quoted(member.key)) "
                        + "(\(Spelling.hint(for: member.key, among: Self.keys)))",
                    column: member.keyColumn)
            }
        }
    }

    private static func kinds(_ value: LocatedJSONValue) throws(SocketRequest.SyntaxError) -> Set<EventKind> {
        var kinds: Set<EventKind> = []
        for element in try list(value, of: "kinds") {
            let name = try name(element)
            guard let kind = EventKind(rawValue: name) else {
                let hint = Spelling.hint(for: name, among: EventKind.allCases.map(\.rawValue))
                throw element.error("unknown kind \(Spelling.quoted(name)) (\(hint))")
            }
            kinds.insert(kind)
        }
        return kinds
    }

    private static func sensors(_ value: LocatedJSONValue) throws(SocketRequest.SyntaxError) -> Set<String> {
        var sensors: Set<String> = []
        for element in try list(value, of: "sensors") {
            sensors.insert(try name(element))
            guard sensors.count <= SocketRequest.mostSensors else {
                throw element.error("at most \(SocketRequest.mostSensors) sensors can be named")
            }
        }
        return sensors
    }

    private static func list(
        _ value: LocatedJSONValue, of what: String
    ) throws(SocketRequest.SyntaxError) -> [LocatedJSONValue] {
        guard let elements = value.elements, !elements.isEmpty else {
            throw value.error("`\(what)` has to be an array of names; without the key, all are meant")
        }
        return elements
    }

    private static func name(_ value: LocatedJSONValue) throws(SocketRequest.SyntaxError) -> String {
        guard let text = value.value.text, text.utf8.count <= SocketRequest.longestName else {
            throw value.error(
                "a string of at most \(SocketRequest.longestName) bytes should be here, not \(value.value.typeName)")
        }
        return text
    }
}

extension LocatedJSONValue {
    /// The members of the object that this has to be.
    func requireMembers() throws(SocketRequest.SyntaxError) -> [Member] {
        guard let members else { throw error("an object should be here, not \(value.typeName)") }
        return members
    }

    fileprivate func error(_ message: String) -> SocketRequest.SyntaxError {
        SocketRequest.SyntaxError(message: message, column: column)
    }
}

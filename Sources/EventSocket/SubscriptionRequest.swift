package import Binnacle
import PlainText

/// A client's request for events.
package struct SubscriptionRequest: Sendable, Equatable {
    /// The kinds and sensors.
    package var filter = EventFilter()
    /// The number of the event after which to begin; 0 for the oldest stored one.
    package var after: UInt64?
    /// The identity of that number's sequence.
    package var identity: String?
    /// Begins with the first event since this wall clock time, in nanoseconds since 1970.
    package var sinceNanoseconds: Int64?
    /// Whether to continue with new events.
    package var follows = true
    /// The requested live readings, with which the kinds may be empty; `nil` for none.
    package var readings: LiveValuesRequest?
    /// The requested samples, with which the kinds may be empty; `nil` for none.
    package var samples: SamplesRequest?

    /// Requests all events from now on.
    package init() {}

    package init(samples: SamplesRequest) {
        filter.kinds = []
        self.samples = samples
    }

    /// The request as one line, without its end.
    package var json: String {
        var body = JSONObject()
        if let kinds = filter.kinds { body.add("kinds", list: kinds.map { JSONObject.quoted($0.rawValue) }.sorted()) }
        if let sensors = filter.sensors { body.add("sensors", list: sensors.map(JSONObject.quoted).sorted()) }
        if let after { body.add("after", raw: String(after)) }
        if let identity { body.add("identity", identity) }
        if let sinceNanoseconds { body.add("since_ns", raw: String(sinceNanoseconds)) }
        if !follows { body.add("follow", raw: "false") }
        if let readings { body.add("readings", raw: readings.json) }
        if let samples { body.add("samples", raw: samples.json) }
        return JSONObject.text(["subscribe": body.text])
    }
}

extension SubscriptionRequest {
    private static let keys = ["kinds", "sensors", "after", "identity", "since_ns", "follow", "readings", "samples"]

    init(reading body: LocatedJSONValue) throws(SocketRequest.SyntaxError) {
        self.init()
        let members = try body.requireMembers()
        let wantsValues = members.contains { ["readings", "samples"].contains($0.key) }
        for member in members {
            let value = member.value
            switch member.key {
            case "kinds":
                // A client that requests readings or samples may want no events.
                let isNone = wantsValues && value.elements?.isEmpty ?? false
                filter.kinds = isNone ? [] : try value.kinds("kind")
            case "sensors": filter.sensors = try value.sensorNames()
            case "readings": readings = try LiveValuesRequest(reading: value)
            case "samples": samples = try SamplesRequest(reading: value)
            case "after":
                guard let number = value.value.sequence else {
                    throw value.error("`after` has to be the number of an event")
                }
                after = number
            case "identity": identity = try value.name()
            case "since_ns":
                guard let time = value.value.integer else {
                    throw value.error("`since_ns` has to be a whole number of nanoseconds since 1970")
                }
                sinceNanoseconds = time
            case "follow":
                follows = try value.boolean("follow")
            default: throw member.unknownKey(among: Self.keys)
            }
        }
        if samples != nil, !follows {
            throw body.error("samples are not kept: with `samples`, `follow` has to be true")
        }
    }
}

extension LocatedJSONValue.Member {
    func unknownKey(among keys: [String]) -> SocketRequest.SyntaxError {
        SocketRequest.SyntaxError(
            message: "unknown key \(Spelling.quoted(key)) (\(Spelling.hint(for: key, among: keys)))", column: keyColumn)
    }
}

extension LocatedJSONValue {
    /// The members of an object; throws for other values.
    func requireMembers() throws(SocketRequest.SyntaxError) -> [Member] {
        guard let members else { throw error("an object should be here, not \(value.typeName)") }
        return members
    }

    /// The names of sensors, up to the maximum number.
    func sensorNames() throws(SocketRequest.SyntaxError) -> Set<String> {
        var sensors: Set<String> = []
        for element in try list(of: "sensors") {
            sensors.insert(try element.name())
            guard sensors.count <= SocketRequest.mostSensors else {
                throw element.error("at most \(SocketRequest.mostSensors) sensors can be named")
            }
        }
        return sensors
    }

    /// The kinds of events or of samples, which are `what` in messages.
    func kinds<Kind>(_ what: String) throws(SocketRequest.SyntaxError) -> Set<Kind>
    where Kind: RawRepresentable<String> & CaseIterable & Hashable {
        var kinds: Set<Kind> = []
        for element in try list(of: "kinds") {
            let name = try element.name()
            guard let kind = Kind(rawValue: name) else {
                let hint = Spelling.hint(for: name, among: Kind.allCases.map(\.rawValue))
                throw element.error("unknown \(what) \(Spelling.quoted(name)) (\(hint))")
            }
            kinds.insert(kind)
        }
        return kinds
    }

    /// The elements of an array that is not empty.
    func list(of what: String) throws(SocketRequest.SyntaxError) -> [LocatedJSONValue] {
        guard let elements, !elements.isEmpty else {
            throw error("`\(what)` has to be an array of names; without the key, all are meant")
        }
        return elements
    }

    /// A string up to the maximum length.
    func name() throws(SocketRequest.SyntaxError) -> String {
        guard let text = value.text, text.utf8.count <= SocketRequest.longestName else {
            throw error(
                "a string of at most \(SocketRequest.longestName) bytes should be here, not \(value.text == nil ? value.typeName : "a longer one")"
            )
        }
        return text
    }

    func boolean(_ what: String) throws(SocketRequest.SyntaxError) -> Bool {
        guard case .boolean(let isTrue) = value else { throw error("`\(what)` has to be true or false") }
        return isTrue
    }

    /// The time that `interval_s` states, in a range for which there are words.
    func interval(in range: ClosedRange<Int64>, _ words: String) throws(SocketRequest.SyntaxError) -> Int64 {
        guard case .number(let text) = value, let seconds = Double(text),
            let nanoseconds = Int64(exactly: (seconds * 1e9).rounded()), range.contains(nanoseconds)
        else { throw error("`interval_s` has to be a number of seconds from \(words)") }
        return nanoseconds
    }

    func error(_ message: String) -> SocketRequest.SyntaxError {
        SocketRequest.SyntaxError(message: message, column: column)
    }
}

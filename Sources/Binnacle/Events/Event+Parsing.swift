package import PlainText

extension Event {
    /// Reads an event from the line that ``json`` writes.
    ///
    /// The event gives the same line again, byte for byte. Keys that this version does not know, because a newer one has
    /// written the line, are passed over.
    ///
    /// - Parameter json: One JSON object.
    /// - Throws: An error that says why, when the line is not JSON, or lacks what every event has.
    public init(json: String) throws {
        guard let event = Event(try JSONReader.value(of: json.utf8)) else {
            throw JSONReader.SyntaxError(message: "a key of an event is missing or of the wrong type", column: 1)
        }
        self = event
    }

    /// The event that an object contains; `nil` when its kind is unknown.
    package init?(_ object: JSONValue) {
        guard case .object(let members) = object, let kind = object["kind"]?.text.flatMap(EventKind.init(rawValue:)),
            let time = object["time_ns"]?.integer, let sequence = object["seq"]?.sequence
        else { return nil }
        self.init(
            kind: kind, detector: object["detector"]?.text, sensor: object["sensor"]?.text, sequence: sequence,
            timeNanoseconds: time)
        if let text = object["wall_time"]?.text {
            guard let wall = WallTime.nanoseconds(text) else { return nil }
            wallNanoseconds = wall
        }
        isSimulated = object["simulated"] == .boolean(true)
        identity = object["identity"]?.text
        figures = Figure.figures(of: members)
    }
}

extension Figure {
    /// The figures among the members of an object; other members, and those that a newer version has, are passed over.
    package static func figures(of members: [JSONValue.Member]) -> [Figure] {
        members.compactMap { member in
            guard let name = Figure.Name(rawValue: member.key), let value = Figure.Value(member.value) else {
                return nil
            }
            return Figure(name, value)
        }
    }
}

extension Figure.Value {
    /// The figure that a value of JSON is; numbers keep their decimals.
    fileprivate init?(_ value: JSONValue) {
        switch value {
        case .string(let text): self = .text(text)
        case .null: self = .number(.nan, decimals: 0)
        case .number(let text):
            if let integer = Int64(text) {
                self = .integer(integer)
            } else if let number = Double(text) {
                let decimals = text.utf8.reversed().prefix { $0 != UInt8(ascii: ".") }.count
                self = .number(number, decimals: min(9, decimals))
            } else {
                return nil
            }
        case .boolean, .array, .object: return nil
        }
    }
}

package import PlainText

extension Event {
    /// The event as one JSON object on one line, without the line's end.
    ///
    /// The keys stand in a fixed order: `seq`, `kind`, `detector`, `sensor`, `time_ns`, `wall_time` when it is known,
    /// `simulated` when it is true, `identity` when there is one, then the figures in theirs.
    /// The same event always gives the same bytes.
    public var json: String {
        var object = JSONObject()
        object.add("seq", raw: String(sequence))
        object.add("kind", kind.rawValue)
        object.add("detector", detector)
        object.add("sensor", sensor)
        object.add("time_ns", raw: String(timeNanoseconds))
        if let wallNanoseconds { object.add("wall_time", WallTime.text(wallNanoseconds)) }
        if isSimulated { object.add("simulated", raw: "true") }
        if let identity { object.add("identity", identity) }
        for figure in figures { object.add(figure.name, figure.value) }
        return object.text
    }
}

extension JSONObject {
    /// Adds a figure.
    package mutating func add(_ name: Figure.Name, _ value: Figure.Value) {
        switch value {
        case .text, .word: add(name.rawValue, value.description)
        case .number, .integer: add(name.rawValue, raw: value.description)
        }
    }
}

/// An event with the line that ``Event/json`` writes, which is written once for all who want it.
package struct PublishedEvent: Sendable {
    /// The event.
    package let event: Event
    /// Its line, without the line's end.
    package let json: String

    /// Writes the line of an event.
    package init(_ event: Event) {
        self.event = event
        json = event.json
    }
}

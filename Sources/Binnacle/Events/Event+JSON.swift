package import PlainText

extension Event {
    /// The event as one JSON object on one line, without the line's end.
    ///
    /// The keys have a fixed order: `seq`, `kind`, `detector` and `sensor`, which may be null, `time_ns`, `wall_time`
    /// (ISO 8601 in UTC) when it is known, `simulated` when it is true, `identity` when there is one, then the event's
    /// figures in their order.
    /// The same event always gives the same bytes. ``init(json:)`` reads them.
    public var json: String {
        var object = JSONObject()
        add(to: &object)
        return object.text
    }

    /// Adds what ``json`` has to an object.
    package func add(to object: inout JSONObject) {
        object.add("seq", count: sequence)
        object.add("kind", plain: kind.rawValue)
        object.add("detector", detector)
        object.add("sensor", sensor)
        object.add("time_ns", integer: timeNanoseconds)
        if let wallNanoseconds { object.add("wall_time", WallTime.text(wallNanoseconds)) }
        if isSimulated { object.add("simulated", raw: "true") }
        if let identity { object.add("identity", identity) }
        for figure in figures { object.add(figure.name, figure.value) }
    }
}

extension JSONObject {
    /// Adds a figure under its name: a word or a text as a string, a number with its decimals, or null if it is not finite.
    package mutating func add(_ name: Figure.Name, _ value: Figure.Value) {
        switch value {
        case .text(let text): add(name.rawValue, text)
        case .word(let word): add(name.rawValue, word.rawValue)
        case .number(let value, let decimals): add(name.rawValue, value, decimals: decimals)
        case .integer(let value): add(name.rawValue, integer: value)
        }
    }
}

/// An event with its ``Event/json``, which is formatted once for the store and the event socket; handlers format their own.
package struct PublishedEvent: Sendable {
    package let event: Event
    /// Its ``Event/json``.
    package let json: String

    /// Formats an event.
    package init(_ event: Event) {
        self.event = event
        json = event.json
    }
}

package import Binnacle
import PlainText

/// Which events a client asks for, and from where on.
package struct SubscriptionRequest: Sendable, Equatable {
    /// Which kinds and sensors.
    package var filter = EventFilter()
    /// The number of the event behind which to begin; 0 is the beginning of what is kept.
    package var after: UInt64?
    /// What that number belongs to.
    package var identity: String?
    /// The wall clock's time at which to begin, in nanoseconds since 1970.
    package var sinceNanoseconds: Int64?
    /// Whether to go on with the events that happen from now on.
    package var follows = true

    /// Asks for everything that happens from now on.
    package init() {}

    /// The request as one line, without its end.
    package var json: String {
        var body = JSONObject()
        if let kinds = filter.kinds { body.add("kinds", raw: Self.list(kinds.map(\.rawValue))) }
        if let sensors = filter.sensors { body.add("sensors", raw: Self.list(Array(sensors))) }
        if let after { body.add("after", raw: String(after)) }
        if let identity { body.add("identity", identity) }
        if let sinceNanoseconds { body.add("since_ns", raw: String(sinceNanoseconds)) }
        if !follows { body.add("follow", raw: "false") }
        var request = JSONObject()
        request.add("subscribe", raw: body.text)
        return request.text
    }

    /// An array of strings, in their order.
    private static func list(_ texts: [String]) -> String {
        // The writer of objects escapes strings; what it makes of one is what stands behind the first colon.
        let items = texts.sorted().map { text in
            var object = JSONObject()
            object.add("", text)
            return String(object.text.dropFirst(4).dropLast())
        }
        return "[" + items.joined(separator: ",") + "]"
    }
}

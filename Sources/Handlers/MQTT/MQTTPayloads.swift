import Binnacle
import PlainText

/// The messages of a handler's events, in the order in which they are first sent.
struct MQTTPayloads {
    /// A text with placeholders; `nil` for JSON.
    let template: CommandTemplate.Argument?
    private var last: (number: UInt64, identity: String?)?

    init(template: CommandTemplate.Argument?) {
        self.template = template
    }

    /// The message of the next event.
    ///
    /// As JSON, it has two members beside the event's own. `key` is unique within the `identity`: a repetition and an event
    /// that a decorator made carry the number of another event. `previous` is the number in the message before it, so that
    /// a reader sees that one is missing; the first after a start, and the first of another identity, has none.
    mutating func next(_ event: Event) -> [UInt8] {
        if let template { return Array(template.text(for: event).utf8) }
        var members = JSONObject()
        members.add("key", Self.key(event))
        if let last, last.identity == event.identity { members.add("previous", raw: String(last.number)) }
        last = (event.sequence, event.identity)
        return Array((event.json.dropLast() + "," + members.text.dropFirst()).utf8)
    }

    private static func key(_ event: Event) -> String {
        let key = "\(event.sequence)/\(event.kind.rawValue)"
        return event.kind.role == .repeated ? "\(key)/\(event.timeNanoseconds)" : key
    }
}

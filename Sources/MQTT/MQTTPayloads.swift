package import Binnacle
package import Handlers
import PlainText

/// Makes the messages of a handler's events, in the order of first sending.
package struct MQTTPayloads {
    /// A text with placeholders; `nil` for JSON.
    let template: CommandTemplate.Argument?
    private var last: EventNumber?

    package init(template: CommandTemplate.Argument?) {
        self.template = template
    }

    /// The message of the next event; `stored` is the number in the last message of the previous run.
    ///
    /// The JSON has two members beside the event's own. `key` is unique within the `identity`: a repetition and an event made by
    /// a decorator have the number of another event. `previous` is the number in the message before, so that a reader detects a
    /// missing one; the first message of an identity and the first after a start without a store have none.
    package mutating func next(_ event: Event, behind stored: EventNumber? = nil) -> [UInt8] {
        let previous = (last ?? stored).flatMap { $0.identity == event.identity ? String($0.sequence) : nil }
        last = EventNumber(event)
        return message(event, previous.map { ("previous", $0) })
    }

    /// The message of an event that is published again, with `again` in place of `previous`.
    func again(_ event: Event) -> [UInt8] {
        message(event, ("again", "true"))
    }

    private func message(_ event: Event, _ member: (key: String, json: String)?) -> [UInt8] {
        if let template { return Array(template.text(for: event).utf8) }
        var members = JSONObject()
        members.add("key", Self.key(event))
        if let member { members.add(member.key, raw: member.json) }
        return Array((event.json.dropLast() + "," + members.text.dropFirst()).utf8)
    }

    private static func key(_ event: Event) -> String {
        let key = "\(event.sequence)/\(event.kind.rawValue)"
        return event.kind.role == .repeated ? "\(key)/\(event.timeNanoseconds)" : key
    }
}

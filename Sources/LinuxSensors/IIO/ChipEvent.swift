/// An event that a chip can report by itself, as the folder `events` of its IIO device describes it.
package struct ChipEvent: Sendable, Equatable {
    /// The kernel's types of events in the order of their numbers in linux/iio/types.h.
    static let types = [
        "thresh", "mag", "roc", "thresh_adaptive", "mag_adaptive", "change", "mag_referenced", "gesture", "fault",
    ]
    /// The kernel's directions in the order of their numbers in linux/iio/types.h; an event without one has none in its name.
    static let directions = ["either", "rising", "falling", "", "singletap", "doubletap", "openwire"]

    /// The common beginning of its attributes' names, such as `in_accel_x_thresh_either`.
    package let stem: String
    /// The channel with its modifier, such as `in_accel_x&y&z`; the whole ``stem`` of an unknown type.
    package let channel: String
    /// The kernel's word for the type; `nil` when it is unknown.
    package let type: String?
    /// The kernel's word for the direction; empty for an event without one.
    package let direction: String
    /// Whether the event is on; `nil` when that cannot be read.
    package internal(set) var isOn: Bool?
    /// The threshold as the attribute has it; `nil` without one.
    package internal(set) var value: Double?
    /// The threshold in ``unit``; `nil` when the unit of the attribute is unknown.
    package internal(set) var valueSI: Double?
    /// The unit of ``valueSI``: m/s², or m/s³ of a rate of change.
    package internal(set) var unit: String?
    /// How long the condition has to last, in seconds; `nil` without such a setting.
    package internal(set) var periodSeconds: Double?

    /// Parses the name of a switch, such as `in_accel_x_thresh_either_en`; `nil` for the name of another attribute.
    package init?(switchName: String) {
        guard switchName.hasSuffix("_en") else { return nil }
        stem = String(switchName.dropLast(3))
        var rest = Substring(stem)
        var direction = ""
        for word in Self.directions where !word.isEmpty && rest.hasSuffix("_" + word) {
            direction = word
            rest = rest.dropLast(word.count + 1)
            break
        }
        // The longest first: "mag" is the end of no other one, but "thresh" is the beginning of "thresh_adaptive".
        let type = Self.types.sorted { $0.count > $1.count }.first { rest.hasSuffix("_" + $0) }
        self.type = type
        self.direction = type == nil ? "" : direction
        channel = type.map { String(rest.dropLast($0.count + 1)) } ?? stem
    }

    /// The axes, such as `x` or `x&y&z`; empty when the event is of the whole channel.
    package var modifier: String {
        guard let place = channel.dropFirst(3).firstIndex(of: "_") else { return "" }
        return String(channel[channel.index(after: place)...])
    }

    /// The event in words, such as `thresh either on x`.
    package var words: String {
        guard let type else { return channel }
        let head = [type, direction].filter { !$0.isEmpty }.joined(separator: " ")
        let isAccelerometer = channel == "in_accel" || channel.hasPrefix("in_accel_")
        guard isAccelerometer else { return "\(head) of \(channel.dropFirst(3))" }
        return modifier.isEmpty ? head : "\(head) on \(modifier)"
    }

    /// Where the threshold or another setting is: the event's own attribute, or one that the events of its type share.
    func attribute(_ setting: String, in folder: SysfsDirectory) -> String? {
        let kind = channel.hasPrefix("in_accel") ? "in_accel" : channel
        let ends = [type, direction, setting].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: "_")
        return ["\(stem)_\(setting)", "\(kind)_\(ends)"].first(where: folder.has)
    }
}

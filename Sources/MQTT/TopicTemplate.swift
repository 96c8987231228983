package import Binnacle
package import Handlers
import TableReading

package struct MachineNames: Sendable, Equatable {
    /// The network name, without the domain.
    package let host: String
    /// The unique identifier of the machine, which distinguishes clones; see ``MachineIdentity``.
    package let identity: String

    package init(host: String, identity: String) {
        self.host = host
        self.identity = identity
    }

    package static var current: MachineNames { MachineNames(host: HostName.current, identity: MachineIdentity.current) }
}

/// An MQTT topic with placeholders for the machine's names and for event values.
///
/// A placeholder becomes part of one level, whatever its value contains.
package struct TopicTemplate: Sendable, Equatable {
    package enum Piece: Sendable, Equatable {
        case text(String)
        /// The machine's name.
        case host
        case identity
        /// The kind of the event, with a level for each of its words.
        case kindLevels
        case placeholder(CommandPlaceholder)
    }

    package let pieces: [Piece]

    /// The topic for an event; a value that the event lacks becomes `-`.
    package func topic(for event: Event, of machine: MachineNames) -> String {
        topic(of: machine, kind: event.kind) { $0.text(in: event) }
    }

    func topic(forSensor sensor: String, of machine: MachineNames) -> String {
        topic(of: machine) { $0 == .sensor ? sensor : nil }
    }

    func topic(of machine: MachineNames) -> String {
        topic(of: machine) { _ in nil }
    }

    /// Whether the topic of some event, sensor or kind is that of another template, which has none of them.
    func mayBe(_ other: TopicTemplate) -> Bool {
        enum Symbol: Equatable {
            case letter(Unicode.Scalar), host, identity
            /// Any letters of one level, or of several.
            case level, levels
        }
        func symbols(_ template: TopicTemplate) -> [Symbol] {
            template.pieces.flatMap { piece -> [Symbol] in
                switch piece {
                case .text(let words): words.unicodeScalars.map(Symbol.letter)
                case .host: [.host]
                case .identity: [.identity]
                case .kindLevels: [.levels]
                case .placeholder: [.level]
                }
            }
        }
        let theirs = symbols(other)
        // The places in the other template that the symbols so far may have reached.
        var places: Set<Int> = [0]
        for symbol in symbols(self) {
            guard symbol == .level || symbol == .levels else {
                places = Set(places.filter { $0 < theirs.count && theirs[$0] == symbol }.map { $0 + 1 })
                continue
            }
            for place in theirs.indices
            where places.contains(place) && (symbol == .levels || theirs[place] != .letter("/")) {
                places.insert(place + 1)
            }
        }
        return places.contains(theirs.count)
    }

    private func topic(
        of machine: MachineNames, kind: EventKind? = nil, value: (CommandPlaceholder) -> String?
    ) -> String {
        pieces.reduce(into: "") { topic, piece in
            switch piece {
            case .text(let words): topic += words
            case .host: topic += MQTTTopic.level(machine.host)
            case .identity: topic += MQTTTopic.level(machine.identity)
            case .kindLevels:
                let words = kind?.rawValue.split(separator: ".") ?? []
                topic += words.isEmpty ? MQTTTopic.level("") : words.joined(separator: "/")
            case .placeholder(let placeholder): topic += MQTTTopic.level(value(placeholder) ?? "")
            }
        }
    }
}

extension TopicTemplate {
    private static let host = "host"
    private static let identity = "identity"
    private static let kindLevels = "kind_levels"
    /// The event values; `{identity}` is the machine's in a topic, because a topic has to stay when a store is replaced.
    private static let values = CommandPlaceholder.all.filter { $0 != .identity }
    /// A size that all known brokers accept.
    private static let longest = 1024
    private static let mostLevels = 64

    /// Parses a topic with the event values of `placeholders`, by default all; `nil` when it is invalid, which is then reported,
    /// or empty.
    ///
    /// With `isTopic` false the text is not a topic but has the same syntax.
    init?(
        _ key: String, of table: TableReader, usual: String?,
        among placeholders: [CommandPlaceholder]? = nil, mayBeEmpty: Bool = false,
        isTopic: Bool = true
    ) {
        let node = table.entry(key)?.node
        guard let text = node.map({ table.string(key, $0, mayBeEmpty: mayBeEmpty) }) ?? usual, !text.isEmpty else {
            return nil
        }
        let template = table.parsed(key, at: node?.position ?? table.position) { () throws(TextSyntaxError) in
            try TopicTemplate(parsing: text, among: placeholders, isTopic: isTopic)
        }
        guard let template else { return nil }
        self = template
    }

    private init(
        parsing text: String, among placeholders: [CommandPlaceholder]?, isTopic: Bool
    ) throws(TextSyntaxError) {
        let own = [Self.host, Self.identity] + (placeholders == nil ? [Self.kindLevels] : [])
        let values = placeholders ?? Self.values
        pieces = try PlaceholderText.pieces(of: text, names: own + values.map(\.name), text: Piece.text) { name in
            switch name {
            case Self.host: .host
            case Self.identity: .identity
            case Self.kindLevels where placeholders == nil: .kindLevels
            default: values.first { $0.name == name }.map(Piece.placeholder)
            }
        }
        guard isTopic else { return }
        for case .text(let words) in pieces {
            guard let problem = MQTTTopic.problem(with: words) else { continue }
            throw TextSyntaxError("the topic \(problem)", hint: "events go to topics without it")
        }
        if case .text(let words)? = pieces.first, words.hasPrefix("$") {
            throw TextSyntaxError("the topic begins with `$`", hint: "such topics are the broker's own")
        }
        guard text.utf8.count <= Self.longest, text.utf8.count(where: { $0 == UInt8(ascii: "/") }) < Self.mostLevels
        else {
            throw TextSyntaxError(
                "the topic is too long", hint: "at most \(Self.longest) bytes and \(Self.mostLevels) levels")
        }
    }
}

/// MQTT topics: levels separated by slashes.
package enum MQTTTopic {
    /// The longest value in a topic, in Unicode scalars.
    private static let longestLevel = 128

    /// A text as one level: wildcards, slashes and forbidden characters become `_`; an empty text becomes `-`.
    package static func level(_ text: String) -> String {
        guard !text.isEmpty else { return "-" }
        var level = ""
        for scalar in text.unicodeScalars.prefix(longestLevel) {
            level.unicodeScalars.append(isSafe(scalar) ? scalar : "_")
        }
        return level
    }

    /// Why a text cannot be part of a topic; `nil` if it can.
    static func problem(with text: String) -> String? {
        for scalar in text.unicodeScalars where scalar != "/" && !isSafe(scalar) {
            return scalar == "+" || scalar == "#"
                ? "holds `\(scalar)`, which is for subscribers" : "holds a character that no topic can have"
        }
        return nil
    }

    /// Whether brokers accept a character in a level: they reject control characters and Unicode noncharacters.
    private static func isSafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0...0x1F, 0x7F...0x9F, 0xFDD0...0xFDEF: false
        case UInt32(UInt8(ascii: "+")), UInt32(UInt8(ascii: "#")), UInt32(UInt8(ascii: "/")): false
        default: scalar.value & 0xFFFE != 0xFFFE
        }
    }
}

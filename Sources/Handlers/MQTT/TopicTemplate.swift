package import Binnacle

/// A topic of MQTT, with places for the machine's name and for what an event says.
///
/// What a placeholder becomes is a part of one level, whatever it holds.
package struct TopicTemplate: Sendable, Equatable {
    /// A part of a topic.
    package enum Piece: Sendable, Equatable {
        /// A text as it stands.
        case text(String)
        /// The machine's name.
        case host
        /// A place for what an event says.
        case placeholder(CommandPlaceholder)
    }

    /// What it is put together from.
    package let pieces: [Piece]

    /// Creates a template.
    package init(_ pieces: [Piece]) {
        self.pieces = pieces
    }

    /// The topic for an event.
    ///
    /// - Parameters:
    ///   - event: The event; what it has nothing for becomes `-`.
    ///   - host: The machine's name.
    /// - Returns: The topic, whose levels are as many as the template's.
    package func topic(for event: Event, host: String) -> String {
        topic(host: host) { $0.text(in: event) }
    }

    /// The topic for a sensor.
    package func topic(forSensor sensor: String, host: String) -> String {
        topic(host: host) { $0 == .sensor ? sensor : nil }
    }

    /// The topic of the machine.
    package func topic(host: String) -> String {
        topic(host: host) { _ in nil }
    }

    private func topic(host: String, value: (CommandPlaceholder) -> String?) -> String {
        pieces.reduce(into: "") { topic, piece in
            switch piece {
            case .text(let words): topic += words
            case .host: topic += MQTTTopic.level(host)
            case .placeholder(let placeholder): topic += MQTTTopic.level(value(placeholder) ?? "")
            }
        }
    }
}

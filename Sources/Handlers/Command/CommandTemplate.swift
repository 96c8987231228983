package import Binnacle
import PlainText

/// A program and its arguments, with places for what an event says.
///
/// It is never given to a shell: what a placeholder becomes is one argument, or a part of one, whatever it holds.
package struct CommandTemplate: Sendable, Equatable {
    /// The program's absolute path.
    package let program: String
    /// The arguments after the program's own name.
    package let arguments: [Argument]

    /// Creates a template.
    package init(program: String, arguments: [Argument]) {
        self.program = program
        self.arguments = arguments
    }

    /// The arguments for an event; a placeholder that the event has nothing for becomes nothing.
    package func arguments(for event: Event) -> [String] {
        arguments.map { argument in
            argument.pieces.reduce(into: "") { text, piece in
                switch piece {
                case .text(let words): text += words
                case .placeholder(let placeholder): text += placeholder.text(in: event) ?? ""
                }
            }
        }
    }

    /// One argument.
    package struct Argument: Sendable, Equatable {
        /// What it is put together from.
        package let pieces: [Piece]

        /// Creates an argument.
        package init(_ pieces: [Piece]) {
            self.pieces = pieces
        }
    }

    /// A part of an argument.
    package enum Piece: Sendable, Equatable {
        /// A text as it stands.
        case text(String)
        /// A place for what an event says.
        case placeholder(CommandPlaceholder)
    }
}

/// What a command's argument may take from an event: `{peak_g}` stands for the event's `peak_g`.
///
/// The names are the keys of the event's JSON.
package enum CommandPlaceholder: Sendable, Hashable {
    /// The event's kind.
    case kind
    /// The detector's name.
    case detector
    /// The sensor's name.
    case sensor
    /// The event's sequence number.
    case sequence
    /// The sample's time in nanoseconds.
    case time
    /// The wall clock's time of the sample.
    case wallTime
    /// Whether the event is simulated.
    case simulated
    /// A measured figure.
    case figure(Figure.Name)

    /// Every placeholder there is.
    package static let all: [CommandPlaceholder] =
        [.kind, .detector, .sensor, .sequence, .time, .wallTime, .simulated]
        + Figure.Name.allCases.filter { !Figure.Name.ofReports.contains($0) }.map(CommandPlaceholder.figure)

    /// Finds the placeholder of a name.
    package init?(name: String) {
        guard let placeholder = Self.all.first(where: { $0.name == name }) else { return nil }
        self = placeholder
    }

    /// The name between the braces.
    package var name: String {
        switch self {
        case .kind: "kind"
        case .detector: "detector"
        case .sensor: "sensor"
        case .sequence: "seq"
        case .time: "time_ns"
        case .wallTime: "wall_time"
        case .simulated: "simulated"
        case .figure(let name): name.rawValue
        }
    }

    /// What it stands for in an event; `nil` when the event has nothing of the kind.
    package func text(in event: Event) -> String? {
        switch self {
        case .kind: event.kind.rawValue
        case .detector: event.detector
        case .sensor: event.sensor
        case .sequence: String(event.sequence)
        case .time: String(event.timeNanoseconds)
        case .wallTime: event.wallNanoseconds.map(WallTime.text)
        case .simulated: event.isSimulated ? "true" : "false"
        case .figure(let name): event.figure(name)?.description
        }
    }
}

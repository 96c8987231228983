package import Binnacle
import PlainText
package import TableReading

/// A program and its arguments, with placeholders for event values.
///
/// There is no shell: a placeholder becomes an argument or a part of one, whatever its value contains.
package struct CommandTemplate: Sendable, Equatable {
    /// The program's absolute path.
    package let program: String
    /// The arguments after the program's own name.
    package let arguments: [Argument]

    package init(program: String, arguments: [Argument]) {
        self.program = program
        self.arguments = arguments
    }

    /// The arguments for an event; a value that the event lacks becomes empty.
    package func arguments(for event: Event) -> [String] {
        arguments.map { $0.text(for: event) }
    }

    /// A text with placeholders, such as an argument.
    package struct Argument: Sendable, Equatable {
        package let pieces: [Piece]

        package init(_ pieces: [Piece]) {
            self.pieces = pieces
        }

        /// The text for an event; a value that the event lacks becomes empty.
        package func text(for event: Event) -> String {
            pieces.reduce(into: "") { text, piece in
                switch piece {
                case .text(let words): text += words
                case .placeholder(let placeholder): text += placeholder.text(in: event) ?? ""
                }
            }
        }
    }

    package enum Piece: Sendable, Equatable {
        case text(String)
        case placeholder(CommandPlaceholder)
    }
}

/// An event value in a command's argument or an MQTT topic; its name is the key in the event's JSON, such as `peak_g`.
package enum CommandPlaceholder: Sendable, Hashable {
    case kind, detector, sensor, sequence
    /// The sample's time in nanoseconds.
    case time
    /// The sample's wall clock time; the second in local time, for display.
    case wallTime, localTime
    case simulated
    /// The identity of the sequence to which the sequence number belongs.
    case identity
    case figure(Figure.Name)

    package static let all: [CommandPlaceholder] =
        [.kind, .detector, .sensor, .sequence, .time, .wallTime, .localTime, .simulated, .identity]
        + Figure.Name.allCases.filter { !Figure.Name.ofReports.contains($0) }.map(CommandPlaceholder.figure)

    package init?(name: String) {
        guard let placeholder = Self.all.first(where: { $0.name == name }) else { return nil }
        self = placeholder
    }

    package var name: String {
        switch self {
        case .kind: "kind"
        case .detector: "detector"
        case .sensor: "sensor"
        case .sequence: "seq"
        case .time: "time_ns"
        case .wallTime: "wall_time"
        case .localTime: "local_time"
        case .simulated: "simulated"
        case .identity: "identity"
        case .figure(let name): name.rawValue
        }
    }

    /// The value in an event; `nil` when the event lacks it.
    package func text(in event: Event) -> String? {
        switch self {
        case .kind: event.kind.rawValue
        case .detector: event.detector
        case .sensor: event.sensor
        case .sequence: String(event.sequence)
        case .time: String(event.timeNanoseconds)
        case .wallTime: event.wallNanoseconds.map(WallTime.text)
        // Milliseconds are omitted for display.
        case .localTime: event.wallNanoseconds.map { String(LocalTime.text($0).prefix(19)) }
        case .simulated: event.isSimulated ? "true" : "false"
        case .identity: event.identity
        case .figure(let name): event.figure(name)?.description
        }
    }
}

extension CommandTemplate {
    private static let key = "command"

    init?(reading node: TOMLNode, of table: TableReader) {
        guard let nodes = table.strings(Self.key, node, hint: "its first element is the program's path"),
            let first = nodes.first
        else { return nil }
        let program = Self.program(first, of: table)
        let arguments = nodes.dropFirst().compactMap { table.argument(Self.key, $0) }
        guard let program, arguments.count == nodes.count - 1 else { return nil }
        self.init(program: program, arguments: arguments)
    }

    private static func program(_ node: TOMLNode, of table: TableReader) -> String? {
        guard let text = table.string(key, node) else { return nil }
        guard text.contains("/") else {
            // A service has no PATH for the search.
            table.refuse(
                key, at: node.position, "the program \(Spelling.quoted(text)) has no folder, and none is searched",
                hint: "such as /usr/local/bin/alarm, or ./alarm beside this file")
            return nil
        }
        guard let argument = table.argument(key, node) else { return nil }
        switch argument.pieces.first {
        case .text(let program) where argument.pieces.count == 1:
            let path = program.hasPrefix("/") ? program : table.diagnostics.folder(of: node.position) + program
            table.warnIfNoProgram(path, node)
            return path
        default:
            table.refuse(
                key, at: node.position, "the program cannot be chosen by an event",
                hint: "placeholders are for the arguments")
            return nil
        }
    }
}

extension TableReader {
    /// A text with placeholders for event values.
    package func argument(
        _ key: String, _ node: TOMLNode, mayBeEmpty: Bool = true
    ) -> CommandTemplate.Argument? {
        guard let text = string(key, node, mayBeEmpty: mayBeEmpty) else { return nil }
        return parsed(key, at: node.position) { () throws(TextSyntaxError) in
            try CommandTemplate.Argument(parsing: text)
        }
    }
}

extension CommandTemplate.Argument {
    /// Parses an argument: `{name}` is a placeholder, `{{` and `}}` are single braces.
    package init(parsing text: String) throws(TextSyntaxError) {
        let names = CommandPlaceholder.all.map(\.name)
        self.init(
            try PlaceholderText.pieces(of: text, names: names, text: CommandTemplate.Piece.text) { name in
                CommandPlaceholder(name: name).map(CommandTemplate.Piece.placeholder)
            })
    }
}

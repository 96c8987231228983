package import Binnacle

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

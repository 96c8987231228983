import Binnacle

/// A program to be run for an event.
struct CommandJob: Sendable, Equatable {
    /// The program's absolute path.
    let program: String
    /// The arguments after the program's own name.
    let arguments: [String]
    /// What it is run for.
    let event: Event
    /// What the store that keeps the event knows it by; `nil` when none keeps it.
    let ticket: Int64?
    /// The how manieth attempt it is, from 1.
    var attempt = 1

    /// Creates the first attempt.
    init(program: String, arguments: [String], event: Event, ticket: Int64? = nil) {
        self.program = program
        self.arguments = arguments
        self.event = event
        self.ticket = ticket
    }
}

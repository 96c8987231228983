import Binnacle

/// A program to be run for an event.
struct CommandJob: Sendable, Equatable {
    /// The program's absolute path.
    let program: String
    /// The arguments after the program's own name.
    let arguments: [String]
    /// What it is run for.
    let event: Event
    /// The how manieth attempt it is, from 1.
    var attempt = 1

    /// Creates the first attempt.
    init(program: String, arguments: [String], event: Event) {
        self.program = program
        self.arguments = arguments
        self.event = event
    }
}

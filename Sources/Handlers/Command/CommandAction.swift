import Binnacle
package import TableReading

/// `command = [...]`: runs a program.
package struct CommandAction: HandlerAction, Equatable {
    /// The program and its arguments.
    package let template: CommandTemplate
    /// How it is run.
    package let settings: CommandSettings

    /// Creates an action.
    package init(_ template: CommandTemplate, settings: CommandSettings = CommandSettings()) {
        self.template = template
        self.settings = settings
    }

    /// The key that chooses it.
    package static let key = "command"
    /// How the key is written.
    package static let example = "command = [\"/path/to/program\"]"
    /// The further keys that belong to it.
    package static let furtherKeys = CommandSettings.keys
    /// A program may do anything.
    package static let actsOnTheWorld = true

    /// Reads what a section says of it; `nil` when that cannot be used, which is then reported.
    package init?(reading table: TableReader, at entry: TOMLEntry) {
        let template = CommandTemplate(reading: entry.node, of: table)
        let settings = CommandSettings(reading: table)
        guard let template else { return nil }
        self.init(template, settings: settings)
    }

    /// Runs the program for each event.
    package func work(for name: String) -> HandlerWork {
        let template = template
        return .threaded(
            CommandSupervisor.plan(
                program: template.program, arguments: { template.arguments(for: $0) }, settings: settings))
    }
}

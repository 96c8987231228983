package import Binnacle
package import LinuxSystem
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

    /// Makes the handler of a replay, which waits for each program.
    package func makeHandler(_ context: HandlerContext) -> (any EventHandler)? {
        SequentialCommandHandler(
            name: context.name, program: template.program, arguments: { [template] in template.arguments(for: $0) },
            settings: settings, log: context.log, willRun: context.willRun, isCancelled: context.isCancelled)
    }

    /// Makes the handler of a live run, whose programs are looked after by a supervisor.
    package func makeThreadedHandler(
        name: String, report: @escaping @Sendable (Event) -> Void,
        acknowledge: @escaping @Sendable (_ ticket: Int64) -> Void
    ) throws(SystemError) -> (any ThreadedHandler)? {
        CommandHandler(
            name: name, program: template.program, arguments: { [template] in template.arguments(for: $0) },
            settings: settings, report: report, acknowledge: acknowledge)
    }
}

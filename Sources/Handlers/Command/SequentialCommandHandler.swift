package import Binnacle
package import LinuxSystem
import Synchronization

/// Runs a program for each event, one after the other, and waits for each: the way of a replay.
///
/// A replay has no clock to miss, and its events come in an order that the programs are to keep. What goes wrong, and
/// what programs write, is said in lines for people.
package final class SequentialCommandHandler: EventHandler {
    private final class Reports: Sendable {
        let events = Mutex<[Event]>([])
    }

    private let prefix: String
    private let handler: CommandHandler
    private let reports: Reports
    private let log: LineWriter
    private let willRun: () -> Void
    private let isCancelled: () -> Bool

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - name: What messages call it.
    ///   - program: An absolute path.
    ///   - arguments: The arguments after the program's own name, for an event.
    ///   - settings: The limits.
    ///   - log: Where it is said that a program could not be run, failed, or took too long, and what it wrote.
    ///   - willRun: Called before each run, so that what was written about the event can be seen by then.
    ///   - isCancelled: Asked while a program runs; `true` kills it, and runs no other.
    package init(
        name: String, program: String, arguments: @escaping @Sendable (Event) -> [String],
        settings: CommandSettings = CommandSettings(), log: LineWriter, willRun: @escaping () -> Void = {},
        isCancelled: @escaping () -> Bool = { false }
    ) {
        let reports = Reports()
        self.reports = reports
        handler = CommandHandler(name: name, program: program, arguments: arguments, settings: settings) { report in
            reports.events.withLock { $0.append(report) }
        }
        self.log = log
        self.willRun = willRun
        self.isCancelled = isCancelled
        prefix = "\(name): \(program): "
    }

    /// Runs the program and waits for its end, and for that of each further attempt.
    package func handle(_ event: Event) {
        guard !isCancelled() else { return }
        willRun()
        handler.handle(event)
        handler.waitUntilIdle(because: "the replay was cancelled", isCancelled: isCancelled)
        let told = reports.events.withLock { reports in
            defer { reports = [] }
            return reports
        }
        for report in told {
            if let line = Self.line(report) { log.write(prefix + line) }
        }
    }

    /// What a report says to a person; `nil` when there is nothing to say.
    private static func line(_ report: Event) -> String? {
        var parts: [String] = []
        if let reason = report.figure(.reason) {
            parts.append(report.kind == .eventsDropped ? "not run, because \(reason)" : "\(reason)")
        }
        if let delay = report.figure(.retry) { parts.append("tried again in \(delay) s") }
        if let output = report.figure(.output) { parts.append("output: \(output)") }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}

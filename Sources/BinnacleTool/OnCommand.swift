import Binnacle
import CommandRows
import EventSocket
import Glibc
import Handlers
import LinuxSystem
import PlainText
import PosixCalls
import Station
import TableReading

/// `binnacle on`: runs a command for each event, under the caller's account.
enum OnCommand {
    /// The exit status of a shell for a program that cannot be run.
    private static let notRunStatus: Int32 = 127

    static func run(_ arguments: Arguments, _ console: Console) throws(StationError) -> Int32 {
        guard !arguments.leading.isEmpty else {
            throw .usage("on needs a kind of event, such as motion.began, or any; see 'binnacle on --help'")
        }
        var request = SubscriptionRequest()
        request.filter.kinds = try KindWords.kinds(
            arguments.leading, of: "on",
            otherwise: arguments.trailing == nil ? "a command stands behind --: binnacle on KIND -- COMMAND" : nil)
        if arguments.has(.sensor) { request.filter.sensors = Set(arguments.all(.sensor)) }
        if let text = arguments.value(.after) {
            guard let after = UInt64(text) else {
                throw .usage("--after \(text): has to be the number of an event")
            }
            request.after = after
        }
        let template = try arguments.trailing.map(Self.template)
        let endsAfterFirst = arguments.has(.once)
        let writesJSON = arguments.has(.json)
        guard template == nil || !writesJSON else {
            throw .usage("--json does not go with a command, which gets JSON anyway")
        }
        if template != nil { try arguments.refuse([.utc], "is for what is printed, and a command gets both times") }
        console.errors.sayOwnDaemon(arguments.socketPath, isNamed: arguments.has(.socket))
        let session = try EventSubscriber(
            request, path: arguments.socketPath, patience: endsAfterFirst ? .afterFirstAnswer : .always, console)
        let printer = EventPrinter(console.output, writesJSON: writesJSON, isUTC: arguments.has(.utc))
        let interruption = console.signals.interruption
        while let message = try session.next() {
            guard case .event(let event, let json) = message else { continue }
            var status = ExitStatus.ok.rawValue
            if let template {
                guard let end = run(template, event, json, session.program, console.errors) else { return status }
                status = end
            } else if !printer.print(event, json, flushes: true) {
                return status
            }
            if endsAfterFirst { return status }
            if interruption.isRequested { return interruption.exitStatus.rawValue }
        }
        return session.status.rawValue
    }

    /// Returns the status of the command; `nil` where it ended because nothing reads its output any more, which ends this one as well.
    private static func run(
        _ template: CommandTemplate, _ event: Event, _ json: String, _ program: SessionCommand, _ errors: LineWriter
    ) -> Int32? {
        var status = Self.notRunStatus
        var problem: String?
        do throws(SystemError) {
            let end = try program.run([template.program] + template.arguments(for: event), for: event, json: json)
            status = end.shellStatus
            problem = end.failure
        } catch {
            problem = "cannot be run: \(error.reason)"
        }
        if status == 128 + SIGPIPE, isHungUp(STDOUT_FILENO) { return nil }
        if let problem { errors.report("\(template.program.printable): \(problem)") }
        return status
    }

    private static func template(_ words: [String]) throws(StationError) -> CommandTemplate {
        guard let program = words.first, !program.isEmpty else {
            throw .usage("on has no command behind --; see 'binnacle on --help'")
        }
        guard SessionCommand.exists(program) else {
            throw .noInput("\(program): there is no such program that you may run")
        }
        let arguments = try words.dropFirst().map { word throws(StationError) in
            try mapError({ StationError(.usage, "\(word): \($0)") }) { () throws(TextSyntaxError) in
                try CommandTemplate.Argument(parsing: word)
            }
        }
        return CommandTemplate(program: program, arguments: arguments)
    }
}

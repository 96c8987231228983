import CommandRows
import EventSocket
import Glibc
import Handlers
import Kernels
import LinuxSystem
import PlainText
import Station

/// What a command writes to, and the signals that end it.
struct Console {
    let output = LineWriter(descriptor: STDOUT_FILENO)
    let errors = LineWriter(descriptor: STDERR_FILENO)
    let signals = SignalListener()
}

/// Runs the subcommand, and reports an error as a message and an exit status.
@main
enum Tool {
    static func main() {
        StandardDescriptors.reserve()
        // Writing to a closed pipe fails with EPIPE instead of killing the process.
        signal(SIGPIPE, SIG_IGN)
        // A file that may not grow further is an error of write(2).
        signal(SIGXFSZ, SIG_IGN)
        let console = Console()
        let (output, errors) = (console.output, console.errors)
        var status = ExitStatus.ok.rawValue
        do throws(StationError) {
            status = try run(CommandLine.arguments.dropFirst(), console)
        } catch {
            let words = Array(CommandLine.arguments.dropFirst())
            let command = CommandRow.all.first { $0.name.rawValue == words.first }
            // The level prefix of sd-daemon(3): `journalctl -p err` shows why the service did not start.
            let level = JournalSocket.isStandardError ? "<\(LogLevel.error.rawValue)>" : ""
            for line in error.description.split(separator: "\n") { errors.write("\(level)binnacle: \(line.printable)") }
            if let line = RetryLine.text(error, command, Array(words.dropFirst())) { errors.write(line) }
            status = error.status.rawValue
        }
        output.flush()
        if let failure = output.failure, !failure.isReaderGone {
            errors.write("binnacle: standard output: \(failure.reason)")
            if status == ExitStatus.ok.rawValue { status = ExitStatus.inputOutput.rawValue }
        }
        errors.flush()
        exit(status)
    }

    /// Refuses an argument that is not UTF-8: no file of its name would be found.
    private static func requireText() throws(StationError) {
        for argument in UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)) {
            guard let argument, String(validatingCString: argument) == nil else { continue }
            throw .usage("\(String(cString: argument)): is not UTF-8: rename the file, as with mv x?.csv y.csv")
        }
    }

    private static func run(_ arguments: ArraySlice<String>, _ console: Console) throws(StationError) -> Int32 {
        if let complaint = InstructionSet.complaint { throw .usage(complaint) }
        try requireText()
        guard let first = arguments.first, !first.hasPrefix("-") else {
            return try runWithoutCommand(arguments, console.output).rawValue
        }
        guard first != "help" else { return try help(arguments.dropFirst(), console.output).rawValue }
        let command = try command(first)
        let parsed = try Arguments(arguments.dropFirst(), allowed: command.options, command: command)
        if parsed.has(.help) {
            console.output.write(text: HelpText.text(command))
            return ExitStatus.ok.rawValue
        }
        if command.operands.isEmpty, let operand = parsed.operands.first {
            let name = command.name.rawValue
            throw .usage("\(name) takes no '\(operand)'; see 'binnacle \(name) --help'")
        }
        switch command.name {
        case .run: return try RunCommand.run(parsed, console).rawValue
        case .replay: return try ReplayCommand(parsed).run(console).rawValue
        case .sweep: return try SweepCommand.run(parsed, console).rawValue
        case .score: return try ScoreCommand.run(parsed, console).rawValue
        case .plot: return try PlotCommand.run(parsed, console).rawValue
        case .record: return try RecordCommand.run(parsed, console).rawValue
        case .convert: return try ConvertCommand.run(parsed, console).rawValue
        case .devices: return try DevicesCommand.run(parsed, console).rawValue
        case .doctor: return try DoctorCommand(parsed).run(console).rawValue
        case .check: return try CheckCommand.run(parsed, console).rawValue
        case .status: return try StatusCommand.run(parsed, console).rawValue
        case .reset: return try ChangeCommand.run(.reset, parsed, console).rawValue
        case .arm: return try ChangeCommand.run(.arm, parsed, console).rawValue
        case .disarm: return try ChangeCommand.run(.disarm, parsed, console).rawValue
        case .metrics: return try MetricsCommand.run(parsed, console).rawValue
        case .events: return try EventsCommand(parsed).run(console).rawValue
        case .samples: return try SamplesCommand.run(parsed, console).rawValue
        case .watch: return try WatchCommand(parsed).run(console).rawValue
        case .web: return try WebCommand(parsed).run(console).rawValue
        case .serve:
            var command = try ServeCommand(parsed)
            return try command.run(console).rawValue
        case .monitor: return try MonitorCommand.run(parsed, console).rawValue
        case .calibrate: return try CalibrateCommand(parsed).run(console).rawValue
        case .declination: return try DeclinationCommand(parsed).run(console).rawValue
        case .simulate: return try SimulateCommand.run(parsed, console).rawValue
        case .bench: return try BenchCommand.run(parsed, console).rawValue
        // The status may be that of the command that ran.
        case .on: return try OnCommand.run(parsed, console)
        }
    }

    private static func command(_ name: String) throws(StationError) -> CommandRow {
        if let command = CommandRow.all.first(where: { $0.name.rawValue == name }) { return command }
        let names = CommandRow.all.map(\.name.rawValue)
        throw .usage("unknown command '\(name)' (\(Spelling.hint(for: name, among: names))); see 'binnacle --help'")
    }

    private static func help(_ topics: ArraySlice<String>, _ output: LineWriter) throws(StationError) -> ExitStatus {
        guard topics.count <= 1 else {
            throw .usage("help takes one command, as in 'binnacle help replay'")
        }
        let text = try topics.first.map { name throws(StationError) in HelpText.text(try command(name)) }
        output.write(text: text ?? HelpText.overview)
        return .ok
    }

    private static func runWithoutCommand(
        _ arguments: ArraySlice<String>, _ output: LineWriter
    ) throws(StationError) -> ExitStatus {
        let parsed = try Arguments(arguments, allowed: [.help, .version], command: nil)
        if parsed.has(.version) {
            output.write("binnacle \(Version.current)")
        } else if parsed.has(.help) {
            output.write(text: HelpText.overview)
        } else {
            throw .usage("no command given; see 'binnacle --help'")
        }
        return .ok
    }
}

extension LineWriter {
    /// Writes messages and flushes.
    func report(_ messages: [some CustomStringConvertible]) {
        for message in messages { write("binnacle: \(message.description)") }
        flush()
    }

    /// Writes a message and flushes.
    func report(_ message: String) { report([message]) }

    func write(text: String) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if lines.last == "" { lines.removeLast() }
        for line in lines { write(String(line)) }
    }
}

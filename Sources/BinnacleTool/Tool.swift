import CommandRows
import EventSocket
import Glibc
import Kernels
import LinuxSystem
import PlainText
import Station

/// Runs the subcommand, and reports an error as a message and an exit status.
@main
enum Tool {
    static func main() {
        StandardDescriptors.reserve()
        // Writing to a closed pipe fails with EPIPE instead of killing the process.
        signal(SIGPIPE, SIG_IGN)
        let output = LineWriter(descriptor: STDOUT_FILENO)
        let errors = LineWriter(descriptor: STDERR_FILENO)
        var status = ExitStatus.ok.rawValue
        do throws(StationError) {
            status = try run(CommandLine.arguments.dropFirst(), output, errors, SignalListener())
        } catch {
            let words = Array(CommandLine.arguments.dropFirst())
            let command = CommandRow.all.first { $0.name.rawValue == words.first }
            for line in error.description.split(separator: "\n") { errors.write("binnacle: \(line.printable)") }
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

    private static func run(
        _ arguments: ArraySlice<String>, _ output: LineWriter, _ errors: LineWriter, _ signals: SignalListener
    ) throws(StationError) -> Int32 {
        if let complaint = InstructionSet.complaint { throw StationError(.usage, complaint) }
        guard let first = arguments.first, !first.hasPrefix("-") else {
            return try runWithoutCommand(arguments, output).rawValue
        }
        guard first != "help" else { return try help(arguments.dropFirst(), output).rawValue }
        let command = try command(first)
        let parsed = try Arguments(arguments.dropFirst(), allowed: command.options, command: command)
        if parsed.has(.help) {
            output.write(text: HelpText.text(command))
            return ExitStatus.ok.rawValue
        }
        switch command.name {
        case .run: return try RunCommand(parsed).run(signals).rawValue
        case .replay: return try ReplayCommand(parsed).run(output, errors, signals).rawValue
        case .sweep: return try SweepCommand(parsed).run(output, errors, signals).rawValue
        case .score: return try ScoreCommand(parsed).run(output, errors).rawValue
        case .plot: return try PlotCommand(parsed).run(output, errors, signals).rawValue
        case .record: return try RecordCommand(parsed).run(errors, signals).rawValue
        case .convert: return try ConvertCommand(parsed).run(errors, signals).rawValue
        case .devices: return try DevicesCommand(parsed).run(output).rawValue
        case .doctor: return try DoctorCommand(parsed).run(output, errors, signals).rawValue
        case .check: return try CheckCommand(parsed).run(output, errors).rawValue
        case .status: return try StatusCommand(parsed).run(output).rawValue
        case .reset: return try ChangeCommand(.reset, parsed).run(output).rawValue
        case .arm: return try ChangeCommand(.arm, parsed).run(output).rawValue
        case .disarm: return try ChangeCommand(.disarm, parsed).run(output).rawValue
        case .metrics: return try MetricsCommand(parsed).run(output, errors).rawValue
        case .events: return try EventsCommand(parsed).run(output, errors, signals).rawValue
        case .samples: return try SamplesCommand(parsed).run(output, errors, signals).rawValue
        case .watch: return try WatchCommand(parsed).run(output, errors, signals).rawValue
        case .web: return try WebCommand(parsed).run(errors, signals).rawValue
        case .serve:
            var command = try ServeCommand(parsed)
            return try command.run(errors, signals).rawValue
        case .monitor: return try MonitorCommand(parsed).run(output, signals).rawValue
        case .calibrate: return try CalibrateCommand(parsed).run(output, errors, signals).rawValue
        case .declination: return try DeclinationCommand(parsed).run(output, errors).rawValue
        case .simulate: return try SimulateCommand(parsed).run(output, errors, signals).rawValue
        case .bench: return try BenchCommand(parsed).run(output, signals).rawValue
        // The status may be that of the command that ran.
        case .on: return try OnCommand(parsed).run(output, errors, signals)
        }
    }

    private static func command(_ name: String) throws(StationError) -> CommandRow {
        if let command = CommandRow.all.first(where: { $0.name.rawValue == name }) { return command }
        let names = CommandRow.all.map(\.name.rawValue)
        throw StationError(
            .usage, "unknown command '\(name)' (\(Spelling.hint(for: name, among: names))); see 'binnacle --help'")
    }

    private static func help(_ topics: ArraySlice<String>, _ output: LineWriter) throws(StationError) -> ExitStatus {
        guard topics.count <= 1 else {
            throw StationError(.usage, "help takes one command, as in 'binnacle help replay'")
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
            throw StationError(.usage, "no command given; see 'binnacle --help'")
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

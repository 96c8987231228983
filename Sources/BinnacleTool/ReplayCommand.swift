import Binnacle
import CommandRows
import Glibc
import Handlers
import LinuxSystem
import PlainText
import Station

/// `binnacle replay`: plays traces.
struct ReplayCommand {
    private let options: ReplayOptions

    init(_ arguments: Arguments) throws(StationError) {
        var options = try ReplayOptions(arguments, of: .replay)
        options.runsHandlers = arguments.has(.handlers)
        options.writesJSON = arguments.has(.json)
        options.columns = Terminal.columns(of: STDOUT_FILENO)
        self.options = options
    }

    func run(
        _ output: LineWriter, _ errors: LineWriter, _ signals: SignalListener
    ) throws(StationError) -> ExitStatus {
        let replay = try Replay(
            options, output: output, errors: errors, interruption: signals.interruption)
        for notice in replay.notices { errors.write("binnacle: \(notice)") }
        errors.flush()
        signals.listen(waking: replay.wakeDescriptor)
        // Events on the same terminal would damage a progress bar.
        let (summary, failures) = replay.run(.onTerminal("replay", isWanted: isatty(STDOUT_FILENO) == 0))
        for notice in summary.notices { errors.write("binnacle: \(notice)") }
        for failure in failures { errors.write("binnacle: \(failure.description)") }
        let report = options.writesJSON ? errors : output
        for line in summary.lines { report.write(line) }
        if summary.isCancelled { return signals.interruption.exitStatus }
        return failures.first?.status ?? .ok
    }
}

extension ReplayOptions {
    /// Reads what `replay` and `plot` have in common.
    init(_ arguments: Arguments, of command: CommandRow.Name) throws(StationError) {
        self.init()
        traces = try arguments.traces(arguments.operands)
        configurationPath = arguments.value(.config)
        guard !traces.isEmpty || configurationPath != nil
        else {
            throw StationError(
                .usage, "\(command.rawValue) needs a trace; see 'binnacle \(command.rawValue) --help'")
        }
        settings = try arguments.settings()
        from = try Self.bound(arguments, .from)
        to = try Self.bound(arguments, .to)
        if case .afterFirst(let start)? = from?.time, case .afterFirst(let end)? = to?.time, start >= end {
            throw StationError(.usage, "\(to?.text ?? ""): has to be after \(from?.text ?? "")")
        }
        if let text = arguments.value(.speed) { speed = try Self.speed(text) }
        if let text = arguments.value(.batch) {
            guard let count = Int(text), (1...65_536).contains(count) else {
                throw StationError(.usage, "--batch \(text): has to be a whole number from 1 to 65536")
            }
            batch = count
        }
        traces.decodesScans = arguments.has(.decodeScans)
    }

    private static func speed(_ text: String) throws(StationError) -> ReplayOptions.Speed {
        if text == "max" { return .maximum }
        guard let factor = Arguments.factor(text) else {
            throw StationError(.usage, "--speed \(text): has to be a number above 0, or max")
        }
        return .times(factor)
    }

    private static func bound(_ arguments: Arguments, _ option: OptionRow) throws(StationError) -> ReplayBound? {
        guard let text = arguments.value(option) else { return nil }
        let shown = "--\(option.name) \(text)"
        if let distance = DurationText.parse(text) {
            guard distance > .zero || option == .from else {
                throw StationError(.usage, "\(shown): has to be after the first sample")
            }
            return ReplayBound(.afterFirst(Units.nanoseconds(distance)), text: shown)
        }
        guard let time = WallTime.nanoseconds(String(text.map { $0 == " " ? "T" : $0 })) else {
            throw StationError(
                .usage,
                "\(shown): has to be a time after the recording's first sample with its unit, as in 500ms, 10s, 1.5m, 1h, "
                    + "or a time in UTC, as in 2026-11-21T12:45")
        }
        return ReplayBound(.wallClock(time), text: shown)
    }
}

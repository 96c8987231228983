import Binnacle
import CommandRows
import Glibc
import Handlers
import LinuxSystem
import Station
import Traces

/// `binnacle replay`: plays traces.
struct ReplayCommand {
    private let options: ReplayOptions

    init(_ arguments: Arguments) throws(StationError) {
        var options = ReplayOptions()
        options.traces.paths = arguments.operands
        for text in arguments.all(.bind) { options.traces.bindings.append(try Self.binding(text)) }
        options.traces.map = try arguments.columnMap()
        options.configurationPath = arguments.value(.config)
        guard !options.traces.paths.isEmpty || !options.traces.bindings.isEmpty || options.configurationPath != nil
        else {
            throw StationError(.usage, "replay needs a trace; see 'binnacle replay --help'")
        }
        if let text = arguments.value(.speed) { options.speed = try Self.speed(text) }
        if let text = arguments.value(.batch) {
            guard let batch = Int(text), (1...65_536).contains(batch) else {
                throw StationError(.usage, "--batch \(text): has to be a whole number from 1 to 65536")
            }
            options.batch = batch
        }
        options.runsHandlers = arguments.has(.handlers)
        options.writesJSON = arguments.has(.json)
        options.traces.decodesScans = arguments.has(.decodeScans)
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
        for notice in summary.repairNotices { errors.write("binnacle: \(notice)") }
        for failure in failures { errors.write("binnacle: \(failure.description)") }
        let report = options.writesJSON ? errors : output
        for line in summary.lines { report.write(line) }
        if summary.isCancelled { return signals.interruption.exitStatus }
        return failures.first?.status ?? .ok
    }

    private static func speed(_ text: String) throws(StationError) -> ReplayOptions.Speed {
        if text == "max" { return .maximum }
        guard let factor = Double(text), factor > 0, factor.isFinite else {
            throw StationError(.usage, "--speed \(text): has to be a number above 0, or max")
        }
        return .times(factor)
    }

    private static func binding(_ text: String) throws(StationError) -> TraceSet.Binding {
        guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
            throw StationError(.usage, "--bind \(text): has to be SENSOR=FILE or SENSOR=FILE:KIND")
        }
        var path = String(text[text.index(after: equals)...])
        var kind: SampleKind?
        if let colon = path.lastIndex(of: ":"),
            let named = SampleKind(rawValue: String(path[path.index(after: colon)...]))
        {
            kind = named
            path = String(path[..<colon])
        }
        guard !path.isEmpty else { throw StationError(.usage, "--bind \(text): names no file") }
        return TraceSet.Binding(sensor: String(text[..<equals]), path: path, kind: kind)
    }
}

import Binnacle
import CommandRows
import Configuration
import Glibc
import LinuxSystem
import PlainText
import Station
import Traces

/// `binnacle replay`: plays traces.
struct ReplayCommand {
    private let options: ReplayOptions
    private let reportPath: String?
    private let replacesReport: Bool
    /// Whether standard input names recordings, which are played one by one.
    private let isBatch: Bool
    /// Whether events are written as an Arrow stream.
    private let writesTable: Bool

    init(_ arguments: Arguments) throws(StationError) {
        isBatch = arguments.has(.each)
        reportPath = arguments.value(.report)
        replacesReport = arguments.has(.force)
        if reportPath == nil { try arguments.refuse([.force], "is for --report") }
        writesTable = arguments.has(.arrow)
        if isBatch { try Self.refuseOthers(arguments) }
        if writesTable, arguments.has(.json) {
            throw .usage("--arrow and --json are two forms of the same output: leave one out")
        }
        if writesTable, isatty(STDOUT_FILENO) != 0 {
            throw .usage("an Arrow stream is binary: redirect it to a file or a pipe")
        }
        var options = try ReplayOptions(arguments, of: .replay, needsTrace: !isBatch)
        options.runsHandlers = arguments.has(.handlers)
        options.writesJSON = arguments.has(.json)
        options.columns = Terminal.columns(of: STDOUT_FILENO)
        if let reportPath { options.outputs.append((reportPath, "--report")) }
        self.options = options
    }

    func run(_ console: Console) throws(StationError) -> ExitStatus {
        if writesTable { return try writeTable(console) }
        return try playAll(options, console)
    }

    /// Plays with an Arrow stream on standard output.
    private func writeTable(_ console: Console) throws(StationError) -> ExitStatus {
        // With an invalid configuration, standard output stays empty.
        if let path = options.configurationPath {
            _ = try Configuration.load(path, settings: options.settings, device: .later)
        }
        var options = options
        let table = try mapError({ StationError($0) }) { () throws(TraceError) in
            try EventTable(RecordingFile(path: "-", replacing: true))
        }
        options.table = table
        let status = try playAll(options, console)
        table.finish()
        if let failure = table.failure, !table.isReaderGone { throw StationError(failure) }
        return status
    }

    private func playAll(_ options: ReplayOptions, _ console: Console) throws(StationError) -> ExitStatus {
        if isBatch { return try ReplayBatch(options: options).run(console) }
        guard let reportPath else { return try play(options, console).status }
        // A replay that does not begin leaves no report, so that the command that its error prints can be run.
        let report = try mapError({ StationError($0) }) { () throws(TraceError) in
            try ResultFile(path: reportPath, replacing: replacesReport)
        }
        let (status, failures, summary) = try play(options, console)
        let content = ReplayReport(options.traces.files, status, failures, summary)
        try mapError({ StationError($0) }) { () throws(TraceError) in try report.write(Array("\(content.json)\n".utf8))
        }
        return status
    }

    private static func refuseOthers(_ arguments: Arguments) throws(StationError) {
        guard arguments.operands.isEmpty, !arguments.has(.bind) else {
            throw .usage("--each reads the names of the recordings from standard input, and takes no others")
        }
        try arguments.refuse([.report, .handlers], "is not for --each")
    }

    private func play(
        _ options: ReplayOptions, _ console: Console
    ) throws(StationError) -> (status: ExitStatus, failures: [StationError], summary: ReplaySummary) {
        let replay = try Replay(
            options, output: console.output, errors: console.errors, interruption: console.signals.interruption)
        // Events on the same terminal would damage the progress bar.
        let (summary, failures) = replay.run(.onTerminal("replay", isWanted: isatty(STDOUT_FILENO) == 0), console)
        let report = options.writesJSON || options.table != nil ? console.errors : console.output
        for line in summary.lines { report.write(line) }
        let status = summary.isCancelled ? console.signals.interruption.exitStatus : failures.first?.status ?? .ok
        return (status, failures, summary)
    }
}

extension Replay {
    /// Plays to the end, and writes the messages before and after.
    func run(_ indicator: ProgressIndicator, _ console: Console) -> (summary: ReplaySummary, failures: [StationError]) {
        console.errors.report(notices)
        console.signals.listen(waking: wakeDescriptor)
        let (summary, failures) = run(indicator)
        // After the events, if both go to one output.
        for message in summary.notices + failures.map(\.description) { console.errors.write("binnacle: \(message)") }
        return (summary, failures)
    }
}

extension ReplayOptions {
    /// Parses the options of `replay` and `plot`.
    init(_ arguments: Arguments, of command: CommandRow.Name, needsTrace: Bool = true) throws(StationError) {
        self.init()
        traces = try arguments.traces(needsTrace ? arguments.operands : [])
        configurationPath = arguments.value(.config)
        guard !needsTrace || !traces.isEmpty || configurationPath != nil
        else {
            throw .usage("\(command.rawValue) needs a trace; see 'binnacle \(command.rawValue) --help'")
        }
        settings = try arguments.settings()
        from = try Self.bound(arguments, .from)
        to = try Self.bound(arguments, .to)
        if case .afterFirst(let start)? = from?.time, case .afterFirst(let end)? = to?.time, start >= end {
            throw .usage("\(to?.text ?? ""): has to be after \(from?.text ?? "")")
        }
        if let text = arguments.value(.speed), text != "max" { speed = try arguments.speed(mayBeMaximum: true) }
        batch = try arguments.count(.batch, in: 1...65_536) ?? batch
        traces.decodesScans = arguments.has(.decodeScans)
        // At a multiple of real time, one processor is enough.
        if speed == nil { traces.processorCount = Processors.availableCount }
    }

    private static func bound(_ arguments: Arguments, _ option: OptionRow) throws(StationError) -> ReplayBound? {
        guard let text = arguments.value(option) else { return nil }
        let shown = "--\(option.name) \(text)"
        if let distance = DurationText.parse(text) {
            guard distance > .zero || option == .from else {
                throw .usage("\(shown): has to be after the first sample")
            }
            return ReplayBound(.afterFirst(Units.nanoseconds(distance)), text: shown)
        }
        guard let time = WallTime.nanoseconds(String(text.map { $0 == " " ? "T" : $0 })) else {
            throw .usage(
                "\(shown): has to be a time after the recording's first sample with its unit, as in 500ms, 10s, 1.5m, 1h, "
                    + "or a time in UTC, as in 2026-11-21T12:45")
        }
        return ReplayBound(.wallClock(time), text: shown)
    }
}

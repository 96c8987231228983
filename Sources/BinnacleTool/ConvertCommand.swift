import Binnacle
import CommandRows
import LinuxSystem
import Station
import Workbench

/// `binnacle convert`: converts traces.
struct ConvertCommand {
    private let options: ConvertOptions

    init(_ arguments: Arguments) throws(StationError) {
        var options = ConvertOptions()
        options.traces = try arguments.traces(arguments.operands)
        options.traces.processorCount = Processors.availableCount
        guard !options.traces.isEmpty else {
            throw StationError(.usage, "convert needs a trace; see 'binnacle convert --help'")
        }
        options.output = try arguments.output(of: "convert")
        options.replaces = arguments.has(.force)
        self.options = options
    }

    func run(_ errors: LineWriter, _ signals: SignalListener) throws(StationError) -> ExitStatus {
        let conversion = try Conversion(options, interruption: signals.interruption)
        errors.report(conversion.notices)
        signals.listen()
        let summary = conversion.run(.onTerminal("convert"))
        errors.report(summary.repairNotices)
        errors.report(summary.failures.map(\.description))
        for line in summary.lines { errors.write(line) }
        if summary.isCancelled { return signals.interruption.exitStatus }
        return summary.failures.first?.status ?? .ok
    }
}

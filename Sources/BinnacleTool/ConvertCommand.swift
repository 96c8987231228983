import Binnacle
import CommandRows
import Handlers
import LinuxSystem
import Station
import Traces
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
        guard let path = arguments.value(.output), !path.isEmpty else {
            throw StationError(.usage, "convert needs a file to write to: -o FILE; see 'binnacle convert --help'")
        }
        options.output = path
        options.replaces = arguments.has(.force)
        self.options = options
    }

    func run(_ errors: LineWriter, _ signals: SignalListener) throws(StationError) -> ExitStatus {
        let conversion = try Conversion(options, interruption: signals.interruption)
        for notice in conversion.notices { errors.write("binnacle: \(notice)") }
        errors.flush()
        signals.listen()
        let summary = conversion.run(.onTerminal("convert"))
        for notice in summary.repairNotices { errors.write("binnacle: \(notice)") }
        for failure in summary.failures { errors.write("binnacle: \(failure.description)") }
        for line in summary.lines { errors.write(line) }
        if summary.isCancelled { return signals.interruption.exitStatus }
        return summary.failures.first?.status ?? .ok
    }
}

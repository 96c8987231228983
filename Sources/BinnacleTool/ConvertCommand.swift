import Binnacle
import CommandRows
import Glibc
import Handlers
import Station
import Traces

/// `binnacle convert`: writes traces anew.
struct ConvertCommand {
    private let options: ConvertOptions

    init(_ arguments: Arguments) throws(StationError) {
        var options = ConvertOptions()
        options.inputs = arguments.operands
        guard !options.inputs.isEmpty else {
            throw StationError(.usage, "convert needs a trace; see 'binnacle convert --help'")
        }
        guard let path = arguments.value(.output), !path.isEmpty else {
            throw StationError(.usage, "convert needs a file to write to: -o FILE; see 'binnacle convert --help'")
        }
        options.output = path
        options.map = try arguments.columnMap()
        options.replaces = arguments.has(.force)
        self.options = options
    }

    func run(_ errors: LineWriter) throws(StationError) -> ExitStatus {
        let conversion = try Conversion(options)
        for notice in conversion.notices { errors.write("binnacle: \(notice)") }
        errors.flush()
        Interruption.listen(waking: nil)
        let summary = conversion.run(ProgressIndicator(view: progressView()))
        for notice in summary.repairNotices { errors.write("binnacle: \(notice)") }
        for failure in summary.failures { errors.write("binnacle: \(failure.description)") }
        for line in summary.lines { errors.write(line) }
        if summary.isCancelled { return Interruption.isTermination ? .terminated : .cancelled }
        return summary.failures.first?.status ?? .ok
    }

    private func progressView() -> any ProgressView {
        isatty(STDERR_FILENO) != 0
            ? TerminalProgressView(descriptor: STDERR_FILENO, label: "convert") : NoProgressView()
    }
}

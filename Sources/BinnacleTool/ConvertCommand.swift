import Binnacle
import CommandRows
import LinuxSystem
import Station
import Workbench

/// `binnacle convert`: converts traces.
enum ConvertCommand {
    static func run(_ arguments: Arguments, _ console: Console) throws(StationError) -> ExitStatus {
        let (errors, signals) = (console.errors, console.signals)
        var traces = try arguments.traces(arguments.operands)
        traces.processorCount = Processors.availableCount
        guard !traces.isEmpty else {
            throw .usage("convert needs a trace; see 'binnacle convert --help'")
        }
        let conversion = try Conversion(
            traces, to: try arguments.output(of: "convert"), replacing: arguments.has(.force),
            interruption: signals.interruption)
        errors.report(conversion.notices)
        signals.listen()
        let session = conversion.run(.onTerminal("convert"))
        errors.report(conversion.repairNotices)
        errors.report(session.failures.map(\.description))
        for line in conversion.summary(session) { errors.write(line) }
        if session.isCancelled { return signals.interruption.exitStatus }
        return session.failures.first?.status ?? .ok
    }
}

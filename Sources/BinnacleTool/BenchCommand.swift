import Bench
import Binnacle
import CommandRows
import LinuxSystem
import Station

/// `binnacle bench`: measures the kernels against the limits of the machine.
enum BenchCommand {
    static func run(_ arguments: Arguments, _ console: Console) throws(StationError) -> ExitStatus {
        var options = BenchOptions()
        options.isQuick = arguments.has(.quick)
        options.writesJSON = arguments.has(.json)
        let known = BenchPart.allCases.map(\.rawValue).joined(separator: ", ")
        let parts: [BenchPart] = try arguments.words(.kernel, "has to be one of \(known)")
        if !parts.isEmpty { options.parts = Set(parts) }
        console.signals.listen()
        let (output, interruption) = (console.output, console.signals.interruption)
        do throws(BenchError) {
            let bench = try Bench(options, indicator: .onTerminal("bench")) {
                interruption.isRequested || output.failure != nil
            } output: {
                output.write($0)
                output.flush()
            }
            try bench.run()
            return .ok
        } catch {
            switch error {
            case .cancelled:
                return interruption.isRequested ? interruption.exitStatus : .ok
            case .wrongResult(let what): throw StationError(.software, what)
            case .unavailable(let what): throw .unavailable(what)
            }
        }
    }
}

import Bench
import Binnacle
import CommandRows
import LinuxSystem
import PlainText
import Station

/// `binnacle bench`: measures the kernels against the limits of the machine.
struct BenchCommand {
    private var options = BenchOptions()

    init(_ arguments: Arguments) throws(StationError) {
        try arguments.refuseOperands("bench")
        options.isQuick = arguments.has(.quick)
        options.writesJSON = arguments.has(.json)
        let names = arguments.all(.kernel)
        guard !names.isEmpty else { return }
        options.parts = []
        for name in names {
            guard let part = BenchPart(rawValue: name) else {
                let known = BenchPart.allCases.map(\.rawValue)
                throw StationError(
                    .usage,
                    "--kernel \(name): has to be one of \(known.joined(separator: ", ")) (\(Spelling.hint(for: name, among: known)))"
                )
            }
            options.parts.insert(part)
        }
    }

    func run(_ output: LineWriter, _ signals: SignalListener) throws(StationError) -> ExitStatus {
        signals.listen()
        let interruption = signals.interruption
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
            case .unavailable(let what): throw StationError(.unavailable, what)
            }
        }
    }
}

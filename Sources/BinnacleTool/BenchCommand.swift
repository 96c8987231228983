import Bench
import Binnacle
import CommandRows
import Glibc
import Handlers
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

    func run(_ output: LineWriter) throws(StationError) -> ExitStatus {
        Interruption.listen()
        let bench = Bench(options) {
            Interruption.isRequested || output.failure != nil
        } output: {
            output.write($0)
            output.flush()
        }
        do throws(BenchError) {
            try bench.run(ProgressIndicator(view: Self.progressView()))
            return .ok
        } catch {
            switch error {
            case .cancelled:
                guard Interruption.isRequested else { return .ok }
                return Interruption.isTermination ? .terminated : .cancelled
            case .wrongResult: throw StationError(.software, error.description)
            case .unavailable: throw StationError(.unavailable, error.description)
            }
        }
    }

    private static func progressView() -> any ProgressView {
        isatty(STDERR_FILENO) != 0
            ? TerminalProgressView(descriptor: STDERR_FILENO, label: "bench") : NoProgressView()
    }
}

import BenchSupport
import Glibc

/// Measures `binnacle run` as a whole: what it costs while nothing happens, how soon it is there, and how soon it acts.
///
/// Its devices are FIFOs, so that what the kernel's own devices add is not in these figures.
@main
enum DaemonBench {
    static func main() {
        guard CommandLine.arguments.count > 2 else {
            say("usage: DaemonBench BINNACLE STAMP [SECONDS [MEASUREMENT…]]")
            exit(64)
        }
        let binary = CommandLine.arguments[1]
        let seconds = CommandLine.arguments.count > 3 ? Int(CommandLine.arguments[3]) ?? 30 : 30
        let wanted = CommandLine.arguments.dropFirst(4)
        let measurements: [(name: String, body: () -> Void)] = [
            ("idle", { IdleMeasurement(binary: binary, seconds: min(seconds, 20)).run() }),
            ("readings", { ReadingsMeasurement(binary: binary, seconds: seconds).run() }),
            ("start", { StartMeasurement(binary: binary).run() }),
            ("reaction", { ReactionMeasurement(binary: binary, stamp: CommandLine.arguments[2]).run() }),
            ("events", { EventMeasurement(binary: binary, seconds: seconds).run() }),
            ("memory", { MemoryMeasurement(binary: binary).run() }),
            ("flood", { FloodMeasurement(binary: binary, seconds: seconds).run() }),
        ]
        for (name, body) in measurements where wanted.isEmpty || wanted.contains(name) { body() }
    }
}

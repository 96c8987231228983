import Binnacle
import CommandRows
import LinuxSystem
import Pictures
import PlainText
import Station
import Traces

/// `binnacle plot`: draws the results of a replay.
enum PlotCommand {
    private enum Format: String, CaseIterable {
        case html, svg
    }

    static func run(_ arguments: Arguments, _ console: Console) throws(StationError) -> ExitStatus {
        let (errors, signals) = (console.errors, console.signals)
        var options = try ReplayOptions(arguments, of: .plot)
        options.draws = true
        guard let path = arguments.value(.output), !path.isEmpty else {
            throw .usage("plot needs a file to write to: -o FILE.html or FILE.svg")
        }
        options.outputs = [(path, "-o")]
        let chosen = try arguments.choice(.format, ["html": Format.html, "svg": .svg])
        guard let format = chosen ?? Format.allCases.first(where: { path.hasSuffix("." + $0.rawValue) }) else {
            throw .usage("-o \(path): has to end in .html or .svg; --format says it for other names")
        }
        let file = try mapError({ StationError($0) }) { () throws(TraceError) in
            try ResultFile(path: path, replacing: arguments.has(.force))
        }
        let replay = try Replay(options, output: console.output, errors: errors, interruption: signals.interruption)
        let (summary, failures) = replay.run(.onTerminal("plot"), console)
        if summary.isCancelled { return signals.interruption.exitStatus }
        guard let picture = replay.picture(summary), summary.sampleCount > 0 else {
            return failures.first?.status ?? .noInput
        }
        let bytes = format == .html ? PicturePage(picture).bytes : PictureSVG(picture).bytes
        try mapError({ StationError($0) }) { () throws(TraceError) in try file.write(bytes) }
        let place = path == "-" ? "standard output" : path.printable
        errors.write(
            "drew \(summary.sampleCount) samples and \(picture.eventCount) \(picture.eventCount == 1 ? "event" : "events") to \(place), \(bytes.count / 1000) kB"
        )
        return failures.first?.status ?? .ok
    }
}

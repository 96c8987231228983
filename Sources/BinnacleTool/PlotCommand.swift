import Binnacle
import CommandRows
import Glibc
import LinuxSystem
import Pictures
import PlainText
import Station
import Traces

/// `binnacle plot`: draws the results of a replay.
struct PlotCommand {
    private enum Format: String, CaseIterable {
        case html, svg
    }

    private let options: ReplayOptions
    private let path: String
    private let format: Format
    private let replaces: Bool

    init(_ arguments: Arguments) throws(StationError) {
        var options = try ReplayOptions(arguments, of: .plot)
        options.draws = true
        guard let path = arguments.value(.output), !path.isEmpty else {
            throw StationError(.usage, "plot needs a file to write to: -o FILE.html or FILE.svg")
        }
        self.path = path
        options.outputs = [(path, "-o")]
        self.options = options
        replaces = arguments.has(.force)
        if let format = try arguments.choice(.format, ["html": Format.html, "svg": .svg]) {
            self.format = format
        } else if let format = Format.allCases.first(where: { path.hasSuffix("." + $0.rawValue) }) {
            self.format = format
        } else {
            throw StationError(.usage, "-o \(path): has to end in .html or .svg; --format says it for other names")
        }
    }

    func run(
        _ output: LineWriter, _ errors: LineWriter, _ signals: SignalListener
    ) throws(StationError) -> ExitStatus {
        let file = try mapError({ StationError($0) }) { () throws(TraceError) in
            try ResultFile(path: path, replacing: replaces)
        }
        let replay = try Replay(options, output: output, errors: errors, interruption: signals.interruption)
        let (summary, failures) = replay.run(.onTerminal("plot"), errors, signals)
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

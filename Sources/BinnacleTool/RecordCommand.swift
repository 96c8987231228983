import Binnacle
import CommandRows
import LinuxSystem
import PlainText
import Station
import Traces
import Workbench

/// `binnacle record`: records sensors.
enum RecordCommand {
    static func run(_ arguments: Arguments, _ console: Console) throws(StationError) -> ExitStatus {
        let (errors, signals) = (console.errors, console.signals)
        var options = RecordOptions()
        options.path = try arguments.output(of: "record")
        options.configurationPath = arguments.value(.config)
        options.sensors = arguments.all(.sensor)
        options.replaces = arguments.has(.force)
        options.root = arguments.value(.root)
        options.simulation = try arguments.simulated(.simulate)
        if options.simulation != nil {
            try arguments.refuse(
                [.config, .sensor, .root, .scans], "does not go with --simulate, which plays the sensor")
        }
        options.keepsScans = arguments.has(.scans)
        guard !options.keepsScans || TraceWriter.isArrow(options.path) else {
            throw .usage("--scans: only an Arrow stream has a place for raw scans: -o FILE.arrows")
        }
        options.duration = try arguments.duration()
        let recording = try Recording(options, errors: errors)
        errors.report(recording.notices)
        signals.listen(waking: recording.wakeDescriptor)
        let (summary, failure) = recording.run(.onTerminal("record"), interruption: signals.interruption)
        for line in summary { errors.write(line) }
        guard let failure else { return .ok }
        for line in failure.description.split(separator: "\n") { errors.write("binnacle: \(line.printable)") }
        return failure.status
    }
}

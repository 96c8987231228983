import Binnacle
import CommandRows
import Configuration
import LinuxSystem
import Station
import TableReading
import Workbench

/// `binnacle doctor`: shows which devices would be used and why; guides the user to find sign and mount matrix.
struct DoctorCommand {
    private let root: String?
    private let sensor: String?
    private let guides: Bool
    private let measured: Duration?
    private let simulation: SimulationSettings.Model?
    private let writesJSON: Bool
    private let configurationPath: String?

    init(_ arguments: Arguments) throws(StationError) {
        root = arguments.value(.root)
        sensor = try arguments.onlyValue(.sensor, "--sensor: doctor looks at one sensor or all: name one")
        guides = arguments.has(.guide)
        configurationPath = arguments.value(.config)
        measured = try arguments.duration(.measure)
        simulation = try arguments.simulated(.simulate)
        writesJSON = arguments.has(.json)
        guard guides || measured != nil || sensor == nil else {
            throw .usage("--sensor is for doctor --guide and --measure; without them, doctor looks at all of them")
        }
        if guides { try arguments.refuse([.config], "does not go with --guide, which reads no configuration") }
        if measured != nil { try arguments.refuse([.guide, .config], "does not go with --measure") }
        if measured == nil { try arguments.refuse([.json, .simulate], "is for --measure") }
        if simulation != nil { try arguments.refuse([.sensor, .root], "does not go with --simulate") }
        guard measured.map({ (.seconds(2) ... .seconds(86_400)).contains($0) }) ?? true else {
            throw .usage("--measure: has to be from 2s to 24h")
        }
    }

    private func measure(_ duration: Duration, _ console: Console) throws(StationError) -> ExitStatus {
        let measurement = try SensorMeasurement(
            sensor: sensor, root: root, simulating: simulation, for: duration, errors: console.errors)
        console.signals.listen(waking: measurement.wakeDescriptor)
        let result = try measurement.run(.onTerminal("measure"), interruption: console.signals.interruption)
        for line in writesJSON ? [result.json] : result.lines { console.output.write(line) }
        let interruption = console.signals.interruption
        guard !interruption.isRequested else {
            console.errors.write(
                "ended by a signal before the time was over: the result is of what was measured until then")
            return interruption.exitStatus
        }
        return result.passes ? .ok : .degraded
    }

    func run(_ console: Console) throws(StationError) -> ExitStatus {
        if let measured { return try measure(measured, console) }
        guard !guides else {
            try MountGuide(sensor: sensor, root: root, output: console.output).run { readLine() }
            return .ok
        }
        let configuration = try configuration()
        let doctor = try Doctor(root: root, configuration: configuration)
        for line in doctor.lines { console.output.write(line) }
        return doctor.hasWhatIsNeeded ? .ok : .unavailable
    }

    /// The named configuration, or the service's; `nil` if there is none, or if `--root` is given.
    private func configuration() throws(StationError) -> Configuration? {
        if let configurationPath { return try Configuration.load(configurationPath) }
        guard root == nil else { return nil }
        do throws(ConfigurationError) {
            return try Configuration.read(path: Configuration.standardPath)
        } catch {
            if error.isAbsence(at: Configuration.standardPath) { return nil }
            throw StationError(error)
        }
    }
}

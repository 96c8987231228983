import CommandRows
import Configuration
import Handlers
import LinuxSystem
import PlainText
import Station
import TableReading
import Workbench

/// `binnacle doctor`: shows which devices would be used and why; guides the user to find sign and mount matrix.
struct DoctorCommand {
    private let root: String?
    private let sensor: String?
    private let guides: Bool
    private let configurationPath: String?

    init(_ arguments: Arguments) throws(StationError) {
        try arguments.refuseOperands("doctor")
        root = arguments.value(.root)
        sensor = arguments.value(.sensor)
        guides = arguments.has(.guide)
        configurationPath = arguments.value(.config)
        guard guides || sensor == nil else {
            throw StationError(.usage, "--sensor is for doctor --guide; without it, doctor looks at all of them")
        }
    }

    func run(_ output: LineWriter) throws(StationError) -> ExitStatus {
        guard !guides else {
            try MountGuide(sensor: sensor, root: root, output: output).run { readLine() }
            return .ok
        }
        let configuration = try configuration()
        let doctor = try Doctor(root: root, configuration: configuration)
        for line in doctor.lines { output.write(line) }
        return doctor.hasWhatIsNeeded ? .ok : .unavailable
    }

    /// The named configuration, or the service's; `nil` if there is none, or if `--root` is given.
    private func configuration() throws(StationError) -> Configuration? {
        if let configurationPath { return try Configuration.load(configurationPath) }
        guard root == nil else { return nil }
        do throws(ConfigurationError) {
            return try Configuration.read(path: Configuration.standardPath)
        } catch {
            if case .file(_, .missing) = error { return nil }
            throw StationError(error)
        }
    }
}

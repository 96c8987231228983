import CommandRows
import Handlers
import LinuxSystem
import Station
import Workbench

/// `binnacle doctor`: shows which devices would be used and why, and checks sign and mount matrix with the user's help.
struct DoctorCommand {
    private let root: String?
    private let sensor: String?
    private let guides: Bool

    init(_ arguments: Arguments) throws(StationError) {
        try arguments.refuseOperands("doctor")
        root = arguments.value(.root)
        sensor = arguments.value(.sensor)
        guides = arguments.has(.guide)
        guard guides || sensor == nil else {
            throw StationError(.usage, "--sensor is for doctor --guide; without it, doctor looks at all of them")
        }
    }

    func run(_ output: LineWriter) throws(StationError) -> ExitStatus {
        let doctor = try Doctor(root: root)
        if guides {
            try MountGuide(sensor: sensor, root: root, output: output).run { readLine() }
        } else {
            for line in doctor.lines { output.write(line) }
        }
        return doctor.hasUsablePair ? .ok : .unavailable
    }
}

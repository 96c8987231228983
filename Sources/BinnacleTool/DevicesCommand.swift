import CommandRows
import LinuxSystem
import Station
import Workbench

/// `binnacle devices`: lists the sensors.
struct DevicesCommand {
    private let root: String?
    private let writesJSON: Bool

    init(_ arguments: Arguments) throws(StationError) {
        try arguments.refuseOperands("devices")
        root = arguments.value(.root)
        writesJSON = arguments.has(.json)
    }

    func run(_ output: LineWriter) throws(StationError) -> ExitStatus {
        let reports = try DeviceReport.all(root: root)
        for report in reports {
            if writesJSON {
                output.write(report.json)
            } else {
                for line in report.lines { output.write(line) }
            }
        }
        if reports.isEmpty, !writesJSON {
            output.write("no accelerometer and no magnetometer; 'binnacle doctor' says where it looked")
        }
        return .ok
    }
}

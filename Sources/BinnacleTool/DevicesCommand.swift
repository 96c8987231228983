import CommandRows
import LinuxSystem
import Station
import Workbench

/// `binnacle devices`: lists the sensors.
enum DevicesCommand {
    static func run(_ arguments: Arguments, _ console: Console) throws(StationError) -> ExitStatus {
        let (output, writesJSON) = (console.output, arguments.has(.json))
        let reports = try DeviceReport.all(root: arguments.value(.root))
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

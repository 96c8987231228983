import CommandRows
import DesktopBus
import LinuxSystem
import Station

/// `binnacle monitor`: shows what desktops get from the sensors.
enum MonitorCommand {
    static func run(_ arguments: Arguments, _ console: Console) throws(StationError) -> ExitStatus {
        let (output, signals) = (console.output, console.signals)
        let rows: [(option: OptionRow, sensor: DesktopSensor)] = [
            (.accel, .accelerometer), (.light, .light), (.proximity, .proximity), (.compass, .compass),
        ]
        let named = rows.filter { arguments.has($0.option) }
        let sensors = (named.isEmpty || arguments.has(.allSensors) ? rows : named).map(\.sensor)
        let waker = try mapError({ StationError($0) }) { () throws(SystemError) in try Waker() }
        signals.listen(waking: waker.descriptor)
        try mapError(Self.error) { () throws(DesktopMonitor.Failure) in
            try DesktopMonitor(sensors) { output.write($0) }.run(waker: waker, flush: output.flush) {
                signals.interruption.isRequested || output.failure != nil
            }
        }
        return output.failure == nil ? signals.interruption.exitStatus : .ok
    }

    private static func error(_ failure: DesktopMonitor.Failure) -> StationError {
        switch failure {
        case .unreachable(let reason): StationError(.unavailable, reason)
        case .refused(let reason):
            StationError(.noPermission, "\(reason): run it in the session that has the screen, or as root")
        }
    }
}

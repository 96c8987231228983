import CommandRows
import LinuxSystem
import PlainText
import Station

/// `binnacle status`: shows the status of the running daemon.
struct StatusCommand {
    private let path: String
    private let writesJSON: Bool

    init(_ arguments: Arguments) throws(StationError) {
        try arguments.refuseOperands("status")
        path = arguments.socketPath
        writesJSON = arguments.has(.json)
    }

    func run(_ output: LineWriter) throws(StationError) -> ExitStatus {
        let (line, status) = try DaemonStatus.ask(path)
        if writesJSON {
            output.write(JSONReader.harmless(line))
        } else {
            for line in StatusText.lines(status) { output.write(line.printable) }
        }
        return status["state"]?.text == "ok" ? .ok : .degraded
    }
}

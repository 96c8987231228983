import CommandRows
import LinuxSystem
import PlainText
import Station

/// `binnacle status`: shows the status of the running daemon.
enum StatusCommand {
    static func run(_ arguments: Arguments, _ console: Console) throws(StationError) -> ExitStatus {
        let (line, status) = try DaemonStatus.ask(arguments.socketPath)
        if arguments.has(.json) {
            console.output.write(JSONReader.harmless(line))
        } else {
            for line in StatusText.lines(status) { console.output.write(line.printable) }
        }
        return status["state"]?.text == "ok" ? .ok : .degraded
    }
}

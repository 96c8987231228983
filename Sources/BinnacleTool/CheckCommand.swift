import Binnacle
import Configuration
import Handlers
import LinuxSystem
import PlainText
import Station
import TableReading

/// `binnacle check`: validates configurations.
struct CheckCommand {
    private let paths: [String]

    init(_ arguments: Arguments) {
        paths = arguments.operands.isEmpty ? [Configuration.standardPath] : arguments.operands
    }

    func run(_ output: LineWriter, _ errors: LineWriter) -> ExitStatus {
        var status = ExitStatus.ok
        for path in paths {
            do throws(ConfigurationError) {
                let configuration = try Configuration.read(path: path)
                output.write("\(path.printable): \(configuration.summary)")
            } catch {
                let failure = StationError(error)
                for line in failure.description.split(separator: "\n") { errors.write(line.printable) }
                status = failure.status
            }
        }
        return status
    }
}

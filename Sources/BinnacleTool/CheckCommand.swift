import Handlers
import Station

/// `binnacle check`: validates configuration files.
struct CheckCommand {
    private let paths: [String]

    init(_ arguments: Arguments) throws(StationError) {
        paths = arguments.operands
        guard !paths.isEmpty else {
            throw StationError(.usage, "check needs a configuration file; see 'binnacle check --help'")
        }
    }

    func run(_ output: LineWriter, _ errors: LineWriter) throws(StationError) -> ExitStatus {
        var status = ExitStatus.ok
        for path in paths {
            do throws(ConfigurationError) {
                let configuration = try Configuration.read(path: path)
                output.write("\(path): \(configuration.summary)")
            } catch {
                let failure = StationError(error)
                for line in failure.description.split(separator: "\n") { errors.write(String(line)) }
                status = failure.status
            }
        }
        return status
    }
}

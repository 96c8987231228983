import CommandRows
import Configuration
import LinuxSystem
import PlainText
import Station
import TableReading

/// `binnacle check`: validates configurations.
struct CheckCommand {
    private let paths: [String]
    /// Whether the paths are those of the command line.
    private let isNamed: Bool
    private let isStrict: Bool
    private let root: String?
    private let settings: [CommandLineSetting]

    init(_ arguments: Arguments) throws(StationError) {
        settings = try arguments.settings()
        let named = arguments.configurationPaths
        isNamed = !named.isEmpty
        paths = named.isEmpty ? [Configuration.standardPath] : named
        isStrict = arguments.has(.strict)
        root = arguments.value(.root)
    }

    func run(_ output: LineWriter, _ errors: LineWriter) -> ExitStatus {
        var status = ExitStatus.ok
        for path in paths {
            do throws(ConfigurationError) {
                var configuration = try Configuration.read(path: path, settings: settings)
                configuration.warnings += configuration.machineWarnings(root: root)
                for warning in configuration.warnings { errors.write(warning.description.printable) }
                do throws(StationError) {
                    try StationError.refuse(outputsOf: configuration, over: configuration.inputs)
                } catch {
                    errors.write(error.description.printable)
                    // The fault is in the configuration, and not in this command's arguments.
                    status = .configuration
                    continue
                }
                if isStrict, !configuration.warnings.isEmpty {
                    status = .configuration
                } else {
                    output.write("\(path.printable): \(configuration.summary)")
                    for notice in configuration.notices { output.write("  \(notice)") }
                }
            } catch .file(_, let problem) where !isNamed && (problem == .missing || problem == .nothing) {
                errors.write(
                    "\(path): there is no configuration: looked for \(path)/binnacle.toml and \(path)/conf.d/*.toml; "
                        + "binnacle check PATH takes another file or folder")
                status = .configuration
            } catch {
                let failure = StationError(error)
                for line in failure.description.split(separator: "\n") { errors.write(line.printable) }
                status = failure.status
            }
        }
        return status
    }
}

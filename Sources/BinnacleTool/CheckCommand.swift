import CommandRows
import Configuration
import LinuxSystem
import PlainText
import PosixCalls
import Station
import TableReading

/// `binnacle check`: validates configurations.
enum CheckCommand {
    static func run(_ arguments: Arguments, _ console: Console) throws(StationError) -> ExitStatus {
        let errors = console.errors
        let settings = try arguments.settings()
        let named = arguments.configurationPaths
        var status = ExitStatus.ok
        for path in named.isEmpty ? [Configuration.standardPath] : named {
            do throws(ConfigurationError) {
                var configuration = try Configuration.read(path: path, settings: settings)
                configuration.warnings += configuration.machineWarnings(root: arguments.value(.root))
                configuration.warnings += configuration.recordingWarnings(console.signals.interruption)
                for warning in configuration.warnings { errors.write(warning.description.printable) }
                do throws(StationError) {
                    // A folder is all that the daemon reads, and a file may be one of several.
                    if (try? fileStatus(path))?.isFolder == true, configuration.sampledSensors.isEmpty {
                        try configuration.requireDetector(path)
                    }
                    try StationError.refuse(outputsOf: configuration, over: configuration.inputs)
                } catch {
                    errors.write(error.description.printable)
                    // The fault is in the configuration, and not in this command's arguments.
                    status = .configuration
                    continue
                }
                if arguments.has(.strict), !configuration.warnings.isEmpty {
                    status = .configuration
                } else {
                    console.output.write("\(path.printable): \(configuration.summary)")
                    for notice in configuration.notices { console.output.write("  \(notice)") }
                }
            } catch let error where named.isEmpty && error.isAbsence(at: path) {
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

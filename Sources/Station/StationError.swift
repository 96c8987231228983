package import Configuration
import Handlers
package import LinuxSensors
package import LinuxSystem
import PlainText
package import TableReading
package import Traces

/// The reason why a station cannot be made or had to stop, with the exit status.
package struct StationError: Error, CustomStringConvertible {
    /// The problem and the remedy, one line for each.
    package let description: String
    /// A status from sysexits.h.
    package let status: ExitStatus
    /// The refused recording, when a remedy is known.
    package private(set) var refusedTrace: (path: String, remedy: TraceRemedy)?

    package init(_ status: ExitStatus, _ description: String) {
        self.status = status
        self.description = description
    }

    package static func usage(_ words: String) -> StationError { StationError(.usage, words) }
    package static func data(_ words: String) -> StationError { StationError(.data, words) }
    package static func noInput(_ words: String) -> StationError { StationError(.noInput, words) }
    package static func unavailable(_ words: String) -> StationError { StationError(.unavailable, words) }
    package static func cannotCreate(_ words: String) -> StationError { StationError(.cannotCreate, words) }

    package init(_ error: TraceError) {
        self.init(ExitStatus(error.category), error.description)
        refusedTrace = error.remedy.map { (error.path, $0) }
    }

    /// Whether others of several recordings may be played, whatever this one lacks.
    package var concernsRecording: Bool {
        [.data, .noInput, .noPermission, .usage, .inputOutput].contains(status)
    }

    package init(sourceFailure reason: any Error) {
        switch reason {
        case let error as StationError: self = error
        case let error as TraceError: self.init(error)
        default: self.init(.inputOutput, "\(reason)")
        }
    }

    /// Makes an error from a failed system call.
    package init(_ error: SystemError) {
        self.init(.unavailable, error.description)
    }

    package init(_ error: ConfigurationError) {
        // Also a missing file: with the status of a missing recording, a job would continue without its configuration.
        let status: ExitStatus = if case .file(_, .system) = error { .inputOutput } else { .configuration }
        self.init(status, error.description)
    }
}

/// The exit statuses of sysexits.h that are used here, and the shell's own for a cancellation.
package enum ExitStatus: Int32, Sendable {
    case ok = 0
    /// The daemon runs with problems.
    case degraded = 1
    /// The command line is wrong.
    case usage = 64
    /// The contents of a file are wrong.
    case data = 65
    /// A file is not there.
    case noInput = 66
    /// Something that is needed is not available.
    case unavailable = 69
    /// A fault of the program itself.
    case software = 70
    /// An output file cannot be created.
    case cannotCreate = 73
    /// Reading or writing failed.
    case inputOutput = 74
    /// A resource is in use now, and may be free later.
    case temporaryFailure = 75
    /// The user may not do that.
    case noPermission = 77
    /// The configuration is wrong.
    case configuration = 78
    /// Ended because its terminal was closed: 128 + SIGHUP.
    case hungUp = 129
    /// Ended by Ctrl-C: 128 + SIGINT.
    case cancelled = 130
    /// Ended by SIGTERM: 128 + SIGTERM.
    case terminated = 143

    package init(_ category: TraceError.Category) {
        switch category {
        case .noInput: self = .noInput
        case .noPermission: self = .noPermission
        case .data: self = .data
        case .inputOutput: self = .inputOutput
        case .cannotCreate: self = .cannotCreate
        }
    }
}

extension Configuration {
    /// Reads the configuration of a subcommand that requires one, with the calibrations of a device.
    package static func load(
        _ path: String, settings: [CommandLineSetting] = [], device: CalibrationDevice = .machine
    ) throws(StationError) -> Configuration {
        try mapError(StationError.init) { () throws(ConfigurationError) in
            try read(path: path, settings: settings, device: device)
        }
    }

    package func requireDetector(_ path: String) throws(StationError) {
        guard detectorNames.isEmpty, dbus == nil else { return }
        throw StationError(
            .configuration,
            "\(path.printable): no detector: add a section [motion.NAME] or another one of a detector")
    }
}

extension DeviceFinder {
    package func list() throws(StationError) -> [SensorDevice] {
        try mapError(StationError.init) { () throws(SystemError) in try devices() }
    }
}

extension StationError {
    /// Refuses to write to a file that is read, whatever names it.
    ///
    /// - Parameters:
    ///   - output: The path that is written; `-` is standard output.
    ///   - inputs: The paths that are read.
    ///   - option: What names the output.
    /// - Throws: Which file it is, and what to do.
    package static func refuse(writing output: String, over inputs: [String], option: String) throws(StationError) {
        guard let written = try? fileStatus(output == "-" ? "/dev/stdout" : output), written.isRegular,
            let input = inputs.first(where: { path in
                (try? fileStatus(RecordingFolder.file(path)))?.isSameFile(as: written) ?? false
            })
        else { return }
        let name = output == "-" ? "standard output is \(input.printable), which" : "\(output.printable):"
        throw .usage(
            "\(name) would be written over while it is read: choose another \(output == "-" ? "file" : option)")
    }

    /// Refuses handlers that would write to a file that is read.
    package static func refuse(outputsOf configuration: Configuration, over inputs: [String]) throws(StationError) {
        for section in configuration.handlers {
            guard let file = section.action.writtenFile else { continue }
            try refuse(writing: file, over: inputs, option: "file for [handler.\(section.name)]")
        }
    }
}

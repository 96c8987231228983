package import Configuration
package import LinuxSensors
package import LinuxSystem
package import TableReading
package import Traces

/// Why a station cannot be made or had to stop, with the exit status.
package struct StationError: Error, CustomStringConvertible {
    /// What is wrong and what to do about it; one line for each thing.
    package let description: String
    /// A status from sysexits.h.
    package let status: ExitStatus
    /// The recording that was refused, when it is known what opens it.
    package private(set) var refusedTrace: (path: String, remedy: TraceRemedy)?

    package init(_ status: ExitStatus, _ description: String) {
        self.status = status
        self.description = description
    }

    package init(_ error: TraceError) {
        self.init(ExitStatus(error.category), error.description)
        refusedTrace = error.remedy.map { (error.path, $0) }
    }

    /// The error for a source's reason of a failure.
    package init(sourceFailure reason: any Error) {
        switch reason {
        case let error as StationError: self = error
        case let error as TraceError: self.init(error)
        default: self.init(.inputOutput, "\(reason)")
        }
    }

    /// The error for a failed system call.
    package init(_ error: SystemError) {
        self.init(.unavailable, error.description)
    }

    package init(_ error: ConfigurationError) {
        // Also a missing one: the status of a missing recording would let a job without its configuration go on.
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
    /// Something is in use now, and may not be later.
    case temporaryFailure = 75
    /// The user may not do that.
    case noPermission = 77
    /// The configuration is wrong.
    case configuration = 78
    /// Cancelled with Ctrl-C: 128 + SIGINT.
    case cancelled = 130
    /// Asked to end: 128 + SIGTERM.
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
}

extension DeviceFinder {
    /// The devices that are there.
    package func list() throws(StationError) -> [SensorDevice] {
        try mapError(StationError.init) { () throws(SystemError) in try devices() }
    }
}

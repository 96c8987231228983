import Glibc
import LinuxSystem

/// The reason why a configuration is rejected.
package enum ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    case file(path: String, FileProblem)
    /// The files have errors, at least one, in the order of the files.
    case contents(path: String, [ConfigurationDiagnostic])

    package enum FileProblem: Sendable, Equatable {
        case missing
        case directory
        /// The path does not name a directory, but has to.
        case noDirectory
        /// A folder contains no configuration file.
        case nothing
        /// The path names neither a file nor a directory.
        case irregular
        case tooMany(limit: Int)
        /// This process may not read the file.
        case forbidden
        /// Limit in bytes.
        case tooLarge(limit: Int)
        /// Another system error.
        case system(code: Int32, reason: String)
    }

    /// Whether there is no configuration at a path at all: a file of a folder that is missing, as behind a dangling link, is an error.
    package func isAbsence(at path: String) -> Bool {
        switch self {
        case .file(let other, .missing): other == path
        case .file(_, .nothing): true
        case .file, .contents: false
        }
    }

    /// One line for each problem.
    package var description: String {
        switch self {
        case .file(let path, let problem): "\(path): \(problem)"
        case .contents(_, let diagnostics): diagnostics.map(\.description).joined(separator: "\n")
        }
    }
}

extension ConfigurationError.FileProblem: CustomStringConvertible {
    /// The problem, and its remedy if there is one.
    package var description: String {
        switch self {
        case .missing: "there is no such file"
        case .directory: "this is a directory; a configuration is a file"
        case .noDirectory: "this is no directory"
        case .nothing: "there is neither a binnacle.toml nor a conf.d/*.toml in it"
        case .irregular: "this is a pipe or a device; a configuration is a file, or what <(cat FILE) opens"
        case .tooMany(let limit): "there are more than \(limit) files"
        case .forbidden: "this account may not read the file (give the right to it, or to a group that it is in)"
        case .tooLarge(let limit):
            "the file is larger than \(limit >> 10) KiB, the most that a configuration may have"
        case .system(let code, let reason): "the file could not be read: \(reason) (error \(code))"
        }
    }

    /// Classifies an error number of reading a file.
    package init(code: Int32) {
        self =
            switch code {
            case ENOENT, ENOTDIR: .missing
            case EISDIR: .directory
            case EACCES, EPERM: .forbidden
            default: .system(code: code, reason: String(cString: strerror(code)))
            }
    }
}

package enum ConfigurationFile {
    /// In bytes.
    package static let largestSize = 1 << 20

    /// Reads a file; with `mayWait` also what the shell has opened.
    package static func contents(of path: String, mayWait: Bool) throws(ConfigurationError) -> [UInt8] {
        let explain = { (failure: SmallFile.Failure) -> ConfigurationError in
            switch failure {
            case .system(let error): .file(path: path, ConfigurationError.FileProblem(code: error.code))
            case .directory: .file(path: path, .directory)
            case .irregular, .malformed: .file(path: path, .irregular)
            case .tooLarge: .file(path: path, .tooLarge(limit: largestSize))
            }
        }
        return try mapError(explain) { () throws(SmallFile.Failure) in
            try SmallFile.bytes(path, limit: largestSize, kind: mayWait ? .given : .regular)
        }
    }
}

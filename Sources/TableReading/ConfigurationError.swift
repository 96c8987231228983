import Glibc

/// Why there is no configuration.
package enum ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The file could not be read.
    case file(path: String, FileProblem)
    /// The files were read, and these things are wrong with them, in their order; never empty.
    case contents(path: String, [ConfigurationDiagnostic])

    /// Why a file could not be read.
    package enum FileProblem: Sendable, Equatable {
        /// There is no such file.
        case missing
        /// The path names a directory.
        case directory
        /// The path names something else than a directory, where one has to be.
        case noDirectory
        /// A folder holds no file of a configuration.
        case nothing
        /// The path names neither a file nor a directory, where only a file may be.
        case irregular
        /// There are more files than a configuration may have.
        case tooMany(limit: Int)
        /// This process may not read the file.
        case forbidden
        /// The file has more bytes than a configuration may have.
        case tooLarge(limit: Int)
        /// The system gave another reason.
        case system(code: Int32, reason: String)
    }

    /// The file or the folder, as it was named to the reader, or the file in the folder that could not be read.
    package var path: String {
        switch self {
        case .file(let path, _), .contents(let path, _): path
        }
    }

    /// What is wrong with the file's contents; empty when it could not be read.
    package var diagnostics: [ConfigurationDiagnostic] {
        switch self {
        case .file: []
        case .contents(_, let diagnostics): diagnostics
        }
    }

    /// A line for each problem.
    package var description: String {
        switch self {
        case .file(let path, let problem): "\(path): \(problem)"
        case .contents(_, let diagnostics): diagnostics.map(\.description).joined(separator: "\n")
        }
    }
}

extension ConfigurationError.FileProblem: CustomStringConvertible {
    /// The problem and, where there is one, its remedy.
    package var description: String {
        switch self {
        case .missing: "there is no such file"
        case .directory: "this is a directory; a configuration is a file"
        case .noDirectory: "this is no directory"
        case .nothing: "there is neither a binnacle.toml nor a conf.d/*.toml in it"
        case .irregular: "this is no regular file"
        case .tooMany(let limit): "there are more than \(limit) files"
        case .forbidden: "this account may not read the file (give its group the right to read it)"
        case .tooLarge(let limit):
            "the file is larger than \(limit >> 10) KiB, the most that a configuration may have"
        case .system(let code, let reason): "the file could not be read: \(reason) (error \(code))"
        }
    }
}

extension ConfigurationError.FileProblem {
    /// What an error number of the system means for a file that was to be read.
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

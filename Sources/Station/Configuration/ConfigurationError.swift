/// Why there is no configuration.
package enum ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The file could not be read.
    case file(path: String, FileProblem)
    /// The file was read, and these things are wrong with it, in the order of the file; never empty.
    case contents(path: String, [ConfigurationDiagnostic])

    /// Why a file could not be read.
    package enum FileProblem: Sendable, Equatable {
        /// There is no such file.
        case missing
        /// The path names a directory.
        case directory
        /// This process may not read the file.
        case forbidden
        /// The file has more bytes than a configuration may have.
        case tooLarge(limit: Int)
        /// The system gave another reason.
        case system(code: Int32, reason: String)
    }

    /// The file, as it was named to the reader.
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
        case .forbidden: "this account may not read the file (give its group the right to read it)"
        case .tooLarge(let limit):
            "the file is larger than \(limit >> 10) KiB, the most that a configuration may have"
        case .system(let code, let reason): "the file could not be read: \(reason) (error \(code))"
        }
    }
}

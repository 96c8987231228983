import Glibc

/// Collects the errors in the files of a configuration, and the warnings.
package final class DiagnosticCollector {
    /// The maximum number of reported problems; a binary file given by mistake has thousands.
    package static let limit = 500

    private let path: String
    private let files: [String]
    private let settings: Range<Int>
    private var diagnostics: [ConfigurationDiagnostic] = []
    private var omitted = 0

    /// Creates a collector for a file or folder, and for the texts that positions refer to.
    ///
    /// - Parameters:
    ///   - path: The file or folder.
    ///   - files: The names of the texts.
    ///   - settings: How many of them, the last ones, are settings of the command line, which have one line each.
    package init(path: String, files: [String], settings: Int = 0) {
        self.path = path
        self.files = files
        self.settings = files.count - settings..<files.count
    }

    /// Whether a position is in a setting of the command line.
    package func isSetting(_ position: SourcePosition) -> Bool { settings.contains(position.file) }

    /// Adds an error, or a warning; its texts are made only when there is room for it.
    package func report(
        _ severity: ConfigurationDiagnostic.Severity = .error, at position: SourcePosition,
        _ message: @autoclosure () -> String, hint: @autoclosure () -> String? = nil
    ) {
        guard diagnostics.count < Self.limit else {
            if severity == .error { omitted += 1 }
            return
        }
        diagnostics.append(
            ConfigurationDiagnostic(
                path: path(of: position), position: position, isSetting: isSetting(position), message: message(),
                hint: hint(), severity: severity))
    }

    /// Adds the errors in a file that one of these files names; they come after those of these files.
    package func include(_ other: DiagnosticCollector) {
        omitted += other.omitted
        for diagnostic in other.diagnostics {
            let position = diagnostic.position
            diagnostics.append(
                ConfigurationDiagnostic(
                    path: diagnostic.path,
                    position: SourcePosition(file: files.count, line: position.line, column: position.column),
                    message: diagnostic.message, hint: diagnostic.hint, severity: diagnostic.severity))
        }
    }

    /// The folder of the file with a position, which relative paths in that file are relative to; it ends with a slash.
    package func folder(of position: SourcePosition) -> String {
        // A setting of the command line has no file: its paths are relative to the working directory.
        let path = isSetting(position) ? "" : path(of: position)
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        guard !folder.hasPrefix("/"), let current = getcwd(nil, 0) else { return folder }
        defer { free(current) }
        return String(cString: current) + "/" + (folder.hasPrefix("./") ? String(folder.dropFirst(2)) : folder)
    }

    /// Whether the configuration is that of the service, which has an account and a sandbox of its own.
    package var isOfService: Bool { path == "/etc/binnacle" || path.hasPrefix("/etc/binnacle/") }

    /// A position in words, for a message at another place.
    package func words(for position: SourcePosition, from place: SourcePosition) -> String {
        if isSetting(position) { return "in \(path(of: position))" }
        return position.file == place.file
            ? "on line \(position.line)" : "at \(path(of: position)):\(position.line)"
    }

    private func path(of position: SourcePosition) -> String {
        files.indices.contains(position.file) ? files[position.file] : path
    }

    /// The problems of a severity, in the order of the files.
    private func sorted(_ severity: ConfigurationDiagnostic.Severity) -> [ConfigurationDiagnostic] {
        diagnostics.filter { $0.severity == severity }.sorted { ($0.position, $0.message) < ($1.position, $1.message) }
    }

    /// All warnings in the order of the files.
    package var warnings: [ConfigurationDiagnostic] { sorted(.warning) }

    /// All errors in the order of the files; `nil` when there are none.
    package func error() -> ConfigurationError? {
        var sorted = sorted(.error)
        guard !sorted.isEmpty else { return nil }
        if omitted > 0, let last = sorted.last {
            sorted.append(
                ConfigurationDiagnostic(
                    path: last.path, position: last.position, message: "and \(omitted) more problems"))
        }
        return .contents(path: path, sorted)
    }
}

/// A problem in a configuration file.
package struct ConfigurationDiagnostic: Error, Sendable, Hashable, CustomStringConvertible {
    /// How bad a problem is.
    package enum Severity: Sendable {
        /// The configuration cannot be used.
        case error
        /// The configuration can be used, and will hardly do what was meant.
        case warning
    }

    /// The file.
    package let path: String
    /// The place of the problem.
    let position: SourcePosition
    /// Whether it is in a setting of the command line, which has one line.
    let isSetting: Bool
    /// What is wrong.
    package let message: String
    /// What would be right, where that is known.
    package var hint: String?
    /// How bad it is.
    package var severity = Severity.error

    /// Creates a problem.
    package init(
        path: String, position: SourcePosition, isSetting: Bool = false, message: String, hint: String? = nil,
        severity: Severity = .error
    ) {
        self.path = path
        self.isSetting = isSetting
        self.position = position
        self.message = message
        self.hint = hint
        self.severity = severity
    }

    /// The line, from 1.
    package var line: Int { position.line }

    /// The column, from 1.
    package var column: Int { position.column }

    /// `path:line:column: message (hint)`, which editors can follow; in a setting `--set TEXT: column N: message (hint)`.
    package var description: String {
        let place = isSetting ? "\(path): column \(column)" : "\(path):\(position)"
        let text = "\(place): \(severity == .warning ? "warning: " : "")\(message)"
        return hint.map { "\(text) (\($0))" } ?? text
    }
}

/// A place in the files of a configuration; lines and columns count from 1.
package struct SourcePosition: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The number of the file, from 0, in the order in which the files are read.
    package let file: Int
    /// The line.
    package let line: Int
    /// The column, in Unicode code points.
    package let column: Int

    /// Creates a position.
    package init(file: Int = 0, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// The line and the column, as compilers print them.
    package var description: String { "\(line):\(column)" }

    /// Whether the left position is before the right one.
    package static func < (left: SourcePosition, right: SourcePosition) -> Bool {
        (left.file, left.line, left.column) < (right.file, right.line, right.column)
    }
}

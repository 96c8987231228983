import Glibc

/// Collects errors and warnings in the files of a configuration.
package final class DiagnosticCollector {
    /// Maximum number of reported problems; a binary file given by mistake has thousands.
    package static let limit = 500

    private let path: String
    private let files: [String]
    private let settings: Range<Int>
    private var diagnostics: [ConfigurationDiagnostic] = []
    private var omitted = 0
    /// Further files that these files name to be read.
    package private(set) var namedFiles: [String] = []

    /// Creates a collector for a file or folder, and for the texts that positions refer to.
    ///
    /// `files` names the texts; the last `settings` of them are settings of the command line, of one line each.
    package init(path: String, files: [String], settings: Int = 0) {
        self.path = path
        self.files = files
        self.settings = files.count - settings..<files.count
    }

    package func isSetting(_ position: SourcePosition) -> Bool { settings.contains(position.file) }

    /// Adds an error or a warning; its texts are evaluated only below the limit.
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

    /// The files, without the settings of the command line.
    package var readFiles: [String] { Array(files[..<settings.lowerBound]) }

    /// Records a file that one of these files names to be read.
    func add(namedFile path: String) { namedFiles.append(path) }

    /// Appends the errors in another file that one of these files names.
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

    /// The folder to which relative paths in the file of a position refer; it ends with a slash.
    package func folder(of position: SourcePosition) -> String {
        // Relative paths in a setting of the command line refer to the working directory.
        let path = isSetting(position) ? "" : path(of: position)
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        return Self.absolute(folder)
    }

    /// A path from the root, if it is relative to the working directory, and that is still there.
    package static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let current = getcwd(nil, 0) else { return path }
        defer { free(current) }
        return String(cString: current) + "/" + (path.hasPrefix("./") ? String(path.dropFirst(2)) : path)
    }

    /// Whether this is the configuration of the service, which has its own account and sandbox.
    package var isOfService: Bool { path == "/etc/binnacle" || path.hasPrefix("/etc/binnacle/") }

    /// Describes a position in a message at another place.
    package func words(for position: SourcePosition, from place: SourcePosition) -> String {
        if isSetting(position) { return "in \(path(of: position))" }
        return position.file == place.file
            ? "on line \(position.line)" : "at \(path(of: position)):\(position.line)"
    }

    private func path(of position: SourcePosition) -> String {
        files.indices.contains(position.file) ? files[position.file] : path
    }

    private func sorted(_ severity: ConfigurationDiagnostic.Severity) -> [ConfigurationDiagnostic] {
        diagnostics.filter { $0.severity == severity }.sorted { ($0.position, $0.message) < ($1.position, $1.message) }
    }

    /// In the order of the files.
    package var warnings: [ConfigurationDiagnostic] { sorted(.warning) }

    /// All errors in the order of the files; `nil` if there are none.
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
        /// The configuration is rejected.
        case error
        /// The configuration is valid and probably not as intended.
        case warning
    }

    package let path: String
    let position: SourcePosition
    /// Settings of the command line have one line, so only the column is reported.
    let isSetting: Bool
    package let message: String
    /// The remedy, if it is known.
    package var hint: String?
    package var severity = Severity.error

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

    /// From 1.
    package var line: Int { position.line }

    /// From 1.
    package var column: Int { position.column }

    /// `path:line:column: message (hint)`, which editors parse; or `--set TEXT: column N: message (hint)`.
    package var description: String {
        let place = isSetting ? "\(path): column \(column)" : "\(path):\(position)"
        let text = "\(place): \(severity == .warning ? "warning: " : "")\(message)"
        return hint.map { "\(text) (\($0))" } ?? text
    }
}

/// A position in the files of a configuration; lines and columns count from 1.
package struct SourcePosition: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Index of the file, from 0, in the order of reading.
    package let file: Int
    package let line: Int
    /// In Unicode code points.
    package let column: Int

    package init(file: Int = 0, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// As compilers print it.
    package var description: String { "\(line):\(column)" }

    package static func < (left: SourcePosition, right: SourcePosition) -> Bool {
        (left.file, left.line, left.column) < (right.file, right.line, right.column)
    }
}

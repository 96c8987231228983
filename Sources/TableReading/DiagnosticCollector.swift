/// Collects the errors in the files of a configuration.
package final class DiagnosticCollector {
    /// The maximum number of reported errors; a binary file given by mistake has thousands.
    package static let limit = 500

    private let path: String
    private let files: [String]
    private var diagnostics: [ConfigurationDiagnostic] = []
    private var omitted = 0

    /// Creates a collector for a file or folder, and for the files that positions refer to.
    package init(path: String, files: [String]) {
        self.path = path
        self.files = files
    }

    /// Adds an error; its texts are made only when there is room for it.
    package func report(
        at position: SourcePosition, _ message: @autoclosure () -> String, hint: @autoclosure () -> String? = nil
    ) {
        guard diagnostics.count < Self.limit else {
            omitted += 1
            return
        }
        diagnostics.append(
            ConfigurationDiagnostic(
                path: path(of: position), position: position, message: message(), hint: hint()))
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
                    message: diagnostic.message, hint: diagnostic.hint))
        }
    }

    /// A position in words, for a message at another place.
    package func words(for position: SourcePosition, from place: SourcePosition) -> String {
        position.file == place.file ? "on line \(position.line)" : "at \(path(of: position)):\(position.line)"
    }

    private func path(of position: SourcePosition) -> String {
        files.indices.contains(position.file) ? files[position.file] : path
    }

    /// All errors in the order of the files; `nil` when there are none.
    package func error() -> ConfigurationError? {
        guard !diagnostics.isEmpty else { return nil }
        var sorted = diagnostics.sorted { ($0.position, $0.message) < ($1.position, $1.message) }
        if omitted > 0, let last = sorted.last {
            sorted.append(
                ConfigurationDiagnostic(
                    path: last.path, position: last.position, message: "and \(omitted) more problems"))
        }
        return .contents(path: path, sorted)
    }
}

/// An error in a configuration file.
package struct ConfigurationDiagnostic: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file.
    package let path: String
    /// The place of the error.
    let position: SourcePosition
    /// What is wrong.
    package let message: String
    /// What would be right, where that is known.
    package var hint: String?

    /// The line, from 1.
    package var line: Int { position.line }

    /// The column, from 1.
    package var column: Int { position.column }

    /// `path:line:column: message (hint)`, which editors can follow.
    package var description: String {
        let place = "\(path):\(position): \(message)"
        return hint.map { "\(place) (\($0))" } ?? place
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

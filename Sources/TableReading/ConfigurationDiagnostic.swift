/// One thing that is wrong with a configuration file, and where.
package struct ConfigurationDiagnostic: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file, as it was named to the reader.
    package let path: String
    /// Where it is wrong.
    package let position: SourcePosition
    /// What is wrong.
    package let message: String
    /// What would be right, when that can be told.
    package let hint: String?

    /// Creates a diagnostic.
    package init(path: String, position: SourcePosition, message: String, hint: String? = nil) {
        self.path = path
        self.position = position
        self.message = message
        self.hint = hint
    }

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

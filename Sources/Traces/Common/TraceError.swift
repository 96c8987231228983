import PlainText

/// Why a trace cannot be read or written, or only in part.
public struct TraceError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure, for an exit status.
    package enum Category: Sendable {
        /// The file does not exist, or the path is not a file.
        case noInput
        /// The file may not be read.
        case noPermission
        /// The contents are not a usable trace.
        case data
        /// Reading or writing failed.
        case inputOutput
        /// The file cannot be created, for instance because it exists.
        case cannotCreate
    }

    package let category: Category
    package let path: String
    /// The line, from 1, when there is one to name.
    package let line: Int?
    /// The column in the line as a byte, from 1, if there is one.
    package let column: Int?
    /// What is wrong, and what to do about it.
    package let message: String
    /// What opens the file nevertheless, when it is known.
    package let remedy: TraceRemedy?

    package init(
        _ category: Category, path: String, line: Int? = nil, column: Int? = nil, _ message: String,
        remedy: TraceRemedy? = nil
    ) {
        self.category = category
        self.path = path
        self.line = line
        self.column = column
        self.message = message
        self.remedy = remedy
    }

    /// `path:line:column: message`, as compilers write it.
    public var description: String { located(message, path, line, column) }
}

/// A repair or an assumption without which the file could not be read.
package struct TraceNotice: Sendable, Equatable, CustomStringConvertible {
    package let path: String
    /// The line, from 1, if there is one.
    package let line: Int?
    /// The column in the line as a byte, from 1, if there is one.
    package let column: Int?
    /// The repair or assumption, and the reason.
    package let message: String

    /// `path:line:column: message`, as compilers write it.
    package var description: String { located(message, path, line, column) }
}

private func located(_ message: String, _ path: String, _ line: Int?, _ column: Int?) -> String {
    path.printable + (line.map { ":\($0)" } ?? "") + (column.map { ":\($0)" } ?? "") + ": " + message
}

import Binnacle
import PlainText

/// Why a trace cannot be read or written, or not any further.
public struct TraceError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of trouble, for an exit status.
    public enum Category: Sendable {
        /// There is no such file, or it is none.
        case noInput
        /// The file may not be read.
        case noPermission
        /// The contents are no usable trace.
        case data
        /// The device under the file failed.
        case inputOutput
        /// The file cannot be made, for instance because there is one of that name.
        case cannotCreate
    }

    /// The kind of trouble.
    public let category: Category
    /// The file.
    public let path: String
    /// The line, from 1, when there is one to name.
    public let line: Int?
    /// The column in the line as a byte, from 1, when there is one to name.
    public let column: Int?
    /// What is wrong, and what to do about it.
    public let message: String

    /// Creates an error.
    public init(_ category: Category, path: String, line: Int? = nil, column: Int? = nil, _ message: String) {
        self.category = category
        self.path = path
        self.line = line
        self.column = column
        self.message = message
    }

    /// `path:line:column: message`, as compilers write it.
    public var description: String { TracePlace.text(path, line, column) + ": " + message }
}

/// A repair or an assumption that was made to go on reading.
public struct TraceNotice: Sendable, Equatable, CustomStringConvertible {
    /// The file.
    public let path: String
    /// The line, from 1, when there is one to name.
    public let line: Int?
    /// The column in the line as a byte, from 1, when there is one to name.
    public let column: Int?
    /// What was done, and why.
    public let message: String

    /// `path:line:column: message`, as compilers write it.
    public var description: String { TracePlace.text(path, line, column) + ": " + message }
}

enum TracePlace {
    static func text(_ path: String, _ line: Int?, _ column: Int?) -> String {
        path.printable + (line.map { ":\($0)" } ?? "") + (column.map { ":\($0)" } ?? "")
    }
}

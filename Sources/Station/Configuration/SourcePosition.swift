/// A place in a configuration file; lines and columns count from 1.
package struct SourcePosition: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The line.
    package let line: Int
    /// The column, in Unicode code points.
    package let column: Int

    /// The beginning of a file.
    package static let start = SourcePosition(line: 1, column: 1)

    /// Creates a position.
    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// The line and the column, as compilers print them.
    package var description: String { "\(line):\(column)" }

    /// Whether the left position stands before the right one.
    package static func < (left: SourcePosition, right: SourcePosition) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

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

    /// Whether the left position stands before the right one.
    package static func < (left: SourcePosition, right: SourcePosition) -> Bool {
        (left.file, left.line, left.column) < (right.file, right.line, right.column)
    }
}

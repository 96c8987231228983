/// A table of text: the first column is set to the left, the others to the right.
package struct TextTable {
    private let head: [String]
    private var rows: [[String]] = []

    /// Begins a table with the words above its columns.
    package init(_ head: [String]) {
        self.head = head
    }

    /// Adds a row; what is missing at its end stays empty.
    package mutating func add(_ row: [String]) {
        precondition(row.count <= head.count, "a row of \(row.count) in a table of \(head.count) columns")
        rows.append(row + Array(repeating: "", count: head.count - row.count))
    }

    /// The table, line by line; no line ends with a blank.
    package var lines: [String] {
        let all = [head] + rows
        let widths = head.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                let blanks = String(repeating: " ", count: widths[column] - cell.count)
                line += column == 0 ? cell + blanks : "  " + blanks + cell
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}

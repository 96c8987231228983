import ArrowStream
import Binnacle
import PlainText

/// A small table of results, written as text, CSV, JSON or an Arrow stream.
package struct ResultTable {
    package enum Value: Equatable {
        case text(String)
        case integer(Int64)
        case number(Double, decimals: Int)
        case missing

        /// The value in text and CSV.
        fileprivate var shown: String? {
            switch self {
            case .text(let text): text
            case .integer(let value): String(value)
            case .number(let value, _) where !value.isFinite: nil
            case .number(let value, let decimals): value.text(decimals)
            case .missing: nil
            }
        }
    }

    package enum Form: String, CaseIterable {
        case text, csv, json, arrow
    }

    private let columns: [String]
    private let rows: [[Value]]

    package init(_ columns: [String], _ rows: [[Value]]) {
        self.columns = columns
        self.rows = rows
    }

    package func bytes(_ form: Form) -> [UInt8] {
        switch form {
        case .text: Array(text.utf8)
        case .csv:
            Array(
                ([columns] + rows.map { $0.map { $0.shown ?? "" } }).map { row in
                    row.map(Self.quoted).joined(separator: ",") + "\n"
                }.joined().utf8)
        case .json: Array(rows.map { object($0) + "\n" }.joined().utf8)
        case .arrow: arrow
        }
    }

    /// Aligned columns, numbers to the right.
    private var text: String {
        let cells = [columns] + rows.map { $0.map { $0.shown?.printable ?? "-" } }
        let widths = columns.indices.map { place in cells.map { $0[place].count }.max() ?? 0 }
        return cells.map { row in
            let words = row.indices.map { place in
                let space = String(repeating: " ", count: widths[place] - row[place].count)
                return isText(place) ? row[place] + space : space + row[place]
            }
            var line = words.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line + "\n"
        }.joined()
    }

    private func object(_ row: [Value]) -> String {
        var object = JSONObject()
        for (name, value) in zip(columns, row) {
            var json = value.shown ?? "null"
            if case .text(let text) = value { json = JSONObject.quoted(text) }
            object.add(name: name, raw: json)
        }
        return object.text
    }

    private var arrow: [UInt8] {
        var made = columns.indices.map { place in
            let isWhole = !rows.contains { if case .number = $0[place] { true } else { false } }
            return ArrowColumn(
                .init(
                    name: columns[place], type: isText(place) ? .text : isWhole ? .int64 : .float64, isNullable: true))
        }
        var message = ArrowMessageWriter()
        var bytes = message.schema(made.map(\.field), metadata: [])
        for (number, row) in rows.enumerated() {
            for (place, value) in row.enumerated() {
                switch value {
                case .text(let text): made[place].set(text, at: number)
                case .integer(let value): made[place].set(value, at: number)
                case .number(let value, let decimals):
                    made[place].set(EventTable.rounded(value, decimals: decimals), at: number)
                case .missing: break
                }
            }
        }
        if !rows.isEmpty { bytes += message.batch(&made, rowCount: rows.count) }
        return bytes + ArrowMessageWriter.end
    }

    private func isText(_ place: Int) -> Bool { rows.contains { if case .text = $0[place] { true } else { false } } }

    /// A field of CSV, in quotes where it needs them (RFC 4180).
    private static func quoted(_ text: String) -> String {
        text.contains { ",\"\n\r".contains($0) }
            ? "\"" + text.replacing("\"", with: "\"\"") + "\"" : text
    }
}

extension ArrowMessageWriter {
    /// A record batch of columns, which are emptied; the dictionaries of texts that it needs come before it.
    mutating func batch(_ columns: inout [ArrowColumn], rowCount: Int) -> [UInt8] {
        var nodes: [(Int64, Int64)] = []
        var bufferCounts: [Int] = []
        for index in columns.indices {
            let (own, counts) = columns[index].finish(rowCount)
            nodes += own
            bufferCounts += counts
        }
        var written: [UInt8] = []
        for index in columns.indices where columns[index].beginDictionary(of: index, in: &self) { written += bytes }
        beginBatch(rowCount: rowCount, nodes: nodes, bufferCounts: bufferCounts)
        for index in columns.indices {
            columns[index].add(to: &self)
            columns[index].removeAll()
        }
        return written + bytes
    }
}

import Binnacle
import PlainText

/// The figures of one measurement: a row of a table, and a JSON object.
struct FigureRow {
    private var cells: [(head: String, text: String)] = []
    var object = JSONObject()

    init(type: String) {
        object.add("type", type)
    }

    /// Adds a text; as in the other methods, a value without a head is only in the object.
    mutating func add(_ key: String, _ text: String, head: String? = nil) {
        object.add(key, text)
        if let head { cells.append((head, text)) }
    }

    mutating func add(_ key: String, count: Int, head: String? = nil) {
        object.add(key, raw: String(count))
        if let head { cells.append((head, String(count))) }
    }

    mutating func add(_ key: String, number: Double?, decimals: Int = 0, head: String? = nil) {
        object.add(key, number: number)
        if let head { cells.append((head, number.map { $0.text(decimals) } ?? "")) }
    }

    mutating func add(_ key: String, nanoseconds: Spread) {
        let median = nanoseconds.median
        add(key, number: median, decimals: median < 1 ? 3 : median < 10 ? 2 : median < 100 ? 1 : 0, head: "ns")
        object.add(key + "_min", number: nanoseconds.minimum)
        object.add(key + "_max", number: nanoseconds.maximum)
        cells.append(("spread", "+\(((nanoseconds.medianToBest - 1) * 100).text(0)) %"))
    }

    /// Formats rows as a table whose first column is left-aligned and the others right-aligned.
    static func table(_ rows: [FigureRow]) -> [String] {
        let all = [rows.first?.cells.map(\.head) ?? []] + rows.map { $0.cells.map(\.text) }
        let widths = all[0].indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { row in
            row.indices.map { column in
                let blanks = String(repeating: " ", count: widths[column] - row[column].count)
                return column == 0 ? row[column] + blanks : blanks + row[column]
            }.joined(separator: "  ")
        }
    }
}

enum NumberText {
    /// A size in the largest unit that is not larger.
    static func bytes(_ count: Int) -> String {
        for (size, name) in [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")] where count >= size {
            return (Double(count) / Double(size)).text(count.isMultiple(of: size) ? 0 : 1) + " " + name
        }
        return "\(count) B"
    }
}

extension JSONObject {
    /// Adds a number, rounded to a millionth; null for `nil`.
    mutating func add(_ key: String, number value: Double?) {
        add(key, raw: value.map { $0.text(6) } ?? "null")
    }
}

/// The schema of an Arrow stream: its columns with their places in a record batch, and its metadata.
package struct ArrowSchema {
    /// A column's indices among the nodes and buffers of a record batch.
    package struct Column {
        package let name: String
        package let node: Int
        /// The index of its first buffer, the validity, if no column before it has variadic buffers.
        package let buffer: Int
        /// The number of columns before it with variadic buffers.
        package let viewsBefore: Int
    }

    /// The columns in their order.
    package private(set) var columns: [(field: ArrowField, column: Column)] = []
    package private(set) var nodeCount = 0
    /// The number of columns with variadic buffers.
    package private(set) var viewCount = 0
    /// The numbers of the dictionaries, which hold the values of columns in messages of their own.
    package private(set) var dictionaries: Set<Int64> = []
    /// The schema's metadata; of two equal keys the last counts.
    package let metadata: [String: String]

    private static let mostFields = 10_000
    private static let mostPairs = 100_000
    private static let longestText = 1 << 20
    /// Of all pairs: many may refer to the same bytes.
    private static let mostBytes = 16 << 20

    /// Reads a `Schema`; throws ``ArrowFault`` when it is invalid or lacks a column.
    package init(_ table: FlatTable, version: Int) throws(ArrowFault) {
        metadata = try Self.metadata(table, field: 2)
        guard try table.integer(0, default: Int16(0)) == 0 else {
            throw ArrowFault("its numbers are big-endian: write it on a machine that is not")
        }
        let fields = try table.tables(1)
        var (budget, buffer) = (Self.mostFields, 0)
        for index in 0..<fields.count {
            let field = try ArrowField(fields.table(index), version: version, budget: &budget)
            columns.append((field, Column(name: field.name, node: nodeCount, buffer: buffer, viewsBefore: viewCount)))
            nodeCount += field.nodeCount
            buffer += field.bufferCount
            viewCount += field.viewCount
            dictionaries.formUnion(field.dictionaries)
        }
    }

    /// The only column of that name, which has to be of that type; `shown` names the columns for a message.
    package func column(
        _ name: String, _ kind: ArrowField.Kind, _ typeName: String, hint: String = "", shown: ([String]) -> String
    ) throws(ArrowFault) -> Column {
        let found = columns.filter { $0.field.name == name }
        guard let first = found.first else {
            let names = columns.isEmpty ? "none" : shown(columns.map(\.field.name))
            throw ArrowFault("has no column '\(name)' (\(typeName)); found \(names)\(columns.isEmpty ? "" : hint)")
        }
        guard found.count == 1 else { throw ArrowFault("has \(found.count) columns '\(name)': leave one") }
        guard first.field.kind == kind else {
            throw ArrowFault("column '\(name)' is \(first.field.typeName): cast it to \(typeName)")
        }
        return first.column
    }

    /// Reads the key-value pairs in a field of a schema or a message.
    package static func metadata(_ table: FlatTable, field: Int) throws(ArrowFault) -> [String: String] {
        let pairs = try table.tables(field)
        guard pairs.count <= mostPairs else { throw .damaged }
        var metadata: [String: String] = [:]
        var byteCount = 0
        for index in 0..<pairs.count {
            let pair = try pairs.table(index)
            guard let key = try pair.string(0, limit: longestText) else { continue }
            let value = try pair.string(1, limit: longestText) ?? ""
            byteCount += key.utf8.count + value.utf8.count
            guard byteCount <= mostBytes else { throw .damaged }
            metadata[key] = value
        }
        return metadata
    }
}

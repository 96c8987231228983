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
    package let columns: [(field: ArrowField, column: Column)]
    package let nodeCount: Int
    /// The number of columns with variadic buffers.
    package let viewCount: Int
    /// The numbers of the dictionaries, which hold the values of columns in messages of their own.
    package let dictionaries: Set<Int64>
    /// The schema's metadata; of two equal keys the last counts.
    package let metadata: [String: String]

    private static let mostFields = 10_000
    private static let mostPairs = 100_000
    private static let longestText = 1 << 20

    /// Reads a `Schema`; throws ``ArrowFault`` when it is invalid or lacks a column.
    package init(_ table: FlatTable, version: Int) throws(ArrowFault) {
        metadata = try Self.metadata(table, field: 2)
        guard try table.integer(0, default: Int16(0)) == 0 else {
            throw ArrowFault("its numbers are big-endian: write it on a machine that is not")
        }
        let fields = try Self.fields(table, version: version)
        var columns: [(field: ArrowField, column: Column)] = []
        var (node, buffer, views) = (0, 0, 0)
        for field in fields {
            columns.append((field, Column(name: field.name, node: node, buffer: buffer, viewsBefore: views)))
            node += field.nodeCount
            buffer += field.bufferCount
            views += field.viewCount
        }
        dictionaries = Set(fields.flatMap(\.dictionaries))
        nodeCount = node
        viewCount = views
        self.columns = columns
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

    private static func fields(_ table: FlatTable, version: Int) throws(ArrowFault) -> [ArrowField] {
        var budget = mostFields
        let list = try table.tables(1)
        var fields: [ArrowField] = []
        for index in 0..<list.count {
            fields.append(try ArrowField(list.table(index), version: version, budget: &budget))
        }
        return fields
    }

    /// Reads the key-value pairs in a field of a schema or a message.
    package static func metadata(_ table: FlatTable, field: Int) throws(ArrowFault) -> [String: String] {
        let pairs = try table.tables(field)
        guard pairs.count <= mostPairs else { throw .damaged }
        var metadata: [String: String] = [:]
        for index in 0..<pairs.count {
            let pair = try pairs.table(index)
            guard let key = try pair.string(0, limit: longestText) else { continue }
            metadata[key] = try pair.string(1, limit: longestText) ?? ""
        }
        return metadata
    }
}

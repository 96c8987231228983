/// One column of an Arrow schema, with what has to be known to find it, or to step over it, in a record batch.
///
/// Source: Arrow, format/Schema.fbs and docs "Arrow Columnar Format".
struct ArrowField {
    /// The types that columns of samples have.
    enum Kind: Equatable {
        case uint8, int64, float32, binary
        case other
    }

    let name: String
    let kind: Kind
    /// The type as tools call it.
    let typeName: String
    /// The nodes of this column and its children.
    let nodeCount: Int
    /// The buffers of this column and its children, apart from those that a batch counts itself.
    let bufferCount: Int
    /// How many of this column and its children have a number of buffers that each batch says.
    let viewCount: Int

    private static let longestName = 65_536
    private static let mostLevels = 64

    /// Reads a field.
    ///
    /// - Parameters:
    ///   - table: A `Field`.
    ///   - version: The metadata's version.
    ///   - budget: How many fields may still be read; a schema whose fields refer to each other would never end.
    ///   - level: How deep the field lies.
    /// - Throws: ``ArrowFault`` when it is none.
    init(_ table: FlatTable, version: Int, budget: inout Int, level: Int = 0) throws(ArrowFault) {
        budget -= 1
        guard budget >= 0, level < Self.mostLevels else { throw .damaged }
        name = try table.string(0, limit: Self.longestName) ?? ""
        let layout = try ArrowLayout(table, version: version)
        var nodes = 1
        var buffers = layout.bufferCount
        var views = layout.isView ? 1 : 0
        if layout.hasChildren {
            let children = try table.tables(5)
            for index in 0..<children.count {
                let child = try ArrowField(
                    children.table(index), version: version, budget: &budget, level: level + 1)
                nodes += child.nodeCount
                buffers += child.bufferCount
                views += child.viewCount
            }
        }
        kind = layout.kind
        typeName = layout.name
        nodeCount = nodes
        bufferCount = buffers
        viewCount = views
    }
}

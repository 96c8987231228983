/// A column of an Arrow schema, with the numbers needed to find or skip it in a record batch.
///
/// Source: Arrow, format/Schema.fbs and docs "Arrow Columnar Format".
package struct ArrowField {
    package enum Kind: Equatable {
        case uint8, int64, float32, binary
        case other
    }

    package let name: String
    package let kind: Kind
    /// The type's name in Arrow's documentation, for messages.
    package let typeName: String
    /// The nodes of this column and its children.
    package private(set) var nodeCount = 1
    /// The buffers of this column and its children, except the variadic ones.
    package private(set) var bufferCount: Int
    /// The number of columns with variadic buffers among this one and its children; each batch stores the number of these
    /// buffers.
    package private(set) var viewCount: Int
    /// The numbers of the dictionaries, in messages of their own, with the values of this column and its children.
    package private(set) var dictionaries: [Int64] = []

    // There may be ten thousand fields with the same name.
    private static let longestName = 4096
    private static let mostLevels = 64

    /// Reads a `Field`; the budget is the number of fields that may still be read, because those of a hostile schema may
    /// refer to each other.
    package init(_ table: FlatTable, version: Int, budget: inout Int, level: Int = 0) throws(ArrowFault) {
        budget -= 1
        guard budget >= 0, level < Self.mostLevels else { throw .damaged }
        name = try table.string(0, limit: Self.longestName) ?? ""
        let layout = try ArrowLayout(table, version: version)
        kind = layout.kind
        typeName = layout.name
        bufferCount = layout.bufferCount
        viewCount = layout.isView ? 1 : 0
        if let encoding = try table.table(4) { dictionaries.append(try encoding.integer(0, default: Int64(0))) }
        if layout.hasChildren {
            let children = try table.tables(5)
            for index in 0..<children.count {
                let child = try ArrowField(
                    children.table(index), version: version, budget: &budget, level: level + 1)
                nodeCount += child.nodeCount
                bufferCount += child.bufferCount
                viewCount += child.viewCount
                dictionaries += child.dictionaries
            }
        }
    }
}

/// A type's name, and the buffers that a column of it has without its children.
private struct ArrowLayout {
    let name: String
    private(set) var kind = ArrowField.Kind.other
    private(set) var bufferCount = 2
    var isView = false
    var hasChildren = false
}

extension ArrowLayout {
    /// The first version of the metadata in which unions have no validity buffer.
    private static let version5 = 4

    /// Reads the type of a `Field`; throws ``ArrowFault`` for an unknown one.
    init(_ field: FlatTable, version: Int) throws(ArrowFault) {
        if try field.has(4) {
            // Record batches hold the indices, dictionary batches the values.
            self.init(name: "dictionary")
            return
        }
        guard let type = try field.table(3) else { throw .damaged }
        switch try field.integer(2, default: UInt8(0)) {
        case 1: self.init(name: "null", bufferCount: 0)
        case 2:
            let bits = try type.integer(0, default: Int32(0))
            let isSigned = try type.integer(1, default: UInt8(0)) != 0
            let kind: ArrowField.Kind = bits == 8 && !isSigned ? .uint8 : bits == 64 && isSigned ? .int64 : .other
            self.init(name: "\(isSigned ? "" : "u")int\(bits)", kind: kind)
        case 3:
            let bits = 16 << Int(min(2, max(0, try type.integer(0, default: Int16(0)))))
            self.init(name: "float\(bits)", kind: bits == 32 ? .float32 : .other)
        case 4: self.init(name: "binary", kind: .binary, bufferCount: 3)
        case 5: self.init(name: "string", bufferCount: 3)
        case 6: self.init(name: "bool")
        case 7: self.init(name: "decimal")
        case 8: self.init(name: "date")
        case 9: self.init(name: "time")
        case 10: self.init(name: "timestamp")
        case 11: self.init(name: "interval")
        case 12: self.init(name: "list", hasChildren: true)
        case 13: self.init(name: "struct", bufferCount: 1, hasChildren: true)
        case 14:
            let isDense = try type.integer(0, default: Int16(0)) == 1
            self.init(
                name: "union", bufferCount: (isDense ? 2 : 1) + (version < Self.version5 ? 1 : 0), hasChildren: true)
        case 15: self.init(name: "fixed_size_binary")
        case 16: self.init(name: "fixed_size_list", bufferCount: 1, hasChildren: true)
        case 17: self.init(name: "map", hasChildren: true)
        case 18: self.init(name: "duration")
        case 19: self.init(name: "large_binary", bufferCount: 3)
        case 20: self.init(name: "large_string", bufferCount: 3)
        case 21: self.init(name: "large_list", hasChildren: true)
        case 22: self.init(name: "run_end_encoded", bufferCount: 0, hasChildren: true)
        case 23: self.init(name: "binary_view", isView: true)
        case 24: self.init(name: "string_view", isView: true)
        case 25: self.init(name: "list_view", bufferCount: 3, hasChildren: true)
        case 26: self.init(name: "large_list_view", bufferCount: 3, hasChildren: true)
        default: throw .damaged
        }
    }
}

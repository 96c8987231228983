/// Writes the messages of an Arrow stream: a schema, then record batches, and the dictionaries of their columns before them.
///
/// Every message, and every buffer in it, takes a multiple of 64 bytes. The columns are therefore aligned to 64 bytes, in the
/// file and where it is mapped.
///
/// Source: Arrow, format/Message.fbs, format/Schema.fbs, and "Arrow Columnar Format".
package struct ArrowMessageWriter {
    /// A column of a schema.
    package struct Field {
        package let name: String
        package let type: FieldType
        package var isNullable = false

        package init(name: String, type: FieldType, isNullable: Bool = false) {
            self.name = name
            self.type = type
            self.isNullable = isNullable
        }
    }

    /// The types of columns that are written.
    package enum FieldType {
        case uint8, int64, float32, float64, boolean, binary, text
        /// Texts, each by its place in a dictionary, whose number is that of the column.
        case dictionary
        /// A map from texts to whole numbers.
        case counts
    }

    /// The message that was begun last.
    package private(set) var bytes: [UInt8] = []
    private var flat = FlatWriter()

    private static let alignment = 64
    /// The offset of the metadata, after the continuation mark and the length.
    private static let prefixCount = 8
    private static let version5 = FlatWriter.Field.short(4)

    package init() {}

    /// The end-of-stream marker.
    package static let end: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0]

    /// Returns the message that begins a stream.
    package mutating func schema(_ fields: [Field], metadata: [(String, String)] = []) -> [UInt8] {
        let references = beginMessage(ArrowMessage.Header.schema, bodyLength: 0, hasMetadata: false)
        let schema = flat.table([.short(0), .reference, .reference, .none], for: references[0])
        addFields(fields, for: schema[0])
        addMetadata(metadata, for: schema[1])
        endMetadata()
        return bytes
    }

    /// Begins a record batch, whose buffers follow in order; a node is the number of values of a column or child, and of its
    /// nulls.
    package mutating func beginBatch(
        rowCount: Int, nodes: [(Int64, Int64)], bufferCounts: [Int], metadata: [(String, String)] = []
    ) {
        let (buffers, length) = Self.buffers(bufferCounts)
        let references = beginMessage(ArrowMessage.Header.batch, bodyLength: length, hasMetadata: !metadata.isEmpty)
        addBatch(rowCount, nodes, buffers, for: references[0])
        if !metadata.isEmpty { addMetadata(metadata, for: references[1]) }
        endMetadata()
        bytes.reserveCapacity(bytes.count + length)
    }

    /// Begins the values of a column's dictionary, which replace the earlier ones; their buffers follow in order.
    package mutating func beginDictionary(of column: Int, valueCount: Int, bufferCounts: [Int]) {
        let (buffers, length) = Self.buffers(bufferCounts)
        let references = beginMessage(ArrowMessage.Header.dictionary, bodyLength: length, hasMetadata: false)
        let dictionary = flat.table([.long(Int64(column)), .reference, .byte(0)], for: references[0])
        addBatch(valueCount, [(Int64(valueCount), 0)], buffers, for: dictionary[0])
        endMetadata()
    }

    private static func buffers(_ bufferCounts: [Int]) -> (places: [(Int64, Int64)], length: Int) {
        var buffers: [(Int64, Int64)] = []
        buffers.reserveCapacity(bufferCounts.count)
        var length = 0
        for count in bufferCounts {
            buffers.append((Int64(length), Int64(count)))
            length += Self.roundUp(count)
        }
        return (buffers, length)
    }

    private mutating func addBatch(
        _ rowCount: Int, _ nodes: [(Int64, Int64)], _ buffers: [(Int64, Int64)], for reference: FlatWriter.Reference
    ) {
        let batch = flat.table([.long(Int64(rowCount)), .reference, .reference, .none, .none], for: reference)
        flat.vector(nodes, for: batch[0])
        flat.vector(buffers, for: batch[1])
    }

    /// Adds the batch's next buffer; an empty one needs no call.
    package mutating func addBuffer(_ buffer: UnsafeRawBufferPointer) {
        bytes.append(contentsOf: buffer)
        pad()
    }

    /// Adds the batch's next buffer, filled with one byte value.
    package mutating func addBuffer(of byte: UInt8, count: Int) {
        bytes.append(contentsOf: repeatElement(byte, count: count))
        pad()
    }

    /// Adds numbers as the batch's next buffer; all supported architectures are little-endian, as Arrow is.
    package mutating func addBuffer(_ numbers: [some FixedWidthInteger]) {
        numbers.withUnsafeBytes { addBuffer($0) }
    }

    // MARK: - Metadata

    /// Writes the message table, and returns the references to its header and, if it has any, to its metadata.
    private mutating func beginMessage(_ header: UInt8, bodyLength: Int, hasMetadata: Bool) -> [FlatWriter.Reference] {
        let root = flat.begin()
        return flat.table(
            [
                Self.version5, .byte(header), .reference, .long(Int64(bodyLength)),
                hasMetadata ? .reference : .none,
            ], for: root)
    }

    private mutating func addFields(_ fields: [Field], for reference: FlatWriter.Reference) {
        for (column, (field, place)) in zip(fields, flat.vector(of: fields.count, for: reference)).enumerated() {
            let type = field.type
            let dictionary: Int? = if case .dictionary = type { column } else { nil }
            addField(field.name, type.number, type.details, dictionary, isNullable: field.isNullable, for: place) {
                writer, children in
                guard case .counts = type else { return _ = writer.flat.vector(of: 0, for: children) }
                let entries = writer.flat.vector(of: 1, for: children)[0]
                writer.addField("entries", FieldType.structNumber, [], nil, isNullable: false, for: entries) {
                    writer, pair in
                    writer.addFields(
                        [Field(name: "key", type: .text), Field(name: "value", type: .int64, isNullable: true)],
                        for: pair)
                }
            }
        }
    }

    private mutating func addField(
        _ name: String, _ number: UInt8, _ details: [FlatWriter.Field], _ dictionary: Int?, isNullable: Bool,
        for reference: FlatWriter.Reference,
        children: (inout ArrowMessageWriter, FlatWriter.Reference) -> Void
    ) {
        // name, nullable, type, the type's table, dictionary, children, metadata
        let references = flat.table(
            [
                .reference, .byte(isNullable ? 1 : 0), .byte(number), .reference,
                dictionary == nil ? .none : .reference,
                .reference, .none,
            ], for: reference)
        flat.string(name, for: references[0])
        _ = flat.table(details, for: references[1])
        if let dictionary {
            // Its number, and the type of the places in it.
            let places = flat.table([.long(Int64(dictionary)), .reference, .none, .none], for: references[2])
            _ = flat.table([.int(32), .byte(1)], for: places[0])
        }
        children(&self, references[dictionary == nil ? 2 : 3])
    }

    private mutating func addMetadata(_ pairs: [(String, String)], for reference: FlatWriter.Reference) {
        let references = flat.vector(of: pairs.count, for: reference)
        for ((key, value), reference) in zip(pairs, references) {
            let pair = flat.table([.reference, .reference], for: reference)
            flat.string(key, for: pair[0])
            flat.string(value, for: pair[1])
        }
    }

    /// Starts the message with the metadata, padded so that the body is aligned.
    private mutating func endMetadata() {
        let length = Self.roundUp(Self.prefixCount + flat.bytes.count) - Self.prefixCount
        bytes.removeAll(keepingCapacity: true)
        for number in [ArrowMessage.continuation, UInt32(length)] {
            withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
        }
        bytes.append(contentsOf: flat.bytes)
        pad()
    }

    private mutating func pad() {
        bytes.append(contentsOf: repeatElement(0, count: Self.roundUp(bytes.count) - bytes.count))
    }

    package static func roundUp(_ count: Int) -> Int { (count + alignment - 1) / alignment * alignment }
}

extension ArrowMessageWriter.FieldType {
    fileprivate static let structNumber: UInt8 = 13

    fileprivate var number: UInt8 {
        switch self {
        case .uint8, .int64: 2
        case .float32, .float64: 3
        case .binary: 4
        case .text, .dictionary: 5
        case .boolean: 6
        case .counts: 17
        }
    }

    fileprivate var details: [FlatWriter.Field] {
        switch self {
        case .uint8: [.int(8), .byte(0)]
        case .int64: [.int(64), .byte(1)]
        case .float32: [.short(1)]
        case .float64: [.short(2)]
        case .counts: [.byte(0)]
        case .boolean, .binary, .text, .dictionary: []
        }
    }
}

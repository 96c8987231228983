/// The values of a column for one record batch, row by row; rows that are left out are null.
package struct ArrowColumn {
    package let field: ArrowMessageWriter.Field
    private var rowCount = 0
    private var valueCount = 0
    /// A bit for each row that has a value.
    private var validity: [UInt8] = []
    /// The values of numbers, as bits.
    private var words: [UInt64] = []
    private var bits: [UInt8] = []
    /// The ends of texts and of counts.
    private var ends: [Int32] = [0]
    private var text: [UInt8] = []
    /// The ends of the keys of counts, and their values.
    private var keyEnds: [Int32] = [0]
    /// The places of the texts of a dictionary, of this batch alone, so that it stays small.
    private var places: [String: Int32] = [:]
    private var indices: [Int32] = []
    /// The texts of the dictionary that was written last; `nil` before the first.
    private var writtenTexts: (text: [UInt8], ends: [Int32])?

    package init(_ field: ArrowMessageWriter.Field) {
        self.field = field
    }

    package mutating func set(_ value: Int64, at row: Int) {
        begin(row)
        words.append(UInt64(bitPattern: value))
    }

    /// Sets a number; one that is not finite is null.
    package mutating func set(_ value: Double, at row: Int) {
        guard value.isFinite else { return }
        begin(row)
        words.append(value.bitPattern)
    }

    package mutating func set(_ value: String, at row: Int) {
        begin(row)
        guard case .dictionary = field.type else { return append(value) }
        let index = places[value] ?? Int32(places.count)
        if index == places.count {
            places[value] = index
            append(value)
        }
        indices.append(index)
    }

    private mutating func append(_ value: String) {
        text.append(contentsOf: value.utf8)
        ends.append(Int32(text.count))
    }

    /// Writes the dictionary of the batch as a message, when it is not the one that was written last; after ``finish(_:)``.
    package mutating func beginDictionary(of column: Int, in message: inout ArrowMessageWriter) -> Bool {
        guard case .dictionary = field.type, writtenTexts.map({ $0 != (text, ends) }) ?? true else { return false }
        message.beginDictionary(of: column, valueCount: places.count, bufferCounts: [0, 4 * ends.count, text.count])
        message.addBuffer(ends)
        message.addBuffer(text)
        writtenTexts = (text, ends)
        return true
    }

    package mutating func set(_ value: Bool, at row: Int) {
        begin(row)
        Self.mark(row, in: &bits, value)
    }

    /// Sets whole numbers by texts.
    package mutating func set(_ counts: [(key: String, value: Int64)], at row: Int) {
        begin(row)
        for (key, value) in counts {
            text.append(contentsOf: key.utf8)
            keyEnds.append(Int32(text.count))
            words.append(UInt64(bitPattern: value))
        }
        ends.append(Int32(words.count))
    }

    /// Ends the column after `count` rows, and returns its nodes and the sizes of its buffers.
    package mutating func finish(_ count: Int) -> (nodes: [(Int64, Int64)], bufferCounts: [Int]) {
        complete(to: count)
        let nullCount = Int64(count - valueCount)
        if valueCount == count { validity.removeAll(keepingCapacity: true) } else { Self.extend(&validity, to: count) }
        let own = (Int64(count), nullCount)
        switch field.type {
        case .text: return ([own], [validity.count, 4 * ends.count, text.count])
        case .dictionary: return ([own], [validity.count, 4 * indices.count])
        case .boolean:
            Self.extend(&bits, to: count)
            return ([own], [validity.count, bits.count])
        case .counts:
            let entry = (Int64(words.count), Int64(0))
            return (
                [own, entry, entry, entry],
                [validity.count, 4 * ends.count, 0, 0, 4 * keyEnds.count, text.count, 0, 8 * words.count]
            )
        default: return ([own], [validity.count, 8 * words.count])
        }
    }

    package func add(to message: inout ArrowMessageWriter) {
        message.addBuffer(validity)
        switch field.type {
        case .text:
            message.addBuffer(ends)
            message.addBuffer(text)
        case .dictionary: message.addBuffer(indices)
        case .boolean: message.addBuffer(bits)
        case .counts:
            message.addBuffer(ends)
            message.addBuffer(keyEnds)
            message.addBuffer(text)
            message.addBuffer(words)
        default: message.addBuffer(words)
        }
    }

    /// Removes all rows, and keeps the memory.
    package mutating func removeAll() {
        (rowCount, valueCount) = (0, 0)
        validity.removeAll(keepingCapacity: true)
        words.removeAll(keepingCapacity: true)
        bits.removeAll(keepingCapacity: true)
        text.removeAll(keepingCapacity: true)
        ends.removeSubrange(1...)
        keyEnds.removeSubrange(1...)
        places.removeAll(keepingCapacity: true)
        indices.removeAll(keepingCapacity: true)
    }

    private mutating func begin(_ row: Int) {
        complete(to: row)
        Self.mark(row, in: &validity, true)
        valueCount += 1
        rowCount = row + 1
    }

    /// Adds rows without a value.
    private mutating func complete(to count: Int) {
        let missing = count - rowCount
        guard missing > 0 else { return }
        switch field.type {
        case .text, .counts: ends.append(contentsOf: repeatElement(ends[ends.count - 1], count: missing))
        case .boolean: break
        case .dictionary: indices.append(contentsOf: repeatElement(0, count: missing))
        default: words.append(contentsOf: repeatElement(0, count: missing))
        }
        rowCount = count
    }

    private static func mark(_ row: Int, in bits: inout [UInt8], _ value: Bool) {
        extend(&bits, to: row + 1)
        if value { bits[row / 8] |= 1 << UInt8(row % 8) }
    }

    private static func extend(_ bits: inout [UInt8], to count: Int) {
        let missing = (count + 7) / 8 - bits.count
        if missing > 0 { bits.append(contentsOf: repeatElement(0, count: missing)) }
    }
}

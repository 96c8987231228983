/// Writes a FlatBuffer from its root: a table first, then the objects to which it refers.
struct FlatWriter {
    enum Field {
        case none
        case byte(UInt8)
        case short(Int16)
        case int(Int32)
        case long(Int64)
        /// A table, vector or text that is written later.
        case reference

        fileprivate var size: Int {
            switch self {
            case .none: 0
            case .byte: 1
            case .short: 2
            case .int, .reference: 4
            case .long: 8
            }
        }
    }

    struct Reference {
        fileprivate let position: Int
    }

    private(set) var bytes: [UInt8] = []

    /// Starts a buffer, and returns the reference to its root.
    mutating func begin() -> Reference {
        bytes.removeAll(keepingCapacity: true)
        return reference()
    }

    /// Writes a table of fields in the order of their numbers, and returns those that are references.
    mutating func table(_ fields: [Field], for referrer: Reference) -> [Reference] {
        pad(to: 8)
        // The vtable comes first; the table after it begins where its fields can be aligned to 8.
        let slotBytes = 4 + 2 * fields.count
        let slots = bytes.count + (8 - slotBytes % 8) % 8
        let position = slots + slotBytes
        bytes.append(contentsOf: repeatElement(0, count: position - bytes.count))
        append(Int32(slotBytes))
        var offsets = Array(repeating: 0, count: fields.count)
        var references: [(field: Int, Reference)] = []
        // The reference to the vtable takes 4 bytes; then the widest fields come first, so that there are no gaps.
        for size in [4, 8, 2, 1] {
            for (number, field) in fields.enumerated() where field.size == size {
                pad(to: size)
                offsets[number] = bytes.count - position
                switch field {
                case .none: break
                case .byte(let value): bytes.append(value)
                case .short(let value): append(value)
                case .int(let value): append(value)
                case .long(let value): append(value)
                case .reference: references.append((number, reference()))
                }
            }
        }
        bytes.put(UInt16(slotBytes), at: slots)
        bytes.put(UInt16(bytes.count - position), at: slots + 2)
        for (number, offset) in offsets.enumerated() { bytes.put(UInt16(offset), at: slots + 4 + 2 * number) }
        refer(referrer, to: position)
        return references.sorted { $0.field < $1.field }.map(\.1)
    }

    mutating func vector(of count: Int, for referrer: Reference) -> [Reference] {
        pad(to: 4)
        refer(referrer, to: bytes.count)
        append(Int32(count))
        return (0..<count).map { _ in reference() }
    }

    /// Writes a vector of structs with two numbers each.
    mutating func vector(_ pairs: [(Int64, Int64)], for referrer: Reference) {
        // The elements are aligned to 8, after a count of 4 bytes.
        pad(to: 8)
        append(Int32(0))
        refer(referrer, to: bytes.count)
        append(Int32(pairs.count))
        for (first, second) in pairs {
            append(first)
            append(second)
        }
    }

    mutating func string(_ text: String, for referrer: Reference) {
        pad(to: 4)
        refer(referrer, to: bytes.count)
        append(Int32(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
        bytes.append(0)
    }

    private mutating func reference() -> Reference {
        defer { append(Int32(0)) }
        return Reference(position: bytes.count)
    }

    private mutating func refer(_ reference: Reference, to position: Int) {
        bytes.put(UInt32(position - reference.position), at: reference.position)
    }

    private mutating func pad(to size: Int) {
        while bytes.count % size != 0 { bytes.append(0) }
    }

    private mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }
}

extension [UInt8] {
    /// Replaces bytes by a number.
    package mutating func put(_ number: some FixedWidthInteger, at position: Int) {
        Swift.withUnsafeBytes(of: number.littleEndian) {
            for (index, byte) in $0.enumerated() { self[position + index] = byte }
        }
    }
}

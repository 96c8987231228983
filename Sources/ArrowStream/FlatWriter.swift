/// Writes a FlatBuffer from its root: a table first, then the objects to which it refers.
struct FlatWriter {
    struct Field {
        fileprivate let size: Int
        fileprivate var bits: Int64 = 0
        fileprivate var isReference = false

        static let none = Field(size: 0)
        /// A table, vector or text that is written later.
        static let reference = Field(size: 4, isReference: true)
        static func byte(_ value: UInt8) -> Field { Field(size: 1, bits: Int64(value)) }
        static func short(_ value: Int16) -> Field { Field(size: 2, bits: Int64(value)) }
        static func int(_ value: Int32) -> Field { Field(size: 4, bits: Int64(value)) }
        static func long(_ value: Int64) -> Field { Field(size: 8, bits: value) }
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
                if field.isReference {
                    references.append((number, reference()))
                } else {
                    withUnsafeBytes(of: field.bits.littleEndian) { bytes.append(contentsOf: $0[..<size]) }
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

/// A FlatBuffer whose contents are not trusted: every read is checked against the size.
///
/// Source of the format: FlatBuffers internals, flatbuffers.dev.
package struct FlatBuffer {
    /// Outlives this value; kept alive by the file's mapping.
    package let bytes: UnsafeRawBufferPointer

    func root() throws(ArrowFault) -> FlatTable {
        try FlatTable(self, at: Int(load(UInt32.self, at: 0)))
    }

    func load<Number: FixedWidthInteger>(_ type: Number.Type, at offset: Int) throws(ArrowFault) -> Number {
        guard offset >= 0, offset <= bytes.count - MemoryLayout<Number>.size else { throw .damaged }
        return Number(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: type))
    }

    func target(at offset: Int) throws(ArrowFault) -> Int {
        let distance = Int(try load(UInt32.self, at: offset))
        guard distance > 0, distance < bytes.count - offset else { throw .damaged }
        return offset + distance
    }
}

/// A table in a FlatBuffer: numbered fields, each of which may be absent.
package struct FlatTable {
    package let buffer: FlatBuffer
    private let position: Int
    private let slots: Int
    private let slotBytes: Int

    init(_ buffer: FlatBuffer, at position: Int) throws(ArrowFault) {
        let slots = position - Int(try buffer.load(Int32.self, at: position))
        slotBytes = Int(try buffer.load(UInt16.self, at: slots))
        guard slotBytes >= 4, slotBytes <= buffer.bytes.count - slots else { throw .damaged }
        self.buffer = buffer
        self.position = position
        self.slots = slots
    }

    /// The position of a field's value in the buffer; `nil` when the field is absent.
    package func position(of field: Int) throws(ArrowFault) -> Int? {
        let slot = 4 + 2 * field
        guard slot + 2 <= slotBytes else { return nil }
        let offset = Int(try buffer.load(UInt16.self, at: slots + slot))
        return offset == 0 ? nil : position + offset
    }

    func has(_ field: Int) throws(ArrowFault) -> Bool { try position(of: field) != nil }

    /// The number in a field; the default when the table does not have it.
    package func integer<Number: FixedWidthInteger>(_ field: Int, default value: Number) throws(ArrowFault) -> Number {
        guard let place = try position(of: field) else { return value }
        return try buffer.load(Number.self, at: place)
    }

    /// The table to which a field refers; `nil` when it has none.
    package func table(_ field: Int) throws(ArrowFault) -> FlatTable? {
        guard let place = try position(of: field) else { return nil }
        return try FlatTable(buffer, at: buffer.target(at: place))
    }

    /// A vector of elements with `stride` bytes each; empty when the field is absent.
    package func vector(_ field: Int, stride: Int) throws(ArrowFault) -> FlatVector {
        guard let place = try position(of: field) else {
            return FlatVector(buffer: buffer, start: 0, count: 0, stride: stride)
        }
        let start = try buffer.target(at: place)
        let count = Int(try buffer.load(UInt32.self, at: start))
        guard count <= (buffer.bytes.count - start - 4) / stride else { throw .damaged }
        return FlatVector(buffer: buffer, start: start + 4, count: count, stride: stride)
    }

    package func tables(_ field: Int) throws(ArrowFault) -> FlatVector { try vector(field, stride: 4) }

    /// A text; `nil` when the field is absent; throws ``ArrowFault`` when it is longer than `limit`.
    package func string(_ field: Int, limit: Int) throws(ArrowFault) -> String? {
        guard try has(field) else { return nil }
        let bytes = try vector(field, stride: 1)
        guard bytes.count <= limit else { throw .damaged }
        let text = buffer.bytes[bytes.start..<bytes.start + bytes.count]
        return String(decoding: text, as: UTF8.self)
    }
}

package struct FlatVector {
    package let buffer: FlatBuffer
    package let start: Int
    package let count: Int
    package let stride: Int

    /// A number in an element; throws ``ArrowFault`` beyond the end.
    package func integer<Number: FixedWidthInteger>(
        _ type: Number.Type, of index: Int, at offset: Int = 0
    ) throws(ArrowFault) -> Number {
        guard index >= 0, index < count else { throw .damaged }
        return try buffer.load(type, at: start + index * stride + offset)
    }

    package func table(_ index: Int) throws(ArrowFault) -> FlatTable {
        guard index >= 0, index < count else { throw .damaged }
        return try FlatTable(buffer, at: buffer.target(at: start + index * stride))
    }
}

/// A defect of an Arrow stream, worded to follow its location.
package struct ArrowFault: Error, Equatable {
    package let message: String

    /// An offset is out of bounds, or a value is impossible.
    package static let damaged = ArrowFault("its metadata makes no sense: the file is damaged")

    package init(_ message: String) {
        self.message = message
    }
}

/// Bytes that should be a FlatBuffer and may be anything.
///
/// Every read is checked against the bytes there are, so that whatever the offsets say, nothing outside is touched.
///
/// Source of the format: FlatBuffers internals, flatbuffers.dev.
struct FlatBuffer {
    /// Outlives this value; held by the file's mapping.
    let bytes: UnsafeRawBufferPointer

    /// The table that all others hang on.
    func root() throws(ArrowFault) -> FlatTable {
        try FlatTable(self, at: Int(load(UInt32.self, at: 0)))
    }

    func load<Number: FixedWidthInteger>(_ type: Number.Type, at offset: Int) throws(ArrowFault) -> Number {
        guard offset >= 0, offset <= bytes.count - MemoryLayout<Number>.size else { throw .damaged }
        return Number(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: type))
    }

    /// Where a reference points to.
    func target(at offset: Int) throws(ArrowFault) -> Int {
        let distance = Int(try load(UInt32.self, at: offset))
        guard distance > 0, distance < bytes.count - offset else { throw .damaged }
        return offset + distance
    }
}

/// A table in a FlatBuffer: fields by number, each of which may be absent.
struct FlatTable {
    let buffer: FlatBuffer
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

    /// Where a field lies; `nil` when the table does not have it.
    private func place(_ field: Int) throws(ArrowFault) -> Int? {
        let slot = 4 + 2 * field
        guard slot + 2 <= slotBytes else { return nil }
        let offset = Int(try buffer.load(UInt16.self, at: slots + slot))
        return offset == 0 ? nil : position + offset
    }

    func has(_ field: Int) throws(ArrowFault) -> Bool { try place(field) != nil }

    func integer<Number: FixedWidthInteger>(_ field: Int, default value: Number) throws(ArrowFault) -> Number {
        guard let place = try place(field) else { return value }
        return try buffer.load(Number.self, at: place)
    }

    func table(_ field: Int) throws(ArrowFault) -> FlatTable? {
        guard let place = try place(field) else { return nil }
        return try FlatTable(buffer, at: buffer.target(at: place))
    }

    /// A vector of numbers or structs.
    ///
    /// - Parameters:
    ///   - field: The field's number.
    ///   - stride: The bytes of one element.
    /// - Returns: An empty vector when the table has none.
    /// - Throws: ``ArrowFault`` when it lies outside.
    func vector(_ field: Int, stride: Int) throws(ArrowFault) -> FlatVector {
        guard let place = try place(field) else {
            return FlatVector(buffer: buffer, start: 0, count: 0, stride: stride)
        }
        let start = try buffer.target(at: place)
        let count = Int(try buffer.load(UInt32.self, at: start))
        guard count <= (buffer.bytes.count - start - 4) / stride else { throw .damaged }
        return FlatVector(buffer: buffer, start: start + 4, count: count, stride: stride)
    }

    /// A vector of tables.
    func tables(_ field: Int) throws(ArrowFault) -> FlatVector { try vector(field, stride: 4) }

    /// Reads a text.
    ///
    /// - Parameters:
    ///   - field: The field's number.
    ///   - limit: A longer one is a fault.
    /// - Returns: `nil` when the table has none.
    /// - Throws: ``ArrowFault`` when it lies outside, or is too long.
    func string(_ field: Int, limit: Int) throws(ArrowFault) -> String? {
        guard try has(field) else { return nil }
        let bytes = try vector(field, stride: 1)
        guard bytes.count <= limit else { throw .damaged }
        let text = buffer.bytes[bytes.start..<bytes.start + bytes.count]
        return String(decoding: text, as: UTF8.self)
    }
}

/// Elements of one size that lie one behind the other.
struct FlatVector {
    let buffer: FlatBuffer
    let start: Int
    let count: Int
    let stride: Int

    /// A number in an element; it is a fault when there is no such element.
    func integer<Number: FixedWidthInteger>(
        _ type: Number.Type, of index: Int, at offset: Int = 0
    ) throws(ArrowFault) -> Number {
        guard index >= 0, index < count else { throw .damaged }
        return try buffer.load(type, at: start + index * stride + offset)
    }

    /// The table that an element refers to.
    func table(_ index: Int) throws(ArrowFault) -> FlatTable {
        guard index >= 0, index < count else { throw .damaged }
        return try FlatTable(buffer, at: buffer.target(at: start + index * stride))
    }
}

/// What is wrong with an Arrow stream, in words that follow on the place.
struct ArrowFault: Error, Equatable {
    let message: String

    /// An offset leads out of the bytes, or something stands where it cannot.
    static let damaged = ArrowFault("its metadata makes no sense: the file is damaged")

    init(_ message: String) {
        self.message = message
    }
}
